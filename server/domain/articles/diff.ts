/** Compares two texts for display: hunks of lines with context, in the diff formats of the API. */
import type { ArticleDiff, DiffFormat, DiffHunk } from "../../../api/schema/article.ts";
import { groupNearest, joinNearest, type TextOperation } from "./merge.ts";
import type { Span } from "./sequenceDiff.ts";
import { countLines, diffLines, diffTexts, type LineDiff } from "./textDiff.ts";

const context = 3;
/** Most spans in an answer, because a larger answer takes long to validate and serialize and no reader needs it. */
const maxSpans = 3000;
const maxWordPlaces = 5000;

type Change = NonNullable<DiffHunk["changes"]>[number];

export function toDiff(from: string, to: string, format: DiffFormat): Pick<ArticleDiff, "hunks" | "stats"> {
  const lines = diffLines(from, to);
  const groups = groupSpans(joinSpans(lines.spans)).map((spans) => withContext(lines, spans));
  const stats = countLines(lines);
  if (format !== "words") return { hunks: groups.map((group) => toHunk(lines, group, format)), stats };
  const pieces = groups.map(({ range, before, after }) => ({ range, before, hunks: diffTexts(before, after) }));
  const places = pieces.reduce((sum, { hunks }) => sum + hunks.length, 0);
  const share = Math.min(1, maxWordPlaces / places);
  const hunks = pieces.map(({ range, before, hunks: all }) => {
    const operations = all.map(({ start, end, text }): TextOperation => ({ at: start, insert: text, remove: end - start }));
    return { ...range, changes: toWordChanges(before, joinNearest(before, operations, Math.max(1, Math.floor(all.length * share)))) };
  });
  return { hunks, stats };
}

/** Joins the nearest spans until at most `maxSpans` remain. */
function joinSpans(spans: readonly Span[]): readonly Span[] {
  return groupNearest(
    spans,
    ({ aStart }) => aStart,
    ({ aEnd }) => aEnd,
    maxSpans,
  ).map((group) => {
    const [{ aStart, bStart }, { aEnd, bEnd }] = [group[0] as Span, group.at(-1) as Span];
    return { aStart, bStart, aEnd, bEnd };
  });
}

/** Groups the spans whose context lines would touch; each group becomes one hunk. */
function groupSpans(spans: readonly Span[]): Span[][] {
  const groups: Span[][] = [];
  for (const span of spans) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group !== undefined && last !== undefined && span.aStart - last.aEnd <= 2 * context) group.push(span);
    else groups.push([span]);
  }
  return groups;
}

interface Group {
  readonly spans: readonly Span[];
  readonly range: Pick<DiffHunk, "fromLine" | "fromLines" | "toLine" | "toLines">;
  /** Line range in `older`, including the context lines. */
  readonly aStart: number;
  readonly aEnd: number;
  readonly before: string;
  readonly after: string;
}

function withContext({ older, newer }: LineDiff, spans: readonly Span[]): Group {
  const [first, last] = [spans[0] as Span, spans.at(-1) as Span];
  const leading = Math.min(context, first.aStart);
  const trailing = Math.min(context, older.length - last.aEnd);
  const [aStart, aEnd] = [first.aStart - leading, last.aEnd + trailing];
  const [bStart, bEnd] = [first.bStart - leading, last.bEnd + trailing];
  const range = {
    // The start of an empty range is the number of the line before it, as in the unified diff format.
    fromLine: aStart + (aEnd > aStart ? 1 : 0),
    fromLines: aEnd - aStart,
    toLine: bStart + (bEnd > bStart ? 1 : 0),
    toLines: bEnd - bStart,
  };
  return { spans, range, aStart, aEnd, before: older.slice(aStart, aEnd).join(""), after: newer.slice(bStart, bEnd).join("") };
}

function toHunk({ older, newer }: LineDiff, { spans, range, aStart, aEnd }: Group, format: "unified" | "json"): DiffHunk {
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

function toWordChanges(from: string, operations: readonly TextOperation[]): Change[] {
  const changes: Change[] = [];
  const add = (op: Change["op"], text: string) => {
    if (text !== "") changes.push({ op, text });
  };
  let end = 0;
  for (const { at, insert, remove } of operations) {
    add("equal", from.slice(end, at));
    add("delete", from.slice(at, at + remove));
    add("insert", insert);
    end = at + remove;
  }
  add("equal", from.slice(end));
  return changes;
}
