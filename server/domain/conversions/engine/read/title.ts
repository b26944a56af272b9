/** FindTitle returns the words of the first heading, for outputs that have a place for a title. */
import type { Root } from "mdast";
import type { ConversionCaps } from "../caps.ts";
import { toText } from "../phrasing.ts";
import { replaceRawHtml } from "./rawHtml.ts";

export async function findTitle(tree: Root, caps: Pick<ConversionCaps, "nodes" | "depth">): Promise<string> {
  const heading = tree.children.find(({ type }) => type === "heading");
  if (heading === undefined) return "Document";
  const { tree: plain } = await replaceRawHtml({ type: "root", children: [heading] }, caps);
  const title = toText(plain).replace(/\s+/gu, " ").trim();
  return title === "" ? "Document" : title.slice(0, 200);
}
