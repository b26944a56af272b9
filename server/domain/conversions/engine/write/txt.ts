/** Writes plain text: the words of a document in their order, with markers of lists and the addresses of links. */
import type { Blockquote, Nodes, PhrasingContent, Root, RootContent } from "mdast";
import type { WrittenDocument } from "../document.ts";
import { type Definitions, findDefinitions, type Piece, toPieces } from "../phrasing.ts";

export async function writeTxt(tree: Root): Promise<WrittenDocument> {
  const definitions = findDefinitions(tree);
  const text = writeBlocks(tree.children, definitions);
  return { bytes: Buffer.from(text === "" ? "" : `${text}\n`, "utf8"), losses: [] };
}

function writeBlocks(blocks: readonly (RootContent | Blockquote["children"][number])[], definitions: Definitions): string {
  return blocks
    .map((block) => writeBlock(block, definitions))
    .filter((text) => text !== "")
    .join("\n\n");
}

function writeBlock(node: Nodes, definitions: Definitions): string {
  switch (node.type) {
    case "heading":
    case "paragraph":
    case "tableCell":
      return writePhrasing(node.children, definitions);
    case "code":
    case "math":
      return node.value;
    case "thematicBreak":
      return "* * *";
    case "blockquote":
      return indent(writeBlocks(node.children, definitions), "> ", "> ");
    case "list": {
      const first = node.start ?? 1;
      const items = node.children.map((item, at) => {
        const marker = node.ordered === true ? `${first + at}. ` : "- ";
        const box = typeof item.checked === "boolean" ? (item.checked ? "[x] " : "[ ] ") : "";
        return indent(box + writeBlocks(item.children, definitions), marker, " ".repeat(marker.length));
      });
      return items.join(node.spread === true ? "\n\n" : "\n");
    }
    case "table":
      return node.children
        .map((row) => row.children.map((cell) => writeBlock(cell, definitions).replaceAll("\n", " ")).join("\t"))
        .join("\n");
    case "footnoteDefinition":
      return indent(writeBlocks(node.children, definitions), `[${node.label ?? node.identifier}] `, "    ");
    default:
      return "";
  }
}

function indent(text: string, first: string, others: string): string {
  return text
    .split("\n")
    .map((line, at) => `${at === 0 ? first : others}${line}`.trimEnd())
    .join("\n");
}

function writePhrasing(nodes: readonly PhrasingContent[], definitions: Definitions): string {
  const pieces = toPieces(nodes, definitions);
  return pieces.map((piece, at) => writePiece(piece) + writeAddress(piece, pieces[at + 1])).join("");
}

function writePiece(piece: Piece): string {
  switch (piece.kind) {
    case "text":
    case "code":
      return piece.value;
    case "formula":
      return `$${piece.value}$`;
    case "html":
      return "";
    case "break":
      return "\n";
    case "image":
      return piece.alt;
    case "footnote":
      return `[${piece.id}]`;
  }
}

/** The address of a link follows its last piece, unless the text is the address. */
function writeAddress(piece: Piece, next: Piece | undefined): string {
  const { link } = piece;
  if (link === undefined || next?.link?.url === link.url || link.url.startsWith("#")) return "";
  const isShown =
    piece.kind === "text" &&
    link.url
      .replace(/^mailto:|^https?:\/\//, "")
      .replace(/\/$/, "")
      .endsWith(piece.value.replace(/^https?:\/\//, "").replace(/\/$/, ""));
  return isShown ? "" : ` (${link.url})`;
}
