/**
 * Reads the blocks of a DOCX document. A DOCX file is a flat list of paragraphs, so lists, quotes and code blocks are
 * built from the style, the numbering and the indentation of neighbouring paragraphs. An empty paragraph ends them all.
 */
import type {
  AlignType,
  Blockquote,
  FootnoteDefinition,
  List,
  ListItem,
  PhrasingContent,
  RootContent,
  Table,
  TableCell,
  TableRow,
} from "mdast";
import type { Loss } from "../document.ts";
import { emptyItem, indentTwips, type ParagraphStyle, readParagraphStyle } from "../styles.ts";
import type { DocxBlock, DocxCell, DocxDocument, DocxImage, DocxInline, DocxParagraph, DocxTable } from "./docxDocument.ts";
import { createDocxInlineReader } from "./docxInline.ts";

export interface DocxBlocks {
  read(blocks: readonly DocxBlock[]): RootContent[];
  /** Definitions of the notes that were read, in the order of their references. */
  readFootnotes(): FootnoteDefinition[];
  readonly losses: readonly Loss[];
}

interface OpenList {
  readonly list: List;
  readonly level: number;
}

export function createDocxBlocks(document: DocxDocument, images: ReadonlyMap<DocxImage, string>): DocxBlocks {
  const losses: Loss[] = [];
  const notes = new Map<string, { readonly noteType: string; readonly noteId: string }>();
  const inline = createDocxInlineReader({
    images,
    losses,
    addNote(reference) {
      const same = [...notes].find(([, { noteType, noteId }]) => noteType === reference.noteType && noteId === reference.noteId);
      const identifier = same?.[0] ?? String(notes.size + 1);
      notes.set(identifier, reference);
      return identifier;
    },
  });

  function read(blocks: readonly DocxBlock[]): RootContent[] {
    const top: RootContent[] = [];
    let lists: OpenList[] = [];
    let isApart = false;

    /** Where a paragraph of this indentation belongs: the last item of an open list, or the document. */
    const enter = (level: number): RootContent[] => {
      lists = lists.filter((open) => open.level < level);
      const item = lists.at(-1)?.list.children.at(-1);
      return item === undefined ? top : (item.children as RootContent[]);
    };

    const addItem = (isOrdered: boolean, level: number, checked: boolean | undefined, children: PhrasingContent[]) => {
      lists = lists.filter((open) => open.level < level || (open.level === level && (open.list.ordered ?? false) === isOrdered));
      let open = lists.at(-1);
      if (open === undefined || open.level < level) {
        const list: List = { type: "list", ordered: isOrdered, ...(isOrdered ? { start: 1 } : {}), spread: false, children: [] };
        enter(level).push(list);
        open = { list, level };
        lists.push(open);
      }
      const isEmpty = children.length === 1 && children[0]?.type === "text" && children[0].value === emptyItem;
      const item: ListItem = { type: "listItem", spread: false, children: isEmpty ? [] : [{ type: "paragraph", children }] };
      open.list.children.push(checked === undefined ? item : { ...item, checked });
    };

    const addParagraph = (paragraph: DocxParagraph, style: ParagraphStyle, children: PhrasingContent[], checked: boolean | undefined) => {
      const level = levelOf(paragraph);
      if (style.kind === "heading") enter(0).push({ type: "heading", depth: style.depth, children });
      else if (style.kind === "quote") addQuote(enter(Math.max(0, level - style.depth)), style.depth, children, isApart);
      else if (paragraph.numbering === null) enter(level).push({ type: "paragraph", children });
      else addItem(paragraph.numbering.isOrdered, toListLevel(paragraph.numbering.level), checked, children);
    };

    for (const block of blocks) {
      const style = readParagraphStyle(block.type === "paragraph" ? block.styleName : null);
      if (block.type === "table") enter(0).push(readTable(block));
      else if (block.type === "paragraph" && style.kind === "code")
        addCode(enter(levelOf(block)), inline.readText(block.children), style.language, isApart);
      else if (block.type === "paragraph" && style.kind === "rule") enter(levelOf(block)).push({ type: "thematicBreak" });
      else {
        const { children, checked } = inline.read(block.type === "paragraph" ? block.children : [block as DocxInline]);
        if (children.length === 0 && checked === undefined) {
          lists = [];
          isApart = true;
          continue;
        }
        if (block.type === "paragraph") addParagraph(block, style, children, checked);
        else enter(0).push({ type: "paragraph", children });
      }
      isApart = false;
    }
    return top;
  }

  function readTable(table: DocxTable): Table {
    const rows = table.children.map((row): TableRow => ({ type: "tableRow", children: row.children.flatMap((cell) => readCell(cell)) }));
    const columns = Math.max(0, ...table.children.map(({ children }) => children.length));
    const align = Array.from({ length: columns }, (_, column) => readAlignment(table, column));
    return { type: "table", align, children: rows };
  }

  /** A cell that covers several columns is followed by empty cells, so that the columns stay in their places. */
  function readCell(cell: DocxCell): TableCell[] {
    const isWide = cell.colSpan > 1 && cell.colSpan <= 1000;
    if (cell.colSpan > 1 || cell.rowSpan > 1) losses.push({ construct: "table cell span" });
    const children: PhrasingContent[] = [];
    for (const block of flattenCell(cell.children)) {
      const read = inline.read(block.children).children;
      if (read.length === 0) continue;
      if (children.length > 0) children.push({ type: "break" });
      children.push(...read);
    }
    const empty = Array.from({ length: isWide ? cell.colSpan - 1 : 0 }, (): TableCell => ({ type: "tableCell", children: [] }));
    return [{ type: "tableCell", children }, ...empty];
  }

  /** Paragraphs of a cell, and those of tables in the cell. */
  function flattenCell(blocks: readonly DocxBlock[]): readonly DocxParagraph[] {
    return blocks.flatMap((block) => {
      if (block.type === "paragraph") return [block];
      if (block.type !== "table") return [];
      losses.push({ construct: "table" });
      return block.children.flatMap((row) => row.children.flatMap((cell) => flattenCell(cell.children)));
    });
  }

  return {
    losses,
    read,
    readFootnotes() {
      const definitions: FootnoteDefinition[] = [];
      // A note can refer to a further note, which is then appended to the map.
      for (const [identifier, reference] of notes) {
        const children = read(document.notes.resolve(reference)?.body ?? []) as FootnoteDefinition["children"];
        definitions.push({ type: "footnoteDefinition", identifier, label: identifier, children });
      }
      return definitions;
    },
  };
}

function toListLevel(level: string): number {
  const number = Number(level);
  return Number.isInteger(number) && number >= 0 ? number : 0;
}

function levelOf({ indent }: DocxParagraph): number {
  const twips = Number(indent.start ?? 0);
  return Number.isFinite(twips) ? Math.round(twips / indentTwips) : 0;
}

/** Word has a paragraph for each line of code; neighbouring ones of the same language are one block. */
function addCode(into: RootContent[], value: string, language: string | undefined, isApart: boolean): void {
  const last = into.at(-1);
  if (!isApart && last?.type === "code" && (last.lang ?? undefined) === language) last.value += `\n${value}`;
  else into.push({ type: "code", lang: language ?? null, value });
}

function addQuote(into: RootContent[], depth: number, children: PhrasingContent[], isApart: boolean): void {
  let siblings = into;
  for (let level = 0; level < depth; level += 1) {
    const last = siblings.at(-1);
    if (last?.type === "blockquote" && !(isApart && level === 0)) siblings = last.children;
    else {
      const quote: Blockquote = { type: "blockquote", children: [] };
      siblings.push(quote);
      siblings = quote.children;
    }
  }
  siblings.push({ type: "paragraph", children });
}

/** The alignment that all cells of a column share. */
function readAlignment(table: DocxTable, column: number): AlignType {
  const sides = new Set(
    table.children.map(({ children }) => {
      const [first] = (children[column]?.children ?? []).filter((block): block is DocxParagraph => block.type === "paragraph");
      return first?.alignment ?? null;
    }),
  );
  const [side] = sides;
  if (sides.size !== 1 || side === undefined || side === null) return null;
  if (side === "center") return "center";
  if (side === "right" || side === "end") return "right";
  return side === "left" || side === "start" ? "left" : null;
}
