/**
 * Finds the places of reviews in the text that the editor shows. The server names a place at a revision; the text here can
 * be a few edits ahead of it. A place is kept as ids of characters, so it follows every edit from then on.
 */
import * as Y from "yjs";
import type { AnchorRequest, Review } from "../../../../../api/schema/review.ts";

type Anchor = NonNullable<Review["anchor"]>;
type QuoteAnchor = Extract<AnchorRequest, { readonly quote: string }>;

export interface Range {
  readonly from: number;
  readonly to: number;
}

export interface Place {
  readonly start: Y.RelativePosition;
  readonly end: Y.RelativePosition;
}

/** Characters on each side of a quote that are sent with it. */
const contextLength = 32;

export function toPlace(text: Y.Text, { from, to }: Range): Place {
  return {
    start: Y.createRelativePositionFromTypeIndex(text, from, 0),
    // Text that is written directly after the quote does not belong to it.
    end: Y.createRelativePositionFromTypeIndex(text, to, -1),
  };
}

/** Undefined if nothing is left of the text at the place. */
export function toRange(doc: Y.Doc, { start, end }: Place): Range | undefined {
  const from = Y.createAbsolutePositionFromRelativePosition(start, doc)?.index;
  const to = Y.createAbsolutePositionFromRelativePosition(end, doc)?.index;
  return from === undefined || to === undefined || from >= to ? undefined : { from, to };
}

/** Positions of all matches. */
function* matchesOf(text: string, wanted: string): Generator<number> {
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) yield at;
}

function nearest(positions: Iterable<number>, wanted: number): number | undefined {
  let best: number | undefined;
  for (const position of positions) if (best === undefined || Math.abs(position - wanted) < Math.abs(best - wanted)) best = position;
  return best;
}

/** Where the quote of an anchor is: at its offsets, or at the nearest match, first of the quote with its context. */
export function findAnchor(text: string, { quote, prefix, suffix, start, state }: Anchor): Range | undefined {
  if (state === "orphaned" || quote === "") return undefined;
  const found = text.startsWith(quote, start) ? start : (findWhole() ?? nearest(matchesOf(text, quote), start));
  return found === undefined ? undefined : { from: found, to: found + quote.length };

  function findWhole(): number | undefined {
    const whole = nearest(matchesOf(text, prefix + quote + suffix), start - prefix.length);
    return whole === undefined ? undefined : whole + prefix.length;
  }
}

/** The anchor that names exactly this range of the text: its quote and context, and which match it is if there are several. */
export function toAnchor(text: string, { from, to }: Range): QuoteAnchor {
  const quote = text.slice(from, to);
  // Half of a surrogate pair is no text.
  const prefix = text.slice(Math.max(0, from - contextLength), from).replace(/^[\udc00-\udfff]/, "");
  const suffix = text.slice(to, to + contextLength).replace(/[\ud800-\udbff]$/, "");
  let count = 0;
  let occurrence = 1;
  let free = 0;
  for (const whole of matchesOf(text, prefix + quote + suffix)) {
    const start = whole + prefix.length;
    // Matches share their context, but no part of the quote (docs/reviews.md).
    if (start < free) continue;
    free = start + quote.length;
    count += 1;
    if (start === from) occurrence = count;
  }
  return { quote, prefix, suffix, ...(count > 1 ? { occurrence } : {}) };
}
