/**
 * PageFacts reads from the laid-out text of a public page what its head and its table of contents need: description,
 * language, direction, first picture and headings.
 *
 * The front matter may name `lang` and `description`. All values are text that the page must escape.
 */
import type { Element, Root } from "hast";
import { parse } from "yaml";
import { eachElement, textOf } from "./pageTree.ts";

export interface PageHeading {
  /** 1 to 3. */
  readonly level: number;
  readonly id: string;
  readonly text: string;
}

export interface PageFacts {
  /** Language tag (BCP 47) from the front matter, or of the script if only one language uses it. */
  readonly lang?: string;
  /** Direction of the first words. */
  readonly dir: "ltr" | "rtl";
  /** From the front matter, otherwise the beginning of the first paragraph. */
  readonly description?: string;
  /** First picture. Its address uses https. */
  readonly picture?: { readonly url: string; readonly alt: string };
  readonly headings: readonly PageHeading[];
}

const maxFrontMatterCharacters = 16 * 1024;
const maxDescriptionCharacters = 200;
const maxHeadings = 200;
/** Enough text to recognise its script. */
const sampleCharacters = 4000;

/** Returns whether the tag has the form of BCP 47, so that any browser and runtime accepts it. */
function isLanguageTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1 && tag.length <= 35;
  } catch {
    return false;
  }
}
const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

function readFrontMatter(yaml: string): Pick<PageFacts, "lang" | "description"> {
  if (yaml.length > maxFrontMatterCharacters) return {};
  let fields: unknown;
  try {
    fields = parse(yaml, { maxAliasCount: 10, logLevel: "silent" });
  } catch {
    return {};
  }
  if (typeof fields !== "object" || fields === null) return {};
  const { lang, description } = fields as Record<string, unknown>;
  return {
    ...(typeof lang === "string" && isLanguageTag(lang) ? { lang } : {}),
    ...(typeof description === "string" && description.trim() !== "" ? { description: shorten(description) } : {}),
  };
}

/** Returns the text on one line, cut at a word if it is long. */
function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  if (line.length <= maxDescriptionCharacters) return line;
  const start = line.slice(0, maxDescriptionCharacters);
  const lastSpace = start.lastIndexOf(" ");
  // Texts without spaces are cut at a character. Half of a surrogate pair must not remain.
  return `${(lastSpace > maxDescriptionCharacters / 2 ? start.slice(0, lastSpace) : start).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/**
 * Chinese, Japanese and Korean share characters whose shapes differ, so a browser needs the language to choose the font.
 * Other scripts with several languages are not guessed.
 */
function guessLanguage(text: string): string | undefined {
  const count = (script: RegExp) => text.match(script)?.length ?? 0;
  const letters = count(/\p{L}/gu);
  const kana = count(/[\p{Script=Hiragana}\p{Script=Katakana}]/gu);
  const hangul = count(/\p{Script=Hangul}/gu);
  const han = count(/\p{Script=Han}/gu);
  if (hangul > letters / 2) return "ko";
  if (kana > letters / 10 && kana + han > letters / 2) return "ja";
  return han > letters / 2 ? "zh" : undefined;
}

/** Text that people read as prose: the marks of footnotes and the backlinks are left out. */
function proseOf(element: Element): string {
  return element.children
    .map((child) => (child.type === "element" ? (child.properties.dataFootnoteRef === undefined ? proseOf(child) : "") : textOf(child)))
    .join("");
}

export function describePage(tree: Root, frontMatter: string): PageFacts {
  const headings: PageHeading[] = [];
  let picture: PageFacts["picture"];
  let opening: string | undefined;
  eachElement(tree, (element) => {
    const { tagName, properties } = element;
    const level = /^h([1-3])$/.exec(tagName)?.[1];
    const isLabel = properties.id === "footnote-label";
    if (level !== undefined && typeof properties.id === "string" && !isLabel && headings.length < maxHeadings) {
      headings.push({ level: Number(level), id: properties.id, text: textOf(element).trim() });
    }
    if (tagName === "img" && typeof properties.src === "string") picture ??= { url: properties.src, alt: String(properties.alt ?? "") };
  });
  for (const child of tree.children) {
    if (child.type !== "element" || child.tagName !== "p") continue;
    const text = proseOf(child).trim();
    if (text !== "") opening ??= text;
  }
  const sample = textOf(tree).slice(0, sampleCharacters);
  const guessed = guessLanguage(sample);
  return {
    dir: rightToLeft.test(/\p{L}/u.exec(sample)?.[0] ?? "") ? "rtl" : "ltr",
    headings,
    ...(guessed === undefined ? {} : { lang: guessed }),
    ...(opening === undefined ? {} : { description: shorten(opening) }),
    ...(picture === undefined ? {} : { picture }),
    ...readFrontMatter(frontMatter),
  };
}

/** Removes the first-level heading with which the text begins, and returns it. */
export function takeHeading(tree: Root): { readonly text: string; readonly element: Element } | undefined {
  const at = tree.children.findIndex((node) => node.type !== "text" || node.value.trim() !== "");
  const element = tree.children[at];
  if (element?.type !== "element" || element.tagName !== "h1") return undefined;
  tree.children.splice(at, 1);
  return { text: textOf(element).trim(), element };
}
