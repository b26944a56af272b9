/**
 * Finds content that a published article must not have, by rules.
 *
 * An `error` blocks publishing if the publish gate is set to block; a `warning` is only shown. The rules run in a
 * worker thread.
 */

import { countWords } from "../../call/countWords.ts";
import { composerNote } from "./composer.ts";
import { type ArticleStructure, readStructure } from "./readStructure.ts";

export interface ValidationFinding {
  readonly code: string;
  readonly severity: "error" | "warning";
  readonly message: string;
  /** From 1. */
  readonly line?: number;
}

export interface ValidationReport {
  readonly status: "pass" | "warning" | "fail";
  readonly wordCount: number;
  readonly findings: readonly ValidationFinding[];
}

export interface Expectations {
  readonly wordCountRange?: { readonly min: number; readonly max: number } | undefined;
  readonly mustInclude?: readonly string[] | undefined;
}

/** Placeholders that writers and templates leave in a text. */
const placeholder = /\b(?:TODO|TBD|TKTK|FIXME|XXX|lorem ipsum)\b|\{\{[^}\n]{1,80}\}\}|\[(?:insert|placeholder|your)\b[^\]\n]{0,80}\]/i;
const toWrite = /^To write: /;
const conflict = /^(?:<{7} |={7}$|>{7} )/m;

function finding(severity: ValidationFinding["severity"], code: string, message: string, line?: number): ValidationFinding {
  return { code, severity, message, ...(line === undefined ? {} : { line }) };
}

function checkHeadings({ headings }: ArticleStructure): readonly ValidationFinding[] {
  const tops = headings.filter(({ depth }) => depth === 1);
  const seen = new Map<string, number>();
  return [
    ...(headings.length === 0 ? [finding("warning", "no_headings", "The article has no heading.")] : []),
    ...tops.slice(1).map(({ text, line }) => finding("warning", "second_title", `“${text}” is another first-level heading.`, line)),
    ...headings.filter(({ text }) => text === "").map(({ line }) => finding("error", "empty_heading", "A heading has no text.", line)),
    ...headings
      .filter(({ depth }, index) => index > 0 && depth > (headings[index - 1]?.depth ?? depth) + 1)
      .map(({ text, line }) => finding("warning", "heading_level_skipped", `“${text}” skips a level.`, line)),
    ...headings.flatMap(({ text, line }) => {
      const before = seen.get(text.toLowerCase());
      seen.set(text.toLowerCase(), line);
      if (before === undefined || text === "") return [];
      return [finding("warning", "repeated_heading", `“${text}” is also the heading at line ${before}.`, line)];
    }),
  ];
}

function checkLinks({ links, images }: ArticleStructure): readonly ValidationFinding[] {
  return [
    ...links.flatMap(({ url, text, line }) => {
      if (url.trim() === "" || url === "#") return [finding("error", "empty_link", `“${text}” links to nothing.`, line)];
      if (/^\s*(?:javascript|data|vbscript|file):/i.test(url))
        return [finding("error", "unsafe_link", `“${text}” links to ${url.slice(0, 40)}.`, line)];
      if (/^https?:\/\/(?:example\.(?:com|org|net)|localhost|127\.)/i.test(url))
        return [finding("warning", "example_link", `“${text}” links to ${url.slice(0, 80)}.`, line)];
      return text.trim() === "" ? [finding("warning", "link_without_text", `A link to ${url.slice(0, 80)} has no text.`, line)] : [];
    }),
    ...images.flatMap(({ url, alt, line }) => [
      ...(alt.trim() === "" ? [finding("warning", "picture_without_text", "An image has no alternative text.", line)] : []),
      ...(/^https:\/\//i.test(url)
        ? []
        : [finding("warning", "picture_not_https", "An image is not loaded over https, so browsers will not show it.", line)]),
    ]),
  ];
}

function checkText({ passages }: ArticleStructure, markdown: string): readonly ValidationFinding[] {
  return [
    ...passages.flatMap(({ text, line }) => {
      const left = text.match(placeholder)?.[0];
      if (left !== undefined) return [finding("error", "placeholder", `“${left}” marks text that is not written yet.`, line)];
      return toWrite.test(text) ? [finding("error", "placeholder", "A passage is not written yet.", line)] : [];
    }),
    ...(markdown.includes(composerNote) ? [finding("error", "composed_frame", "The text still says that it was composed by rules.")] : []),
    ...(conflict.test(markdown) ? [finding("error", "merge_marker", "The text contains the markers of a merge conflict.")] : []),
  ];
}

export function validateArticle(markdown: string, structure: ArticleStructure, expected: Expectations): ValidationReport {
  const wordCount = countWords(structure.passages.map(({ text }) => text).join("\n"));
  const { wordCountRange, mustInclude = [] } = expected;
  const lower = markdown.toLowerCase();
  const findings = [
    ...(wordCount === 0 ? [finding("error", "no_text", "The article has no text.")] : []),
    ...checkHeadings(structure),
    ...checkLinks(structure),
    ...checkText(structure, markdown),
    ...(wordCountRange === undefined || (wordCount >= wordCountRange.min && wordCount <= wordCountRange.max)
      ? []
      : [
          finding("warning", "word_count", `The text has ${wordCount} words; ${wordCountRange.min} to ${wordCountRange.max} are required.`),
        ]),
    ...mustInclude
      .filter((item) => !lower.includes(item.toLowerCase()))
      .map((item) => finding("warning", "must_include_missing", `“${item}” must be included, but the text does not contain it.`)),
  ].slice(0, 200);
  const status = findings.some(({ severity }) => severity === "error") ? "fail" : findings.length > 0 ? "warning" : "pass";
  return { status, wordCount, findings };
}

export interface ArticleToValidate {
  readonly markdown: string;
  readonly expected: Expectations;
}

/** Validates the article. This is the slow part of the step and runs in a worker thread. */
export function validateMarkdown({ markdown, expected }: ArticleToValidate): ValidationReport {
  return validateArticle(markdown, readStructure(markdown), expected);
}
