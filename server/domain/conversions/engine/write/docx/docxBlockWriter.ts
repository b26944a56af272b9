/**
 * Writes the blocks of a document as paragraphs and tables of a DOCX file.
 *
 * Neighbouring blocks of one kind, such as two lists, would be read as one block; an empty paragraph keeps them apart.
 */

import {
  AlignmentType,
  CheckBox,
  HeadingLevel,
  type IParagraphOptions,
  Paragraph,
  type ParagraphChild,
  Table,
  TableCell,
  TableRow,
  TextRun,
  WidthType,
} from "docx";
import type { Code, FootnoteDefinition, List, ListItem, Nodes, Paragraph as ParagraphNode, Root, Table as TableNode } from "mdast";
import { isRightToLeft } from "../../direction.ts";
import { formulaLanguage } from "../../formulas.ts";
import { type Definitions, findFootnotes, toPieces, toText } from "../../phrasing.ts";
import { emptyItem, indentTwips, ruleStyle, toCodeStyle } from "../../styles.ts";
import { maxListLevel, type Numbering } from "./docxNumbering.ts";
import { toRuns, toXmlText } from "./docxRuns.ts";
import { maxQuoteDepth, toQuoteStyle, toStyleId } from "./docxStyles.ts";

type Block = Paragraph | Table;

export interface DocxBlockWriter {
  write(nodes: readonly Nodes[]): Block[];
  /** Footnotes that the text refers to. */
  footnotes(): { readonly number: number; readonly blocks: Block[] }[];
  /** Languages of the code that was written. */
  readonly languages: ReadonlySet<string>;
}

export interface DocxBlockWriterOptions {
  readonly tree: Root;
  readonly definitions: Definitions;
  readonly numbering: Numbering;
}

interface Place {
  /** Number of lists around the block. */
  readonly lists: number;
  readonly quotes: number;
  /** The block begins an item of a list. */
  readonly item?: { readonly reference: string; readonly checked: boolean | null | undefined } | undefined;
}

const headings = [
  HeadingLevel.HEADING_1,
  HeadingLevel.HEADING_2,
  HeadingLevel.HEADING_3,
  HeadingLevel.HEADING_4,
  HeadingLevel.HEADING_5,
  HeadingLevel.HEADING_6,
] as const;

const separated: ReadonlySet<string> = new Set(["list", "code", "math", "blockquote"]);

export function createDocxBlockWriter({ tree, definitions, numbering }: DocxBlockWriterOptions): DocxBlockWriter {
  const languages = new Set<string>();
  const notes: FootnoteDefinition[] = [];
  const definitionsOfNotes = findFootnotes(tree);
  let isInNotes = false;

  /** Word wants a footnote of its own for each reference. References in footnotes share one, so that circles end. */
  const footnoteNumber = (id: string): number | undefined => {
    const node = definitionsOfNotes.get(id);
    if (node === undefined) return undefined;
    const known = isInNotes ? notes.indexOf(node) + 1 : 0;
    return known > 0 ? known : notes.push(node);
  };

  const paragraph = (children: ParagraphChild[], place: Place, text: string, options: IParagraphOptions = {}): Paragraph => {
    const level = place.lists + place.quotes;
    const { item } = place;
    const box = typeof item?.checked === "boolean" ? [new CheckBox({ checked: item.checked }), new TextRun(" ")] : [];
    return new Paragraph({
      ...(item === undefined
        ? level > 0
          ? { indent: { left: indentTwips * level } }
          : {}
        : { numbering: { reference: item.reference, level: Math.min(place.lists - 1, maxListLevel) } }),
      ...(isRightToLeft(text) ? { bidirectional: true } : {}),
      ...options,
      children: [...box, ...children],
    });
  };

  const writeParagraph = (node: ParagraphNode, place: Place): Paragraph => {
    const style =
      place.quotes > 0 && place.item === undefined ? { style: toStyleId(toQuoteStyle(Math.min(place.quotes, maxQuoteDepth))) } : {};
    return paragraph(toRuns(toPieces(node.children, definitions), footnoteNumber), place, toText(node), style);
  };

  const writeCode = (node: Pick<Code, "lang" | "value">, place: Place): Paragraph => {
    const language = node.lang ?? "";
    if (language !== "") languages.add(language);
    const runs = node.value.split("\n").map((line, at) => new TextRun({ text: toXmlText(line), ...(at === 0 ? {} : { break: 1 }) }));
    return paragraph(runs, { ...place, item: undefined }, "", { style: toStyleId(toCodeStyle(language)) });
  };

  const writeTable = (node: TableNode): Table => {
    const columns = Math.max(1, ...node.children.map(({ children }) => children.length));
    const rows = node.children.map((row, at) => {
      const cells = Array.from({ length: columns }, (_, column) => {
        const cell = row.children[column];
        const side = node.align?.[column];
        const children = toRuns(toPieces(cell?.children ?? [], definitions), footnoteNumber);
        const options =
          side === null || side === undefined
            ? {}
            : { alignment: { left: AlignmentType.LEFT, right: AlignmentType.RIGHT, center: AlignmentType.CENTER }[side] };
        const text = cell === undefined ? "" : toText(cell);
        const content = paragraph(children, { lists: 0, quotes: 0 }, text, {
          ...options,
          spacing: { after: 0 },
          ...(at === 0 ? { run: { bold: true } } : {}),
        });
        return new TableCell({ children: [content], margins: { left: 100, right: 100, top: 40, bottom: 40 } });
      });
      return new TableRow({ children: cells, tableHeader: at === 0, cantSplit: true });
    });
    const isReversed = isRightToLeft(toText(node));
    return new Table({ rows, width: { size: 100, type: WidthType.PERCENTAGE }, ...(isReversed ? { visuallyRightToLeft: true } : {}) });
  };

  const writeList = (node: List, place: Place): Block[] => {
    const reference = numbering.add(node.ordered === true, node.start ?? 1, place.lists);
    return node.children.flatMap((item) => writeItem(item, reference, { ...place, lists: place.lists + 1, item: undefined }));
  };

  const writeItem = (item: ListItem, reference: string, place: Place): Block[] => {
    const marked = { ...place, item: { reference, checked: item.checked } };
    const [first, ...others] = item.children;
    if (first?.type === "paragraph") return [writeParagraph(first, marked), ...writeAll(others, place)];
    return [paragraph([new TextRun(emptyItem)], marked, ""), ...writeAll(item.children, place)];
  };

  const writeNode = (node: Nodes, place: Place): Block[] => {
    switch (node.type) {
      case "paragraph":
        return [writeParagraph(node, place)];
      case "heading": {
        const runs = toRuns(toPieces(node.children, definitions), footnoteNumber);
        return [paragraph(runs, { lists: 0, quotes: 0 }, toText(node), { heading: headings[node.depth - 1] ?? HeadingLevel.HEADING_6 })];
      }
      case "code":
        return [writeCode(node, place)];
      case "math":
        return [writeCode({ lang: formulaLanguage, value: node.value }, place)];
      case "table":
        return [writeTable(node)];
      case "thematicBreak":
        return [paragraph([], { ...place, item: undefined }, "", { style: toStyleId(ruleStyle) })];
      case "blockquote":
        return writeAll(node.children, { ...place, quotes: place.quotes + 1, item: undefined });
      case "list":
        return writeList(node, place);
      default:
        return [];
    }
  };

  const writeAll = (nodes: readonly Nodes[], place: Place): Block[] =>
    nodes.flatMap((node, at) => {
      const before = nodes[at - 1];
      const isApart = separated.has(node.type) && before?.type === node.type && place.lists === 0;
      return [...(isApart ? [new Paragraph({})] : []), ...writeNode(node, place)];
    });

  return {
    languages,
    write: (nodes) => writeAll(nodes, { lists: 0, quotes: 0 }),
    footnotes() {
      isInNotes = true;
      const written: { number: number; blocks: Block[] }[] = [];
      // A footnote can refer to a further one, which is then appended to the list.
      for (const node of notes) written.push({ number: written.length + 1, blocks: writeAll(node.children, { lists: 0, quotes: 0 }) });
      return written;
    },
  };
}
