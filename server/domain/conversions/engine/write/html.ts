/**
 * Writes a whole HTML document. Raw HTML of the source is parsed and sanitised with the list that readers use, so the
 * output has no script, no style and no embedded object.
 */
import type { Element, ElementContent } from "hast";
import type { Root } from "mdast";
import rehypeRaw from "rehype-raw";
import rehypeSanitize from "rehype-sanitize";
import rehypeStringify from "rehype-stringify";
import remarkRehype from "remark-rehype";
import { unified } from "unified";
import type { WrittenDocument } from "../document.ts";
import { htmlSchema } from "../htmlSchema.ts";

const toHtmlTree = unified().use(remarkRehype, { allowDangerousHtml: true }).use(rehypeRaw).use(rehypeSanitize, htmlSchema);
const stringifier = unified().use(rehypeStringify);

export async function writeHtml(tree: Root, title: string): Promise<WrittenDocument> {
  const { children } = await toHtmlTree.run(tree);
  const head = element("head", [
    element("meta", [], { charSet: "utf-8" }),
    element("meta", [], { name: "viewport", content: "width=device-width, initial-scale=1" }),
    element("title", [{ type: "text", value: title }]),
  ]);
  const body = element("body", children as ElementContent[], { dir: "auto" });
  const html = stringifier.stringify({ type: "root", children: [{ type: "doctype" }, element("html", [head, body])] });
  return { bytes: Buffer.from(`${html}\n`, "utf8"), losses: [] };
}

function element(tagName: string, children: ElementContent[], properties: Element["properties"] = {}): Element {
  return { type: "element", tagName, properties, children };
}
