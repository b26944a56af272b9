/** Reads plain text: paragraphs are separated by empty lines, and nothing in them is markup. */
import type { Paragraph } from "mdast";
import type { ParsedDocument } from "../document.ts";
import { decodeUtf8 } from "./utf8.ts";

type Point = NonNullable<Paragraph["position"]>["start"];

export async function readTxt(bytes: Uint8Array): Promise<ParsedDocument> {
  const paragraphs: Paragraph[] = [];
  let lines: string[] = [];
  let first: Point = { line: 1, column: 1, offset: 0 };
  let offset = 0;
  const close = () => {
    if (lines.length > 0) paragraphs.push(toParagraph(lines, first));
    lines = [];
  };
  for (const [at, line] of decodeUtf8(bytes).split("\n").entries()) {
    if (line.trim() === "") close();
    else {
      if (lines.length === 0) first = { line: at + 1, column: 1, offset };
      lines.push(line.trim());
    }
    offset += line.length + 1;
  }
  close();
  return { tree: { type: "root", children: paragraphs }, losses: [] };
}

function toParagraph(lines: readonly string[], start: Point): Paragraph {
  const value = lines.join("\n");
  const end = { line: start.line + lines.length - 1, column: (lines.at(-1) ?? "").length + 1, offset: (start.offset ?? 0) + value.length };
  return { type: "paragraph", position: { start, end }, children: [{ type: "text", value, position: { start, end } }] };
}
