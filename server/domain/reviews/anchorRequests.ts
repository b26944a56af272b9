/** Finds the place that a request names: a quote of the live text, or a range of characters at a known revision. */
import { AppError, type ProblemFinding } from "../../../api/schema/error.ts";
import type { AnchorRequest } from "../../../api/schema/review.ts";
import { contextOf, placeQuotes } from "./anchorPlaces.ts";
import { findPlaces } from "./anchorSearch.ts";

type QuoteRequest = Extract<AnchorRequest, { readonly quote: string }>;
type RangeRequest = Exclude<AnchorRequest, QuoteRequest>;

/** Matches that a refusal lists. */
const maxListed = 20;
/** Characters of a match, and around it, that a refusal shows. */
const maxShown = 40;

/** Returns the start of the quote. Throws `anchor_not_found` and `anchor_ambiguous`. */
export function locateQuote(text: string, { quote, prefix = "", suffix = "", occurrence }: QuoteRequest): number {
  const wanted = occurrence === "first" ? 1 : occurrence;
  const starts: number[] = [];
  let free = 0;
  for (const place of findPlaces(text, [prefix + quote + suffix], Math.max(wanted ?? 0, maxListed + 1) * quote.length)[0]?.starts ?? []) {
    const start = place + prefix.length;
    // Matches may overlap in their prefix and suffix, but not in the quote.
    if (start < free) continue;
    starts.push(start);
    free = start + quote.length;
  }
  const chosen = starts[(wanted ?? 1) - 1];
  if (chosen === undefined) throw notFound(starts.length, occurrence);
  if (wanted !== undefined || starts.length === 1) return chosen;
  const detail = "The quote occurs more than once: add 'prefix' or 'suffix', or choose one with 'occurrence'.";
  throw new AppError("anchor_ambiguous", detail, {
    errors: starts.slice(0, maxListed).map((start, at) => toMatch(text, quote, start, at)),
  });
}

function notFound(found: number, occurrence: QuoteRequest["occurrence"]): AppError {
  const message =
    found > 0
      ? `The quote occurs ${found} times, so there is no occurrence ${occurrence}.`
      : "The quote does not occur in the file with this prefix and suffix.";
  return new AppError("anchor_not_found", message, { errors: [{ pointer: "/anchor/quote", code: "anchor_not_found", message }] });
}

function toMatch(text: string, quote: string, start: number, at: number): ProblemFinding {
  const { prefix, suffix } = contextOf(text, start, start + quote.length);
  const shown = quote.length > maxShown ? `${quote.slice(0, maxShown)}…` : quote;
  const message = `occurrence ${at + 1} is at ${start} to ${start + quote.length}: ${JSON.stringify(`${prefix}[${shown}]${suffix}`)}`;
  return { pointer: "/anchor/quote", code: "anchor_ambiguous", message };
}

/**
 * Returns where a range of `base` starts in the live text. A range outside of everything that changed is moved by the
 * change; any other is found by its text and context. Throws `validation_failed`, `anchor_not_found`.
 */
export function locateRange(base: string, live: string, { start, end }: RangeRequest): number {
  checkRange(base, start, end);
  const moved = toShift(base, live)(start, end);
  if (moved !== undefined) return moved;
  const [place] = placeQuotes(live, [{ quote: base.slice(start, end), ...contextOf(base, start, end) }]);
  if (place !== undefined) return place.start;
  const message = "The text of this range has changed since that revision, or its place is ambiguous.";
  throw new AppError("anchor_not_found", message, { errors: [{ pointer: "/anchor/start", code: "anchor_not_found", message }] });
}

function checkRange(base: string, start: number, end: number): void {
  const isSplit = (offset: number) => offset > 0 && /^[\ud800-\udbff][\udc00-\udfff]/.test(base.slice(offset - 1, offset + 1));
  const wrong =
    end <= start
      ? ({ name: "end", message: "must be greater than 'start'" } as const)
      : end > base.length
        ? ({ name: "end", message: `must be at most ${base.length}, the length of the file at this revision` } as const)
        : isSplit(start)
          ? ({ name: "start", message: "must not be inside a surrogate pair" } as const)
          : isSplit(end)
            ? ({ name: "end", message: "must not be inside a surrogate pair" } as const)
            : undefined;
  if (wrong === undefined) return;
  const { name, message } = wrong;
  const errors = [{ pointer: `/anchor/${name}`, code: "invalid_value", message }];
  throw new AppError("validation_failed", `The field anchor.${name} ${message}.`, { errors });
}

/**
 * Returns a function that says where a range of `base` starts in another text: undefined unless the range is outside of
 * everything that differs.
 */
export function toShift(base: string, live: string): (start: number, end: number) => number | undefined {
  if (base === live) return (start) => start;
  const same = toSameEdges(base, live);
  return (start, end) => {
    if (end <= same.before) return start;
    return start >= base.length - same.after ? start + live.length - base.length : undefined;
  };
}

/** Number of characters that are equal at the beginning and at the end of both texts; they do not overlap. */
function toSameEdges(a: string, b: string): { readonly before: number; readonly after: number } {
  const most = Math.min(a.length, b.length);
  let before = 0;
  while (before < most && a.charCodeAt(before) === b.charCodeAt(before)) before += 1;
  let after = 0;
  while (after < most - before && a.charCodeAt(a.length - 1 - after) === b.charCodeAt(b.length - 1 - after)) after += 1;
  return { before, after };
}
