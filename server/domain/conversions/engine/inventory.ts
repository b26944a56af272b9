/**
 * Inventory lists the constructs of a document, each with a key that is equal in a faithful copy of the document.
 *
 * Words are items too, so a lost word is as visible as a lost table. Marks such as emphasis are listed by the longest
 * text that carries them, because formats nest marks differently. The order of the items is the order of the document.
 */
import type { FootnoteDefinition, List, Nodes, Root, RootContent, Table } from "mdast";
import { findWords } from "../../call/countWords.ts";
import type { Construct } from "./constructs.ts";
import { lineOf } from "./document.ts";
import { sourceOfFormula } from "./formulas.ts";
import { findDefinitions, findFootnotes, type Mark, type Piece, toPieces, toText } from "./phrasing.ts";

export interface Item {
  readonly construct: Construct;
  readonly key: string;
  readonly line: number | undefined;
}

const symbols = /[\p{S}\p{Extended_Pictographic}]/gu;
const blocks: ReadonlySet<string> = new Set(["paragraph", "heading", "code", "math", "table", "thematicBreak"]);
const marks: readonly Mark[] = ["emphasis", "strong emphasis", "strikethrough"];

/** `content`: the blocks of the tree to list, by default all. */
export function takeInventory(tree: Root, content: readonly RootContent[] = tree.children): readonly Item[] {
  const items: Item[] = [];
  const definitions = findDefinitions(tree);
  const footnotes = findFootnotes(tree);

  const add = (construct: Construct, key: string, line: number | undefined) => items.push({ construct, key, line });

  const addText = (text: string, line: number | undefined) => {
    const value = text.normalize("NFKC");
    const lineAt = createLineCounter(value, line);
    for (const match of findWords(value)) add("text", match[0], lineAt(match.index ?? 0));
    const symbolLineAt = createLineCounter(value, line);
    for (const match of value.matchAll(symbols)) add("text", match[0], symbolLineAt(match.index));
  };

  const addPhrasing = (node: Extract<Nodes, { type: "paragraph" | "heading" | "tableCell" }>) => {
    const pieces = toPieces(node.children, definitions);
    // Words can cross the borders of pieces, as in `un*believ*able`.
    addText(pieces.map(toWords).join(""), lineOf(node));
    for (const piece of pieces) addPiece(piece);
    for (const mark of marks) addSpans(pieces, mark, (piece) => (piece.marks.has(mark) ? mark : undefined));
    addSpans(pieces, "link", (piece) => piece.link?.url);
    addSpans(pieces, "link title", (piece) => piece.link?.title ?? undefined);
  };

  const addPiece = (piece: Piece) => {
    switch (piece.kind) {
      case "text":
        return;
      case "code":
        return add("inline code", collapse(piece.value), piece.line);
      case "formula":
        return add("formula", collapse(piece.value), piece.line);
      case "html":
        return add("raw HTML", piece.value, piece.line);
      case "break":
        return add("line break", "", piece.line);
      case "image":
        return add("image", `${piece.url} ${collapse(piece.alt)}`, piece.line);
      case "footnote":
        return add("footnote", toFootnoteKey(footnotes.get(piece.id)), piece.line);
    }
  };

  /** Adds the longest runs of pieces that have the same value. */
  const addSpans = (pieces: readonly Piece[], construct: Construct, readValue: (piece: Piece) => string | undefined) => {
    let open: { value: string; text: string; line: number | undefined } | undefined;
    const close = () => {
      if (open !== undefined && open.text.trim() !== "") add(construct, `${open.value} ${collapse(open.text)}`, open.line);
      open = undefined;
    };
    for (const piece of pieces) {
      const value = readValue(piece);
      if (value === undefined || (open !== undefined && open.value !== value)) close();
      if (value === undefined) continue;
      open ??= { value, text: "", line: piece.line };
      open.text += toShown(piece);
    }
    close();
  };

  const visit = (node: Nodes, path: readonly string[], listDepth: number): void => {
    const line = lineOf(node);
    const formula = sourceOfFormula(node);
    const type = formula === undefined ? node.type : "math";
    if (blocks.has(type) && path.length > 0) add("block inside a list or quote", `${path.join(">")} ${type} ${toKey(node)}`, line);
    if (formula !== undefined) {
      addText(formula, line === undefined ? undefined : line + 1);
      add("formula", collapse(formula), line);
      return;
    }
    switch (node.type) {
      case "heading":
        add("heading", `${node.depth} ${toKey(node)}`, line);
        addPhrasing(node);
        return;
      case "paragraph":
        addPhrasing(node);
        return;
      case "blockquote":
        add("block quote", toKey(node), line);
        for (const child of node.children) visit(child, [...path, "quote"], listDepth);
        return;
      case "list":
        visitList(node, path, listDepth);
        return;
      case "code":
        addText(node.value, line === undefined ? undefined : line + 1);
        add("code block", node.value.trimEnd(), line);
        if (typeof node.lang === "string" && node.lang !== "") add("code language", node.lang, line);
        return;
      case "table":
        visitTable(node);
        return;
      case "thematicBreak":
        add("horizontal rule", "", line);
        return;
      case "html":
        add("raw HTML", node.value, line);
        return;
      case "yaml":
        add("front matter", node.value, line);
        return;
      case "footnoteDefinition":
        for (const child of node.children) visit(child, path, listDepth);
        return;
      default:
        return;
    }
  };

  const visitList = (list: List, path: readonly string[], depth: number) => {
    const line = lineOf(list);
    add(list.ordered === true ? "ordered list" : "bullet list", `${depth} ${list.children.length} ${toKey(list)}`, line);
    if (list.ordered === true && typeof list.start === "number" && list.start !== 1) add("list start number", String(list.start), line);
    for (const item of list.children) {
      if (typeof item.checked === "boolean") add("task", `${item.checked} ${toKey(item)}`, lineOf(item));
      for (const child of item.children) visit(child, [...path, `item${depth}`], depth + 1);
    }
  };

  const visitTable = (table: Table) => {
    const columns = Math.max(0, ...table.children.map((row) => row.children.length));
    add("table", `${table.children.length} ${columns} ${toKey(table)}`, lineOf(table));
    const align = (table.align ?? []).map((side) => side ?? "none").slice(0, columns);
    if (align.some((side) => side !== "none")) add("table alignment", `${align.join(" ")} ${toKey(table)}`, lineOf(table));
    for (const row of table.children) for (const cell of row.children) addPhrasing(cell);
  };

  for (const block of content) visit(block, [], 0);
  return items;
}

/** Footnotes are compared by their texts, because formats give them other numbers. */
function toFootnoteKey(footnote: FootnoteDefinition | undefined): string {
  return footnote === undefined ? "" : toKey(footnote);
}

/** A line break keeps its line, so that words after it are counted in the next one. */
function toWords(piece: Piece): string {
  if (piece.kind === "html") return /^<br\b/i.test(piece.value) ? " " : "";
  return piece.kind === "break" ? "\n" : piece.kind === "image" ? "" : toShown(piece);
}

/** The text of a piece inside of marks and links. */
function toShown(piece: Piece): string {
  switch (piece.kind) {
    case "text":
    case "code":
    case "formula":
      return piece.value;
    case "image":
      return piece.alt;
    default:
      return "";
  }
}

/** Text of a block as a key: white space counts as one space, and long texts are cut, because their words are items too. */
function toKey(node: Nodes): string {
  return collapse(toText(node)).slice(0, 200);
}

function collapse(text: string): string {
  return text.normalize("NFKC").replace(/\s+/gu, " ").trim();
}

/** Returns the line of an offset. Offsets must be asked in ascending order. */
function createLineCounter(text: string, firstLine: number | undefined): (offset: number) => number | undefined {
  let line = firstLine ?? 0;
  let end = text.indexOf("\n");
  return (offset) => {
    if (firstLine === undefined) return undefined;
    while (end !== -1 && end < offset) {
      line += 1;
      end = text.indexOf("\n", end + 1);
    }
    return line;
  };
}
