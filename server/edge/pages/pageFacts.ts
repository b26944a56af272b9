/**
 * PageFacts reads from the laid-out text of a public page what its head and its table of contents need: description,
 * language, direction, first picture and headings.
 *
 * The front matter may name `lang` and `description`. All values are text that the page must escape.
 */
import type { Element, Root } from "hast";
import { findLanguage, readFrontMatter, sampleCharacters } from "../../domain/call/textLanguage.ts";
import { eachElement, footnoteLabelId, textOf } from "./pageTree.ts";

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

const maxDescriptionCharacters = 200;
const maxHeadings = 200;
const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

/** Returns the text on one line, cut at a word if it is long. */
function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  if (line.length <= maxDescriptionCharacters) return line;
  const start = line.slice(0, maxDescriptionCharacters);
  const lastSpace = start.lastIndexOf(" ");
  // Texts without spaces are cut at a character. Half of a surrogate pair must not remain.
  return `${(lastSpace > maxDescriptionCharacters / 2 ? start.slice(0, lastSpace) : start).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** Text that people read as prose: the marks of footnotes and the backlinks are left out. */
function proseOf(element: Element): string {
  return element.children
    .map((child) => (child.type === "element" ? (child.properties.dataFootnoteRef === undefined ? proseOf(child) : "") : textOf(child)))
    .join("");
}

/** Returns the picture if its address is absolute. Programs that preview a page do not resolve other addresses. */
function toPicture({ src, alt }: Element["properties"]): PageFacts["picture"] {
  if (typeof src !== "string" || !URL.canParse(src)) return undefined;
  const { href, protocol } = new URL(src);
  return protocol === "https:" ? { url: href, alt: String(alt ?? "") } : undefined;
}

export function describePage(tree: Root, frontMatter: string): PageFacts {
  const headings: PageHeading[] = [];
  let picture: PageFacts["picture"];
  let opening: string | undefined;
  eachElement(tree, (element) => {
    const { tagName, properties } = element;
    const level = /^h([1-3])$/.exec(tagName)?.[1];
    const isLabel = properties.id === footnoteLabelId;
    if (level !== undefined && typeof properties.id === "string" && !isLabel && headings.length < maxHeadings) {
      headings.push({ level: Number(level), id: properties.id, text: textOf(element).trim() });
    }
    if (tagName === "img") picture ??= toPicture(properties);
  });
  for (const child of tree.children) {
    if (child.type !== "element" || child.tagName !== "p") continue;
    const text = proseOf(child).trim();
    if (text !== "") opening ??= text;
  }
  const sample = textOf(tree).slice(0, sampleCharacters);
  const fields = readFrontMatter(frontMatter);
  const lang = findLanguage(fields, sample);
  const description = typeof fields.description === "string" && fields.description.trim() !== "" ? fields.description : opening;
  return {
    dir: rightToLeft.test(/\p{L}/u.exec(sample)?.[0] ?? "") ? "rtl" : "ltr",
    headings,
    ...(lang === undefined ? {} : { lang }),
    ...(description === undefined ? {} : { description: shorten(description) }),
    ...(picture === undefined ? {} : { picture }),
  };
}
