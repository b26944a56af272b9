/** Reads the source of a table: its columns, and where in the source each cell is. */
import { markdownParser, type SyntaxNode } from "../core/language.ts";

export type Alignment = "left" | "right" | "center" | undefined;

export interface Cell {
  /** The cell's text in the source, without the spaces around it. `from` and `to` are equal for an empty cell. */
  readonly from: number;
  readonly to: number;
  /** The syntax of the cell, unless it is empty. */
  readonly node: SyntaxNode | undefined;
}

export interface Table {
  readonly alignments: readonly Alignment[];
  readonly header: readonly Cell[];
  /** Each row has as many cells as the header. */
  readonly rows: readonly (readonly Cell[])[];
}

function readAlignment(cell: string): Alignment {
  const text = cell.trim();
  if (text.startsWith(":") && text.endsWith(":") && text.length > 1) return "center";
  if (text.endsWith(":")) return "right";
  return text.startsWith(":") ? "left" : undefined;
}

function readCells(row: SyntaxNode, columns: number): Cell[] {
  const cells: Cell[] = [];
  let pending: Cell | undefined;
  let end = row.from;
  for (let child = row.firstChild; child !== null; child = child.nextSibling) {
    if (child.name === "TableCell") {
      pending = { from: child.from, to: child.to, node: child };
      end = child.to;
    } else if (child.name === "TableDelimiter") {
      // The parser has no node for an empty cell. A delimiter at the start of the row ends no cell.
      if (child.from > row.from)
        cells.push(pending ?? { from: Math.min(end + 1, child.from), to: Math.min(end + 1, child.from), node: undefined });
      pending = undefined;
      end = child.to;
    }
  }
  if (pending !== undefined) cells.push(pending);
  while (cells.length < columns) cells.push({ from: row.to, to: row.to, node: undefined });
  return cells.slice(0, columns);
}

/** Returns undefined if the source is not one table. */
export function parseTable(source: string): Table | undefined {
  const node = markdownParser.parse(source).topNode.firstChild;
  if (node?.name !== "Table") return undefined;
  const header = node.getChild("TableHeader");
  const delimiter = node.getChild("TableDelimiter");
  if (header === null || delimiter === null) return undefined;
  const alignments = source
    .slice(delimiter.from, delimiter.to)
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|")
    .map(readAlignment);
  const columns = alignments.length;
  return {
    alignments,
    header: readCells(header, columns),
    rows: node.getChildren("TableRow").map((row) => readCells(row, columns)),
  };
}
