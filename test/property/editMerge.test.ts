/** Tests the promises of the text merge for any three texts. */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  applyOperations,
  carryHunks,
  carryOver as carryHunksOver,
  carryOperations,
  joinNearest,
  type TextOperation,
} from "../../server/domain/articles/merge.ts";
import { applyHunks, countLines, diffLines, diffTexts, type Hunk } from "../../server/domain/articles/textDiff.ts";
import { toRuns } from "../support/propertyRuns.ts";

const carryOver = (base: string, written: string, live: string): TextOperation[] => carryHunksOver(base, diffTexts(base, written), live);

/**
 * Few characters and many repeats, so that texts share pieces. Both kinds of line ends, astral characters, and scripts
 * without spaces.
 */
const piece = fc.constantFrom(
  "a",
  "b",
  "word",
  " ",
  "\n",
  "\r\n",
  "\r",
  "é",
  "\u0301",
  "🙂",
  "👩‍👩‍👧",
  "漢",
  "字",
  "ไทย",
  "**",
  "# ",
  "\u{10ffff}",
);
const text = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(""));

/** A base text and two edited versions of it. */
const edited = (base: string) =>
  fc
    .array(fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), remove: fc.integer({ min: 0, max: 8 }), insert: text }), {
      maxLength: 5,
    })
    .map((edits) => {
      let next = base;
      for (const { at, remove, insert } of edits) {
        const points = [...next];
        points.splice(Math.floor(at * points.length), remove, insert);
        next = points.join("");
      }
      return next;
    });
const three = text.chain((base) => fc.tuple(fc.constant(base), edited(base), edited(base)));

const isWellFormed = (value: string) => !/\p{Surrogate}/u.test(value);

test("[AR10] the hunks between two texts turn one into the other, ascend and never touch", () => {
  fc.assert(
    fc.property(text, text, fc.constantFrom(0, 5, 1000), (base, next, longFrom) => {
      const hunks = diffTexts(base, next, longFrom);
      expect(applyHunks(base, hunks)).toBe(next);
      for (const [at, hunk] of hunks.entries()) {
        const after = hunks[at + 1];
        if (after !== undefined) expect(after.start).toBeGreaterThan(hunk.end);
        expect(isWellFormed(hunk.text)).toBe(true);
        expect(isWellFormed(base.slice(hunk.start, hunk.end))).toBe(true);
      }
    }),
    { numRuns: toRuns(2000) },
  );
});

test("[AR10] a write based on the live text produces exactly the written text", () => {
  fc.assert(
    fc.property(text, text, (base, written) => {
      expect(applyOperations(base, carryOver(base, written, base))).toBe(written);
    }),
    { numRuns: toRuns(400) },
  );
});

test("[AR11] a merge removes only characters of the base, and keeps all text added after it", () => {
  fc.assert(
    fc.property(three, ([base, written, live]) => {
      const theirs = diffTexts(base, live);
      const inserted = insertedRanges(theirs);
      for (const { at, remove } of carryOver(base, written, live)) {
        for (const range of inserted) expect(at + remove <= range.start || at >= range.end).toBe(true);
      }
    }),
    { numRuns: toRuns(800) },
  );
});

test("[AR11] text inserted on both sides is in the result, each piece whole and in order", () => {
  fc.assert(
    fc.property(three, ([base, written, live]) => {
      const mine = diffTexts(base, written);
      const theirs = diffTexts(base, live);
      const merged = applyOperations(live, carryOver(base, written, live));
      const sameAsTheirs = (hunk: Hunk) =>
        theirs.some((other) => other.start === hunk.start && other.end === hunk.end && other.text === hunk.text);
      const own = mine.filter((hunk) => !sameAsTheirs(hunk));
      for (const side of [own, theirs]) {
        let from = 0;
        for (const { text: piece } of side) {
          const found = merged.indexOf(piece, from);
          expect(found).toBeGreaterThanOrEqual(0);
          from = found + piece.length;
        }
      }
      const grown = own.reduce((sum, hunk) => sum + hunk.text.length, 0);
      const removed = merged.length - live.length - grown;
      expect(removed).toBeLessThanOrEqual(0);
      expect(-removed).toBeLessThanOrEqual(own.reduce((sum, hunk) => sum + hunk.end - hunk.start, 0));
    }),
    { numRuns: toRuns(800) },
  );
});

test("[AR12] the same change on both sides counts once, so a repeated write changes nothing", () => {
  fc.assert(
    fc.property(three, ([base, written]) => {
      expect(carryOver(base, written, written)).toEqual([]);
    }),
    { numRuns: toRuns(400) },
  );
});

test("[AR11] a write without a change leaves the live text unchanged", () => {
  fc.assert(
    fc.property(three, ([base, , live]) => {
      expect(carryOver(base, base, live)).toEqual([]);
    }),
    { numRuns: toRuns(200) },
  );
});

test("[AR10] operations ascend, do not overlap and never split a surrogate pair", () => {
  fc.assert(
    fc.property(three, ([base, written, live]) => {
      const operations = carryOver(base, written, live);
      let from = 0;
      for (const { at, insert, remove } of operations) {
        expect(at).toBeGreaterThanOrEqual(from);
        from = at + remove;
        expect(isWellFormed(insert)).toBe(true);
        expect(isWellFormed(live.slice(0, at))).toBe(true);
        expect(isWellFormed(live.slice(at, from))).toBe(true);
      }
      expect(from).toBeLessThanOrEqual(live.length);
      expect(isWellFormed(applyOperations(live, operations))).toBe(true);
    }),
    { numRuns: toRuns(800) },
  );
});

test("[AR20] operations moved onto a newer text remove no newer text and lose none of their own", () => {
  fc.assert(
    fc.property(three, text, ([base, written, planned], typed) => {
      const operations = carryOver(base, written, planned);
      expect(carryOperations(operations, planned, planned)).toEqual(operations);
      const now = applyOperations(planned, carryOver(base, typed, planned));
      const inserted = insertedRanges(diffTexts(planned, now));
      let from = 0;
      let result = "";
      for (const { at, remove, insert } of carryOperations(operations, planned, now)) {
        expect(at).toBeGreaterThanOrEqual(from);
        for (const range of inserted) expect(at + remove <= range.start || at >= range.end).toBe(true);
        result += insert;
        from = at + remove;
      }
      expect(from).toBeLessThanOrEqual(now.length);
      const theirs = diffTexts(planned, now).map((hunk) => JSON.stringify(hunk));
      const own = operations.filter(
        ({ at, remove, insert }) => !theirs.includes(JSON.stringify({ start: at, end: at + remove, text: insert })),
      );
      expect(result).toBe(own.map(({ insert }) => insert).join(""));
    }),
    { numRuns: toRuns(800) },
  );
});

test("[AR21] operations joined into any number of places give the same text", () => {
  fc.assert(
    fc.property(three, fc.integer({ min: 1, max: 5 }), ([base, written, live], maxPlaces) => {
      const operations = carryOver(base, written, live);
      const joined = joinNearest(live, operations, maxPlaces);
      expect(joined.length).toBeLessThanOrEqual(maxPlaces);
      expect(applyOperations(live, joined)).toBe(applyOperations(live, operations));
    }),
    { numRuns: toRuns(800) },
  );
});

test("[CO6] counted lines agree with the number of lines", () => {
  fc.assert(
    fc.property(text, text, (base, next) => {
      const { added, removed } = countLines(diffLines(base, next));
      expect(lineCount(next) - lineCount(base)).toBe(added - removed);
      expect(added + removed === 0).toBe(base === next);
    }),
    { numRuns: toRuns(400) },
  );
});

test("[AR13] unrelated texts, and long texts with thousands of edits, merge within bounded steps", () => {
  const lines = Array.from({ length: 30_000 }, (_, at) => `line ${at % 977} of a text that repeats itself ${at % 13}\n`);
  const base = lines.join("");
  const written = lines.map((line, at) => (at % 7 === 0 ? `${line.trim()} changed\n` : line)).join("");
  const live = lines
    .map((line, at) => (at % 11 === 0 ? `typed ${line}` : line))
    .reverse()
    .join("");
  const startedAt = process.cpuUsage();
  expect(applyOperations(base, carryOver(base, written, base))).toBe(written);
  const merged = applyOperations(live, carryOver(base, written, live));
  expect(merged.split("typed ").length).toBe(live.split("typed ").length);
  // Every line differs between the two texts. Lines with the same start are still recognised as the same line.
  const everywhere = lines.map((line, at) => `${at} ${line}`).join("");
  const typed = everywhere.replace("500 line", "500 long line");
  const merge = (from: string, to: string) => applyOperations(to, carryOver(everywhere, from, to));
  expect(merge(`new\n${everywhere.replaceAll("text", "book")}`, typed)).toBe(`new\n${typed.replaceAll("text", "book")}`);
  const noise = (seed: number) => Array.from({ length: 200_000 }, (_, at) => "ab\n c"[(at * seed * 7919) % 5]).join("");
  expect(applyHunks(noise(3), diffTexts(noise(3), noise(11)))).toBe(noise(11));
  // Without a limit, the last pair alone would take minutes.
  expect(process.cpuUsage(startedAt).user / 1000).toBeLessThan(20_000);
});

test("[AR11] two insertions at one place are both kept, and an edit goes around a rewritten phrase", () => {
  const carry = (base: string, written: string, live: string) => applyOperations(live, carryOver(base, written, live));
  expect(carry("list\n", "list\nmine\n", "list\ntheirs\n")).toBe("list\ntheirs\nmine\n");
  expect(carry("one two three", "one 2 three", "one two three four")).toBe("one 2 three four");
  expect(carry("one two three", "one three", "one two big three")).toBe("one big three");
  expect(carry("# Title\n\nold text\n", "# Title\n\n", "# Title\n\nold new text\n")).toBe("# Title\n\nnew \n".replace(" \n", " "));
  expect(carry("cat", "dog", "cow")).toBe("cowdog");
  expect(carryHunks([{ start: 1, end: 1, text: "X" }], [{ start: 1, end: 2, text: "C" }])).toEqual([{ at: 1, insert: "X", remove: 0 }]);
});

function insertedRanges(hunks: readonly Hunk[]): { start: number; end: number }[] {
  let shift = 0;
  return hunks.map(({ start, end, text }) => {
    const range = { start: start + shift, end: start + shift + text.length };
    shift += text.length - (end - start);
    return range;
  });
}

function lineCount(value: string): number {
  return value === "" ? 0 : value.split("\n").length - (value.endsWith("\n") ? 1 : 0);
}
