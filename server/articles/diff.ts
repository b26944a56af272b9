/** Two texts compared for people: hunks of lines with context, in the formats of the API. */
import type { ArticleDiff, DiffFormat, DiffHunk } from "../../api/schema/article.ts";
import type { Span } from "./sequenceDiff.ts";
import { countLines, diffLines, diffTexts, type LineDiff } from "./textDiff.ts";

const context = 3;

type Change = NonNullable<DiffHunk["changes"]>[number];

export function toDiff(from: string, to: string, format: DiffFormat): Pick<ArticleDiff, "hunks" | "stats"> {
  const lines = diffLines(from, to);
  return { hunks: groupSpans(lines).map((spans) => toHunk(lines, spans, format)), stats: countLines(lines) };
}

/** Spans whose contexts would touch belong to one hunk. */
function groupSpans({ spans }: LineDiff): Span[][] {
  const groups: Span[][] = [];
  for (const span of spans) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group !== undefined && last !== undefined && span.aStart - last.aEnd <= 2 * context) group.push(span);
    else groups.push([span]);
  }
  return groups;
}

function toHunk({ older, newer }: LineDiff, spans: readonly Span[], format: DiffFormat): DiffHunk {
  const [first, last] = [spans[0] as Span, spans.at(-1) as Span];
  const before = Math.min(context, first.aStart);
  const after = Math.min(context, older.length - last.aEnd);
  const [aStart, aEnd] = [first.aStart - before, last.aEnd + after];
  const [bStart, bEnd] = [first.bStart - before, last.bEnd + after];
  const range = {
    // An empty range names the line before it, as in the unified format.
    fromLine: aStart + (aEnd > aStart ? 1 : 0),
    fromLines: aEnd - aStart,
    toLine: bStart + (bEnd > bStart ? 1 : 0),
    toLines: bEnd - bStart,
  };
  if (format === "words") {
    return { ...range, changes: toWordChanges(older.slice(aStart, aEnd).join(""), newer.slice(bStart, bEnd).join("")) };
  }
  const parts: { readonly op: Change["op"]; readonly lines: readonly string[] }[] = [];
  let at = aStart;
  for (const span of spans) {
    parts.push({ op: "equal", lines: older.slice(at, span.aStart) });
    parts.push({ op: "delete", lines: older.slice(span.aStart, span.aEnd) });
    parts.push({ op: "insert", lines: newer.slice(span.bStart, span.bEnd) });
    at = span.aEnd;
  }
  parts.push({ op: "equal", lines: older.slice(at, aEnd) });
  if (format === "json") {
    return { ...range, changes: parts.flatMap(({ op, lines }) => (lines.length === 0 ? [] : [{ op, text: lines.join("") }])) };
  }
  const { fromLine, fromLines, toLine, toLines } = range;
  const text = parts.flatMap(({ op, lines }) => lines.map((line) => marks[op] + withEnd(line))).join("");
  return { ...range, text: `@@ -${fromLine},${fromLines} +${toLine},${toLines} @@\n${text}` };
}

const marks = { equal: " ", delete: "-", insert: "+" } as const;

function withEnd(line: string): string {
  return line.endsWith("\n") ? line : `${line}\n\\ No newline at end of file\n`;
}

function toWordChanges(from: string, to: string): Change[] {
  const changes: Change[] = [];
  const add = (op: Change["op"], text: string) => {
    if (text !== "") changes.push({ op, text });
  };
  let at = 0;
  for (const { start, end, text } of diffTexts(from, to)) {
    add("equal", from.slice(at, start));
    add("delete", from.slice(start, end));
    add("insert", text);
    at = end;
  }
  add("equal", from.slice(at));
  return changes;
}
