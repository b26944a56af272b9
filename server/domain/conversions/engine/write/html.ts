/**
 * Writes a whole HTML document. Raw HTML of the source is parsed and sanitised with the list that readers use, so the
 * output has no script, no style and no embedded object. MathML is added afterwards.
 */
import type { Element, ElementContent, Root as HtmlRoot } from "hast";
import type { Root } from "mdast";
import rehypeRaw from "rehype-raw";
import rehypeSanitize from "rehype-sanitize";
import rehypeStringify from "rehype-stringify";
import remarkRehype from "remark-rehype";
import { unified } from "unified";
import { formulaWriters } from "../../../call/formulaMathMl.ts";
import { findHeadingWords } from "../../../call/headingWords.ts";
import { findLanguage, readFrontMatter, sampleCharacters } from "../../../call/textLanguage.ts";
import type { WrittenDocument } from "../document.ts";
import { writeFormulas } from "../htmlFormulas.ts";
import { htmlSchema } from "../htmlSchema.ts";
import { toText } from "../phrasing.ts";
import { dropUnclosedTags } from "../read/unclosedTags.ts";

const rawParser = unified().use(rehypeRaw);
const sanitizer = unified().use(rehypeSanitize, htmlSchema);
const stringifier = unified().use(rehypeStringify);

export async function writeHtml(tree: Root, title: string): Promise<WrittenDocument> {
  const language = languageOf(tree);
  const content = await toSafeHtml(tree, findHeadingWords(language)?.footnotes ?? "*");
  const losses = writeFormulas(content);
  const head = element("head", [
    element("meta", [], { charSet: "utf-8" }),
    element("meta", [], { name: "viewport", content: "width=device-width, initial-scale=1" }),
    element("title", [{ type: "text", value: title }]),
  ]);
  const body = element("body", content.children as ElementContent[], { dir: "auto" });
  const root = element("html", [head, body], language === undefined ? {} : { lang: language });
  const html = stringifier.stringify({ type: "root", children: [{ type: "doctype" }, root] });
  return { bytes: Buffer.from(`${html}\n`, "utf8"), losses };
}

/** The parser of raw HTML writes and parses the whole tree, so it runs only if there is raw HTML. */
async function toSafeHtml(tree: Root, footnoteLabel: string): Promise<HtmlRoot> {
  const writer = unified().use(remarkRehype, { allowDangerousHtml: true, footnoteLabel, handlers: formulaWriters });
  const html = await writer.run(dropUnclosedTags(tree).tree);
  return sanitizer.run(hasRaw(html) ? await rawParser.run(html) : html);
}

function hasRaw(node: HtmlRoot | HtmlRoot["children"][number]): boolean {
  return node.type === "raw" || ("children" in node && node.children.some(hasRaw));
}

function languageOf({ children }: Root): string | undefined {
  const [first] = children;
  let sample = "";
  for (const node of children) if (node.type !== "yaml" && sample.length < sampleCharacters) sample += `${toText(node)}\n`;
  return findLanguage(first?.type === "yaml" ? readFrontMatter(first.value) : {}, sample.slice(0, sampleCharacters));
}

function element(tagName: string, children: ElementContent[], properties: Element["properties"] = {}): Element {
  return { type: "element", tagName, properties, children };
}
