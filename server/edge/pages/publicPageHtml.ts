/**
 * PublicPageHtml writes the HTML document of a public article, and of the pages for missing or unpublished articles.
 *
 * All text that it inserts is escaped. The only markup it accepts is the sanitised HTML from the page renderer. Addresses
 * of the page's own parts are relative, so that pages also work behind a proxy that adds a path prefix.
 */
import { createHash } from "node:crypto";
import { findHeadingWords } from "../../domain/call/headingWords.ts";
import type { PublishedPage } from "../../domain/publishing/service.ts";
import { escapeHtml } from "./escapeHtml.ts";
import { createPageAsset } from "./pageAsset.ts";
import type { PageHeading } from "./pageFacts.ts";
import type { RenderedText } from "./pageRenderer.ts";
import { findPageWords, type PageWords } from "./pageWords.ts";
import { toPublicHead } from "./publicPageHead.ts";
import { publicPageScript } from "./publicPageScript.ts";
import { publicPageStyle } from "./publicPageStyle.ts";

const style = createPageAsset("page", "css", publicPageStyle);
const script = createPageAsset("live", "js", publicPageScript);
export const pageAssetRoutes = [style.route, script.route];

/**
 * Part of the entity tag. The number must be increased when the HTML of a page changes, in this file or by the renderer; a
 * test compares it with the HTML of a sample. The hashes cover the style and the script.
 */
export const layoutNumber = 7;
const layoutVersion = `${layoutNumber}-${style.path}-${script.path}`;

/** Headings from which a table of contents is useful. */
const minContents = 3;

/**
 * Allows only style files of this server, and pictures from any host over https. A Live page may also run the one script
 * with this hash, which may connect to this server only.
 */
export function toContentSecurityPolicy(isLive: boolean): string {
  return [
    "default-src 'none'",
    "style-src 'self'",
    "img-src https:",
    ...(isLive ? [`script-src '${script.integrity}'`, "connect-src 'self'"] : []),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

interface PageDocument {
  readonly title: string;
  readonly head: string;
  readonly body: string;
  readonly lang?: string;
  readonly dir?: "ltr" | "rtl";
}

function toDocument({ title, head, body, lang = "en", dir = "ltr" }: PageDocument): string {
  return `<!doctype html>
<html lang="${lang}"${dir === "rtl" ? ' dir="rtl"' : ""}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
${head}<link rel="stylesheet" href="..${style.path}">
</head>
<body>
${body}
</body>
</html>
`;
}

/** Returns the entity tag: a hash of all inputs of the page and nothing else, so that equal tags mean equal pages. */
export function toPageTag(page: PublishedPage, baseUrl: string): string {
  const { contentHash, revision, title, mode, indexable, updatedAtMs, slug } = page;
  const parts = JSON.stringify([layoutVersion, baseUrl, contentHash, revision, title, mode, indexable, updatedAtMs, slug]);
  return createHash("sha256").update(parts).digest("base64url").slice(0, 27);
}

/** Writes the date in the language of the page, if this runtime knows it, otherwise in English. */
function toDate(updatedAtMs: number, language: string): string {
  const [lang = "en-GB"] = Intl.DateTimeFormat.supportedLocalesOf(["", "en"].includes(language) ? "en-GB" : language);
  const date = new Date(updatedAtMs);
  const words = new Intl.DateTimeFormat(lang, { dateStyle: "long", timeZone: "UTC" }).format(date);
  return `<time datetime="${date.toISOString()}" lang="${lang}" dir="auto">${words}</time>`;
}

/**
 * Writes nested lists, deeper by one for each higher level. A heading that skips levels is one deeper only. The list
 * has the heading "Contents" in the language of the page. If the language is not known, the heading is a sign, and the accessible
 * name of the list is the title of the page.
 */
function toContents(headings: readonly PageHeading[], { title }: PublishedPage, language: string): string {
  if (headings.length < minContents) return "";
  const open: number[] = [];
  const parts: string[] = [];
  for (const { level, id, text } of headings) {
    while (open.length > 1 && (open.at(-1) ?? 0) > level && (open.at(-2) ?? 0) >= level) {
      open.pop();
      parts.push("</li></ol>");
    }
    if (open.length === 0 || level > (open.at(-1) ?? 0)) {
      open.push(level);
      parts.push("<ol>");
    } else {
      open[open.length - 1] = level;
      parts.push("</li>");
    }
    parts.push(`<li><a href="#${escapeHtml(id)}" dir="auto">${escapeHtml(text)}</a>`);
  }
  parts.push(open.map(() => "</li></ol>").join(""));
  const word = findHeadingWords(language)?.contents;
  const label = word === undefined ? ` aria-label="${escapeHtml(title)}"` : "";
  const shown = word ?? "☰";
  return `<nav class="contents" aria-labelledby="contents"><details data-heading="${shown}"><summary id="contents"${label}>${shown}</summary>${parts.join("")}</details></nav>\n`;
}

/** The element into which the script of a Live page writes `updated` or `removed` for a moment. */
function toNotice({ lang, updated, removed }: PageWords): string {
  return `<p class="notice" id="notice" role="status" lang="${lang}" dir="auto" data-updated="${updated}" data-removed="${removed}"></p>`;
}

export function toPageHtml(page: PublishedPage, text: RenderedText, baseUrl: string): string {
  const { title, slug, mode, updatedAtMs } = page;
  const { html, headings, lang = "", dir } = text;
  const isLive = mode === "live";
  const words = findPageWords(lang);
  const heading = text.heading ?? `<h1 dir="auto">${escapeHtml(title)}</h1>`;
  const content = html.trim() === "" ? `<p class="empty" lang="${words.lang}">${words.empty}</p>` : html;
  const date = toDate(updatedAtMs, lang);
  const contents = toContents(headings, page, lang);
  const skip = contents === "" ? "" : `<a class="skip" href="#text" lang="${words.lang}">${words.skip}</a>\n`;
  const state = isLive
    ? `<span class="live">${words.live}</span> · ${words.changed.replace("{date}", date)}`
    : words.frozen.replace("{date}", date);
  const twins = `<a href="${slug}.md">Markdown</a> · <a href="${slug}.json">JSON</a>`;
  return toDocument({
    title,
    ...(lang === "" ? {} : { lang }),
    dir,
    head:
      toPublicHead(page, text, baseUrl) +
      (isLive ? `<script src="..${script.path}" integrity="${script.integrity}" data-events="${slug}/events" defer></script>\n` : ""),
    body: `${skip}<main lang="${lang}">
<header>${heading}
<p class="date">${date}</p></header>
${contents}<div class="text" id="text">
${content}
</div>
</main>
<footer lang="${words.lang}"><p><bdi>${state}</bdi> · <bdi>${twins}</bdi></p></footer>${isLive ? `\n${toNotice(words)}` : ""}`,
  });
}

const errorPages = {
  unpublished: { title: "No longer public", text: "This page was taken down by its authors." },
  unknown: { title: "Nothing here", text: "There is no public page at this address." },
};

export function toErrorPageHtml(kind: keyof typeof errorPages): string {
  const { title, text } = errorPages[kind];
  return toDocument({
    title,
    head: '<meta name="robots" content="noindex">\n',
    body: `<main lang="en" class="absent">\n<header><h1>${title}</h1></header>\n<div class="text" id="text"><p>${text}</p></div>\n</main>`,
  });
}
