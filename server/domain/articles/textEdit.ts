/**
 * Applies one edit of a `patch`: finds the text, chooses the occurrence and replaces it.
 *
 * The time is linear in the length of the text for every search text. A result above the limit is refused before it is
 * built. A search text that is missing or ambiguous gives the outcome `rejected`; it is not an exception.
 */
import type { TextEdit } from "../../../api/schema/article.ts";

export type TextEditOutcome =
  | { readonly kind: "edited"; readonly text: string }
  | { readonly kind: "rejected"; readonly code: "anchor_not_found" | "anchor_ambiguous"; readonly detail: string }
  | { readonly kind: "too_large" };

/** `maxLength` is in UTF-16 units. A limit in bytes can be passed, because a text never has more UTF-16 units than UTF-8 bytes. */
export function applyTextEdit(text: string, edit: TextEdit, maxLength: number): TextEditOutcome {
  const { find, replace, prefix = "", suffix = "", occurrence } = edit;
  const wanted = typeof occurrence === "number" ? occurrence : occurrence === "first" ? 1 : undefined;
  const places: number[] = [];
  let free = 0;
  for (const place of occurrences(text, prefix + find + suffix)) {
    const start = place + prefix.length;
    if (occurrence === undefined && places.length === 1) {
      const detail = "The text to find occurs more than once: add 'prefix' or 'suffix', or choose one with 'occurrence'.";
      return { kind: "rejected", code: "anchor_ambiguous", detail };
    }
    // Matches may overlap in their prefix and suffix, but not in the text that is replaced.
    if (start < free) continue;
    places.push(start);
    free = start + find.length;
    if (places.length === wanted) break;
  }
  const chosen = wanted === undefined ? places : places.slice(wanted - 1);
  if (chosen.length === 0) return { kind: "rejected", code: "anchor_not_found", detail: notFoundDetail(places.length, edit) };
  if (text.length + chosen.length * (replace.length - find.length) > maxLength) return { kind: "too_large" };
  const parts: string[] = [];
  let from = 0;
  for (const place of chosen) {
    parts.push(text.slice(from, place), replace);
    from = place + find.length;
  }
  return { kind: "edited", text: parts.join("") + text.slice(from) };
}

function notFoundDetail(found: number, { prefix, suffix, occurrence }: TextEdit): string {
  if (found > 0) return `The text to find occurs ${found} times, so there is no occurrence ${occurrence}.`;
  const context = prefix === undefined && suffix === undefined ? "" : " with this prefix and suffix";
  return `The text to find does not occur${context}.`;
}

/** Characters that the fast search may compare before it switches to the linear search, which is slower on usual texts. */
const maxWasted = 2 ** 24;
/** `indexOf` searches only for this many characters, because on a repetitive text its time grows with the product of both lengths. */
const probeLength = 16;

/** Yields the start of each occurrence, including overlapping ones. */
function* occurrences(text: string, wanted: string): Generator<number> {
  const probe = wanted.slice(0, probeLength);
  let wasted = 0;
  for (let at = text.indexOf(probe); at >= 0; at = text.indexOf(probe, at + 1)) {
    if (text.startsWith(wanted, at)) yield at;
    wasted += wanted.length;
    if (wasted > maxWasted) {
      yield* occurrencesLinear(text, wanted, at + 1);
      return;
    }
  }
}

/** The same by the Knuth–Morris–Pratt algorithm, in linear time. */
function* occurrencesLinear(text: string, wanted: string, start: number): Generator<number> {
  const border = new Int32Array(wanted.length);
  let matched = 0;
  for (let at = 1; at < wanted.length; at += 1) {
    while (matched > 0 && wanted.charCodeAt(at) !== wanted.charCodeAt(matched)) matched = border[matched - 1] as number;
    if (wanted.charCodeAt(at) === wanted.charCodeAt(matched)) matched += 1;
    border[at] = matched;
  }
  matched = 0;
  for (let at = start; at < text.length; at += 1) {
    while (matched > 0 && text.charCodeAt(at) !== wanted.charCodeAt(matched)) matched = border[matched - 1] as number;
    if (text.charCodeAt(at) === wanted.charCodeAt(matched)) matched += 1;
    if (matched === wanted.length) {
      yield at - wanted.length + 1;
      matched = border[matched - 1] as number;
    }
  }
}
