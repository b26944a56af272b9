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

export interface AuthorShare extends Author {
  /** From 0 to 1. */
  readonly share: number;
}

/** How much of the text each author wrote, the largest share first. */
export function toShares(spans: readonly AuthoredSpan[]): readonly AuthorShare[] {
  const total = spans.reduce((sum, { start, end }) => sum + end - start, 0);
  const byAuthor = Map.groupBy(spans, ({ username, kind }) => `${kind} ${username}`);
  return [...byAuthor.values()]
    .flatMap((own) => {
      const [first] = own;
      if (first === undefined) return [];
      const length = own.reduce((sum, { start, end }) => sum + end - start, 0);
      return [{ username: first.username, kind: first.kind, share: length / total }];
    })
    .toSorted((one, other) => other.share - one.share);
}
