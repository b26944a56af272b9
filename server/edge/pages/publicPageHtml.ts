/**
 * PublicPageHtml writes the HTML document of a public article, and of the pages for missing or unpublished articles.
 *
 * All text that it inserts is escaped. The only markup it accepts is the sanitised HTML from the page renderer.
 */
import { createHash } from "node:crypto";
import type { PublishedPage } from "../../domain/publishing/service.ts";
import { escapeHtml, type RenderedText } from "./pageRenderer.ts";
import { publicPageStyle } from "./publicPageStyle.ts";

const styleHash = createHash("sha256").update(publicPageStyle).digest("hex").slice(0, 16);
export const stylePath = `/assets/page-${styleHash}.css` as const;

/** Part of the entity tag. The number must be increased when this file changes the HTML; the hash covers the style. */
const layoutVersion = `2-${styleHash}`;

/** Allows no script, only style files of this server, and pictures from any host over https. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src https:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const dateFormat = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });

/** Writes the document. Its addresses are relative, so that pages also work behind a proxy that adds a path prefix. */
function toDocument(title: string, head: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
${head}<link rel="stylesheet" href="..${stylePath}">
</head>
<body>
${body}
</body>
</html>
`;
}

/** Returns the entity tag: a hash of all inputs of the page and nothing else, so that equal tags mean equal pages. */
export function toPageTag({ contentHash, revision, title, mode, indexable, updatedAtMs, slug }: PublishedPage): string {
  const parts = JSON.stringify([layoutVersion, contentHash, revision, title, mode, indexable, updatedAtMs, slug]);
  return createHash("sha256").update(parts).digest("base64url").slice(0, 27);
}

export function toPageHtml(page: PublishedPage, { html, heading, lang = "" }: RenderedText): string {
  const { title, slug, indexable, mode, updatedAtMs } = page;
  const updated = new Date(updatedAtMs);
  const head = [
    indexable ? "" : '<meta name="robots" content="noindex">\n',
    `<meta property="og:type" content="article">\n<meta property="og:title" content="${escapeHtml(title)}">\n`,
    `<link rel="alternate" type="text/markdown" href="${slug}.md">\n<link rel="alternate" type="application/json" href="${slug}.json">\n`,
  ].join("");
  // Many texts begin with their title as a heading; do not show it twice.
  const ownHeading = heading === title ? "" : `<h1 dir="auto">${escapeHtml(title)}</h1>\n`;
  const body = html.trim() === "" ? '<p class="empty" lang="en">Nothing is written here yet.</p>' : html;
  const date = `<time datetime="${updated.toISOString()}">${dateFormat.format(updated)}</time>`;
  const state = mode === "live" ? `Live, last changed on ${date}` : `As it was on ${date}`;
  return toDocument(
    title,
    head,
    `<main lang="${lang}">
${ownHeading}${body}
</main>
<footer><p>${state} · <a href="${slug}.md">Markdown</a></p></footer>`,
  );
}

const errorPages = {
  unpublished: { title: "No longer public", text: "This page was taken down by its authors." },
  unknown: { title: "Nothing here", text: "There is no public page at this address." },
};

export function toErrorPageHtml(kind: keyof typeof errorPages): string {
  const { title, text } = errorPages[kind];
  return toDocument(title, '<meta name="robots" content="noindex">\n', `<main>\n<h1>${title}</h1>\n<p>${text}</p>\n</main>`);
}
