/**
 * PublicPageHead writes what search engines, chat programs and feed readers read of a public page: description, canonical
 * address, Open Graph and JSON-LD. Its addresses are absolute, because those readers need that.
 */
import type { PublishedPage } from "../../domain/publishing/service.ts";
import { escapeHtml } from "./escapeHtml.ts";
import { cardHeight, cardPath, cardWidth } from "./pageCardLayout.ts";
import type { RenderedText } from "./pageRenderer.ts";

/** Writes JSON that cannot end its script element: `<` is the only character with which `</script` or `<!--` begin. */
function toJsonLd(value: object): string {
  return `<script type="application/ld+json">${JSON.stringify(value).replaceAll("<", "\\u003c")}</script>\n`;
}

const toMeta = (attribute: "name" | "property", name: string, content: string) =>
  `<meta ${attribute}="${name}" content="${escapeHtml(content)}">\n`;

/** `baseUrl` never ends with a slash. */
export function toPublicHead(page: PublishedPage, text: RenderedText, baseUrl: string): string {
  const { title, slug, indexable, updatedAtMs } = page;
  const { description, picture, lang } = text;
  const url = `${baseUrl}/p/${slug}`;
  const updatedAt = new Date(updatedAtMs).toISOString();
  const image = picture?.url ?? `${baseUrl}${cardPath(slug)}`;
  const article = {
    "@context": "https://schema.org",
    "@type": "Article",
    headline: title,
    ...(description === undefined ? {} : { description }),
    ...(lang === undefined ? {} : { inLanguage: lang }),
    image: [image],
    dateModified: updatedAt,
    mainEntityOfPage: url,
  };
  return [
    indexable ? "" : '<meta name="robots" content="noindex">\n',
    description === undefined ? "" : toMeta("name", "description", description),
    `<link rel="canonical" href="${escapeHtml(url)}">\n`,
    toMeta("property", "og:type", "article"),
    toMeta("property", "og:title", title),
    description === undefined ? "" : toMeta("property", "og:description", description),
    toMeta("property", "og:url", url),
    toMeta("property", "og:image", image),
    picture === undefined
      ? toMeta("property", "og:image:width", String(cardWidth)) + toMeta("property", "og:image:height", String(cardHeight))
      : "",
    toMeta("property", "og:image:alt", picture === undefined ? title : picture.alt),
    toMeta("property", "article:modified_time", updatedAt),
    toMeta("name", "twitter:card", "summary_large_image"),
    `<link rel="alternate" type="text/markdown" href="${slug}.md">\n<link rel="alternate" type="application/json" href="${slug}.json">\n`,
    toJsonLd(article),
  ].join("");
}
