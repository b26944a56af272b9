/** Carries the authors of a committed text to the text as it is now, which may be some edits ahead. */
import { diff } from "@codemirror/merge";
import type { Author } from "../../../../../api/schema/article.ts";

export interface AuthoredSpan extends Author {
  /** Offsets in UTF-16 code units; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
}

/** Bounds of the comparison. Beyond them it is coarser, and some text has no author until the next commit. */
const bounds = { scanLimit: 500, timeout: 200 };

/** Returns the spans at their places in `live`. Text that was written since has no span. */
export function toLiveSpans<Span extends AuthoredSpan>(spans: readonly Span[], committed: string, live: string): readonly Span[] {
  if (committed === live) return spans;
  const kept: { readonly from: number; readonly to: number; readonly shift: number }[] = [];
  let from = 0;
  let shift = 0;
  for (const { fromA, toA, toB } of diff(committed, live, bounds)) {
    kept.push({ from, to: fromA, shift });
    from = toA;
    shift = toB - toA;
  }
  kept.push({ from, to: committed.length, shift });

  const moved: Span[] = [];
  let first = 0;
  for (const span of spans) {
    while (first < kept.length - 1 && (kept[first]?.to ?? 0) <= span.start) first += 1;
    for (let at = first; at < kept.length; at += 1) {
      const part = kept[at];
      if (part === undefined || part.from >= span.end) break;
      const start = Math.max(span.start, part.from);
      const end = Math.min(span.end, part.to);
      if (start < end) moved.push({ ...span, start: start + part.shift, end: end + part.shift });
    }
  }
  return moved;
}

export interface LineSpan extends Author {
  /** Lines count from 1. Both belong to the span. */
  readonly fromLine: number;
  readonly toLine: number;
}

/** The author of the most characters of each line. Neighbouring lines of one author are one span. */
export function toLineSpans(spans: readonly AuthoredSpan[], text: string): readonly LineSpan[] {
  const found: LineSpan[] = [];
  let first = 0;
  let from = 0;
  for (const [index, line] of text.split("\n").entries()) {
    const to = from + line.length + 1;
    while ((spans[first]?.end ?? to) <= from) first += 1;
    const main = mainAuthor(spans, first, from, to);
    from = to;
    if (main === undefined) continue;
    const { username, kind } = main;
    const last = found.at(-1);
    if (last?.toLine === index && last.username === username && last.kind === kind)
      found[found.length - 1] = { ...last, toLine: index + 1 };
    else found.push({ username, kind, fromLine: index + 1, toLine: index + 1 });
  }
  return found;
}

/** The author of the most characters from `from` to `to`. The spans from `first` on end after `from`. */
function mainAuthor(spans: readonly AuthoredSpan[], first: number, from: number, to: number): Author | undefined {
  const lengths = new Map<string, { readonly author: Author; length: number }>();
  for (let at = first; at < spans.length; at += 1) {
    const span = spans[at];
    if (span === undefined || span.start >= to) break;
    const key = `${span.kind} ${span.username}`;
    const entry = lengths.get(key) ?? { author: span, length: 0 };
    entry.length += Math.min(span.end, to) - Math.max(span.start, from);
    lengths.set(key, entry);
  }
  return [...lengths.values()].toSorted((one, other) => other.length - one.length)[0]?.author;
}

export interface AuthorShare extends Author {
  /** From 0 to 1. */
  readonly share: number;
}

/** How much of the text each author wrote, the largest share first. */
export function toShares(spans: readonly AuthoredSpan[]): readonly AuthorShare[] {
  const total = spans.reduce((sum, { start, end }) => sum + end - start, 0);
  const lengths = new Map<string, { readonly author: Author; length: number }>();
  for (const { username, kind, start, end } of spans) {
    const key = `${kind} ${username}`;
    const entry = lengths.get(key) ?? { author: { username, kind }, length: 0 };
    entry.length += end - start;
    lengths.set(key, entry);
  }
  return [...lengths.values()]
    .map(({ author, length }) => ({ ...author, share: length / total }))
    .toSorted((one, other) => other.share - one.share);
}
