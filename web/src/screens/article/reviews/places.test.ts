import { expect, test } from "vitest";
import * as Y from "yjs";
import type { Review } from "../../../../../api/schema/review.ts";
import { findAnchor, toAnchor, toPlace, toRange } from "./places.ts";

type Anchor = NonNullable<Review["anchor"]>;

const text = "One kite. Two kites. One kite.";

function anchorAt(start: number, { quote = "kite", ...rest }: Partial<Anchor> = {}): Anchor {
  const end = start + quote.length;
  return { quote, prefix: "", suffix: "", start, end, revision: 1, state: "anchored", ...rest };
}

test("an anchor is found at its offsets", () => {
  expect(findAnchor(text, anchorAt(14))).toEqual({ from: 14, to: 18 });
});

test("an anchor whose offsets are behind the text is found by its context", () => {
  expect(findAnchor(`Here. ${text}`, anchorAt(4, { prefix: "One ", suffix: ". Two" }))).toEqual({ from: 10, to: 14 });
});

test("an anchor without its context is found at the nearest match", () => {
  expect(findAnchor(text, anchorAt(27, { prefix: "Six ", suffix: "!" }))).toEqual({ from: 25, to: 29 });
});

test("an orphaned anchor and one whose quote is not here have no place", () => {
  expect(findAnchor(text, anchorAt(4, { state: "orphaned" }))).toBeUndefined();
  expect(findAnchor("", anchorAt(4))).toBeUndefined();
});

test("a range that occurs once with its context needs no number", () => {
  expect(toAnchor(text, { from: 14, to: 18 })).toEqual({ quote: "kite", prefix: "One kite. Two ", suffix: "s. One kite." });
});

test("a range that occurs several times, with the same context, is named by its number", () => {
  const rows = "| a | b | c | d | e | f | g | h | i |\n".repeat(5);
  const from = rows.indexOf("e", 2 * 38);
  // The first row has less text before it, so the third one is the second with this context.
  expect(toAnchor(rows, { from, to: from + 1 })).toMatchObject({ quote: "e", occurrence: 2 });
});

test("the context of a range never has half a character", () => {
  const kites = "🪁".repeat(40);
  const { prefix, suffix } = toAnchor(`${kites}a|b${kites}`, { from: 81, to: 82 });
  expect([prefix, suffix]).toEqual([`${"🪁".repeat(15)}a`, `b${"🪁".repeat(15)}`]);
});

test("a place follows the edits before it, and text typed directly after it does not belong to it", () => {
  const doc = new Y.Doc();
  const shared = doc.getText("content.md");
  shared.insert(0, text);
  const place = toPlace(shared, { from: 4, to: 8 });
  shared.insert(0, "Yes: ");
  shared.insert(13, "s");
  expect(toRange(doc, place)).toEqual({ from: 9, to: 13 });
  shared.delete(9, 4);
  expect(toRange(doc, place)).toBeUndefined();
});
