/** Tests the promises of review anchors for any text and any edits: typing, moving text, and writing the whole text again. */
import fc from "fast-check";
import { expect, test } from "vitest";
import * as Y from "yjs";
import type { TextAnchor } from "../../machines/reviewContext.ts";
import { contextOf, placeQuotes } from "../../server/domain/reviews/anchorPlaces.ts";
import { findPlaces } from "../../server/domain/reviews/anchorSearch.ts";
import { placeIn } from "../../server/domain/reviews/anchors.ts";
import { toCharacterIds, toOffsets } from "../../server/domain/reviews/characterIds.ts";

const file = "content.md";

/** Few words and many repeats, so that quotes occur several times. */
const word = fc.constantFrom("the ", "draft ", "a ", "fsync ", "\n", "🙂", "é", "漢字", "is ", "the draft is ", ".");
const words = (maxLength: number) => fc.array(word, { minLength: 1, maxLength }).map((parts) => parts.join(""));
const share = fc.double({ min: 0, max: 1, noNaN: true });

type Edit =
  | { readonly kind: "type"; readonly at: number; readonly remove: number; readonly insert: string }
  /** Cuts a piece and pastes it somewhere else, as an editor does. */
  | { readonly kind: "move"; readonly from: number; readonly length: number; readonly to: number }
  /** Deletes everything and inserts a text, as a client without a diff does. `change` is applied to the text before. */
  | { readonly kind: "rewrite"; readonly at: number; readonly insert: string };

const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ kind: fc.constant("type" as const), at: share, remove: fc.nat(12), insert: fc.oneof(fc.constant(""), words(4)) }),
  fc.record({ kind: fc.constant("move" as const), from: share, length: fc.nat(40), to: share }),
  fc.record({ kind: fc.constant("rewrite" as const), at: share, insert: fc.oneof(fc.constant(""), words(6)) }),
);

function pointIn(text: string, at: number): number {
  const point = Math.floor(at * text.length);
  return /^[\udc00-\udfff]/.test(text.slice(point)) ? point - 1 : point;
}

/** Applies an edit under a client id of its own. */
function apply(document: Y.Doc, next: Edit, clientId: number): void {
  document.clientID = clientId;
  const shared = document.getText(file);
  const text = shared.toString();
  document.transact(() => {
    if (next.kind === "type") {
      const at = pointIn(text, next.at);
      const end = pointIn(text, Math.min(1, (at + next.remove) / Math.max(1, text.length)));
      if (end > at) shared.delete(at, end - at);
      if (next.insert !== "") shared.insert(at, next.insert);
    } else if (next.kind === "move") {
      const from = pointIn(text, next.from);
      const end = Math.max(from, pointIn(text, Math.min(1, (from + next.length) / Math.max(1, text.length))));
      const piece = text.slice(from, end);
      shared.delete(from, piece.length);
      const rest = shared.toString();
      shared.insert(pointIn(rest, next.to), piece);
    } else {
      const at = pointIn(text, next.at);
      shared.delete(0, text.length);
      const written = text.slice(0, at) + next.insert + text.slice(at);
      if (written !== "") shared.insert(0, written);
    }
  });
}

function anchorAt(document: Y.Doc, start: number, end: number, revision: number): TextAnchor {
  const shared = document.getText(file);
  const text = shared.toString();
  const [first, last] = toCharacterIds(shared, [start, end - 1]);
  if (first === undefined || last === undefined) throw new Error("no character");
  const quote = text.slice(start, end);
  return { quote, ...contextOf(text, start, end), start, end, revision, state: "anchored", isMoved: false, first, last };
}

const history = fc.record({
  text: words(40),
  place: fc.tuple(share, fc.integer({ min: 1, max: 20 })),
  edits: fc.array(edit, { minLength: 1, maxLength: 8 }),
  /** After which edits the anchor is stored again, as after a commit. */
  stored: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
});

test("[RV3] an anchor with a place shows its quote there, after any edits, moves and rewritten texts", () => {
  const seen = { anchored: 0, moved: 0, orphaned: 0 };
  fc.assert(
    fc.property(history, ({ text, place: [at, length], edits, stored }) => {
      const document = new Y.Doc({ gc: false });
      document.clientID = 1;
      document.getText(file).insert(0, text);
      const start = Math.min(pointIn(text, at), text.length - 1);
      const from = /^[\udc00-\udfff]/.test(text.slice(start)) ? start - 1 : start;
      const end = Math.max(from + 1, pointIn(text, Math.min(1, (from + length) / text.length)));
      const to = /^[\udc00-\udfff]/.test(text.slice(end)) ? end + 1 : end;
      let anchor = anchorAt(document, from, to, 1);
      for (const [index, next] of edits.entries()) {
        apply(document, next, index + 2);
        const live = document.getText(file).toString();
        const placed = placeIn(document, file, index + 2, anchor);
        seen[placed.state] += 1;
        expect(placed.quote).toBe(anchor.quote);
        if (placed.state === "orphaned") {
          expect([placed.start, placed.end, placed.revision]).toEqual([anchor.start, anchor.end, anchor.revision]);
          continue;
        }
        expect(live.slice(placed.start, placed.end)).toBe(anchor.quote);
        expect(placed.revision).toBe(index + 2);
        if (anchor.isMoved) expect(placed.state).toBe("moved");
        if (stored[index] === true)
          anchor = { ...anchorAt(document, placed.start, placed.end, index + 2), state: placed.state, isMoved: placed.isMoved };
      }
    }),
    { numRuns: 2000 },
  );
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(50);
});

test("[RV4] edits outside the quote leave an anchor at exactly the characters that were chosen", () => {
  fc.assert(
    fc.property(
      words(20),
      words(3),
      words(20),
      fc.array(fc.record({ before: fc.boolean(), at: share, insert: words(4), remove: fc.nat(6) }), { maxLength: 6 }),
      (head, quote, tail, edits) => {
        const document = new Y.Doc({ gc: false });
        document.clientID = 1;
        const shared = document.getText(file);
        shared.insert(0, head + quote + tail);
        const anchor = anchorAt(document, head.length, head.length + quote.length, 1);
        let left = head;
        let right = tail;
        for (const [index, { before, at, insert, remove }] of edits.entries()) {
          document.clientID = index + 2;
          const side = before ? left : right;
          const from = pointIn(side, at);
          const end = Math.max(from, pointIn(side, Math.min(1, (from + remove) / Math.max(1, side.length))));
          const offset = before ? from : left.length + quote.length + from;
          document.transact(() => {
            shared.delete(offset, end - from);
            shared.insert(offset, insert);
          });
          const next = side.slice(0, from) + insert + side.slice(end);
          if (before) left = next;
          else right = next;
        }
        expect(placeIn(document, file, 2, anchor)).toMatchObject({
          start: left.length,
          end: left.length + quote.length,
          state: "anchored",
        });
      },
    ),
    { numRuns: 1000 },
  );
});

test("[RV5] after the whole text was written again, a quote is found by its context or not at all", () => {
  const text = Array.from({ length: 30 }, (_, at) => `Rule ${at}: item ${at * 7919} stays on disk.\n`).join("");
  const start = text.indexOf("stays on disk", text.indexOf("Rule 17"));
  const document = new Y.Doc({ gc: false });
  document.getText(file).insert(0, text);
  const anchor = anchorAt(document, start, start + 13, 1);
  const rewrite = (written: string) => {
    const shared = document.getText(file);
    shared.delete(0, shared.length);
    shared.insert(0, written);
    return placeIn(document, file, 2, anchor);
  };
  expect(rewrite(`# A title\n\n${text}`)).toMatchObject({ state: "anchored", start: start + 11 });
  const renamed = text.replace("Rule 17:", "The seventeenth rule:");
  expect(rewrite(renamed)).toMatchObject({ state: "moved", start: start + 13 });
  // The other rules have the same words, but their surroundings do not agree.
  expect(rewrite(text.replace(/Rule 17.*\n/, "Rule 17: nothing.\n"))).toMatchObject({ state: "orphaned", start, revision: 1 });
  // Every place agrees as well as the others.
  const before = text.slice(start - 32, start);
  expect(rewrite(`${before}stays on disk, ${before}stays on disk, `)).toMatchObject({ state: "orphaned" });
});

test("[RV4] ids of characters and offsets are converted as Yjs converts relative positions", () => {
  fc.assert(
    fc.property(words(20), fc.array(edit, { maxLength: 6 }), fc.array(share, { minLength: 1, maxLength: 5 }), (text, edits, places) => {
      const document = new Y.Doc({ gc: false });
      document.clientID = 1;
      const shared = document.getText(file);
      shared.insert(0, text);
      for (const [index, next] of edits.slice(0, 3).entries()) apply(document, next, index + 2);
      const { length } = shared;
      fc.pre(length > 0);
      const offsets = places.map((at) => Math.min(length - 1, Math.floor(at * length)));
      const ids = toCharacterIds(shared, offsets);
      const positions = offsets.map((offset) => Y.createRelativePositionFromTypeIndex(shared, offset));
      expect(ids.map(({ client, clock }) => [client, clock])).toEqual(positions.map(({ item }) => [item?.client, item?.clock]));
      for (const [index, next] of edits.slice(3).entries()) apply(document, next, index + 20);
      for (const [index, offset] of toOffsets(shared, ids).entries()) {
        const position = positions[index];
        if (offset === undefined || position === undefined) continue;
        expect(offset).toBe(Y.createAbsolutePositionFromRelativePosition(position, document)?.index);
      }
    }),
    { numRuns: 500 },
  );
});

test("[RV6] the search for many quotes finds the same places as one search for each", () => {
  const short = fc.string({ unit: fc.constantFrom("a", "b", "ab", "🙂"), maxLength: 200 });
  const quotes = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "🙂"), minLength: 1, maxLength: 70 }), { maxLength: 8 });
  fc.assert(
    fc.property(short, quotes, (text, wanted) => {
      const naive = wanted.map((quote) => {
        const starts: number[] = [];
        for (let at = text.indexOf(quote); at >= 0; at = text.indexOf(quote, at + 1)) starts.push(at);
        return starts;
      });
      expect(findPlaces(text, wanted, 1000).map(({ starts }) => starts)).toEqual(naive);
    }),
    { numRuns: 500 },
  );
});

test("[RV6] the places of 1,000 quotes in a text of 1 MB are found in a bounded time, also if hostile", () => {
  const sentence = (at: number) => `Sentence ${at} says that number ${at * 7919} is written to disk before it is sent. `;
  const text = Array.from({ length: 14_000 }, (_, at) => sentence(at)).join("");
  const quotes = Array.from({ length: 1000 }, (_, at) => {
    const start = text.indexOf(sentence(at * 14)) + 9;
    return { quote: text.slice(start, start + 30), ...contextOf(text, start, start + 30) };
  });
  const startedAt = performance.now();
  const places = placeQuotes(text, quotes);
  const naturalMs = performance.now() - startedAt;
  expect(places.every((place) => place?.state === "anchored")).toBe(true);
  const repeated = "ab".repeat(2 ** 19);
  const hostile = Array.from({ length: 1000 }, (_, at) => ({ quote: "ab".repeat(at + 1), prefix: "", suffix: "" }));
  const hostileAt = performance.now();
  placeQuotes(repeated, hostile);
  const hostileMs = performance.now() - hostileAt;
  // Measured: some 100 ms. The bound only ends a test that hangs: one search for each quote compares 10^12 characters.
  expect([naturalMs < 10_000, hostileMs < 20_000]).toEqual([true, true]);
});
