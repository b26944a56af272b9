/** Turns the hunks of a comparison by words (`format=words`) into lines that stand side by side. */
import type { ArticleDiff } from "../../../../../api/schema/article.ts";

export type DiffHunk = ArticleDiff["hunks"][number];
export type DiffPart = NonNullable<DiffHunk["changes"]>[number];

export interface DiffLine {
  /** From 1. */
  readonly number: number;
  readonly parts: readonly DiffPart[];
}

/** A side is absent where the other text has a line more. */
export interface DiffRow {
  readonly before?: DiffLine;
  readonly after?: DiffLine;
}

/** Lines of one side that have no place in a row yet. */
interface Side {
  next: number;
  parts: DiffPart[];
  lines: DiffLine[];
}

function endLine(side: Side): void {
  side.lines.push({ number: side.next, parts: side.parts });
  side.next += 1;
  side.parts = [];
}

function toRow(before: DiffLine | undefined, after: DiffLine | undefined): DiffRow {
  return { ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
}

/** Returns rows of the waiting lines, and empties both sides. */
function takeRows(before: Side, after: Side, endTogether: boolean): readonly DiffRow[] {
  const last = endTogether ? [toRow(before.lines.pop(), after.lines.pop())] : [];
  const length = Math.max(before.lines.length, after.lines.length);
  const rows = Array.from({ length }, (_, at) => toRow(before.lines[at], after.lines[at]));
  before.lines = [];
  after.lines = [];
  return [...rows, ...last];
}

/** The lines of a hunk in order. Lines that end with the same line end in both texts stand beside each other. */
export function toRows({ fromLine, toLine, changes = [] }: DiffHunk): readonly DiffRow[] {
  const before: Side = { next: fromLine, parts: [], lines: [] };
  const after: Side = { next: toLine, parts: [], lines: [] };
  const rows: DiffRow[] = [];
  for (const { op, text } of changes) {
    const sides = op === "equal" ? [before, after] : [op === "delete" ? before : after];
    for (const piece of text.split(/(?<=\n)/)) {
      const isEnd = piece.endsWith("\n");
      const words = isEnd ? piece.slice(0, -1) : piece;
      for (const side of sides) {
        if (words !== "") side.parts.push({ op, text: words });
        if (isEnd) endLine(side);
      }
      if (isEnd && op === "equal") rows.push(...takeRows(before, after, true));
    }
  }
  // The last line of a text has no line end.
  const openSides = [before, after].filter(({ parts }) => parts.length > 0);
  for (const side of openSides) endLine(side);
  return [...rows, ...takeRows(before, after, openSides.length === 2)];
}
