import fc from "fast-check";
import { expect, test } from "vitest";
import { applyChanges, type KeyRange, type KeyValueReader } from "../keyValue.ts";
import { StagedMap } from "./stagedMap.ts";

/** Reads all keys for each range. */
function toReader(map: ReadonlyMap<string, string>): KeyValueReader {
  return {
    get: (key) => map.get(key),
    keys({ start, end, reverse = false, limit = Number.POSITIVE_INFINITY }) {
      const found = [...map.keys()].filter((key) => key >= start && key < end).sort();
      return (reverse ? found.reverse() : found).slice(0, limit);
    },
  };
}

const key = fc.constantFrom("a", "aa", "ab", "b", "ba", "c", "d");
const value = fc.constantFrom("1", "2", null);
const range = fc.record(
  { start: key, end: key, reverse: fc.boolean(), limit: fc.nat(4) },
  { requiredKeys: ["start", "end"] },
) as fc.Arbitrary<KeyRange>;

test("[ST1] the jobs of one transaction read the stored state with the changes of earlier jobs", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(key, fc.constantFrom("0", "9"))),
      fc.array(fc.tuple(key, value)),
      fc.array(range),
      (stored, changes, ranges) => {
        const staged = new StagedMap(toReader(new Map<string, string>(stored)));
        const expected = new Map<string, string>(stored);
        for (const change of changes) {
          applyChanges(staged, [change]);
          if (change[1] === null) expected.delete(change[0]);
          else expected.set(change[0], change[1]);
        }
        for (const name of ["a", "aa", "ab", "b", "ba", "c", "d"]) expect(staged.get(name)).toBe(expected.get(name));
        for (const each of ranges) expect(staged.keys(each)).toEqual(toReader(expected).keys(each));
      },
    ),
  );
});

test("[ST1] a transaction writes each changed key once, and nothing after it was cleared", async () => {
  const written: (readonly [string, string | Uint8Array | null])[] = [];
  const db = {
    put: async (name: string, text: string | Uint8Array) => written.push([name, text]) > 0,
    remove: async (name: string) => written.push([name, null]) > 0,
    batch: async (work: () => void) => {
      work();
      return true;
    },
  };
  const staged = new StagedMap(toReader(new Map([["c", "0"]])));
  staged.put("a", "1");
  staged.putBytes("b", Uint8Array.of(1));
  staged.delete("c");
  staged.put("a", "2");
  await staged.write(db);
  expect(written.splice(0)).toEqual([
    ["a", "2"],
    ["b", Uint8Array.of(1)],
    ["c", null],
  ]);
  staged.clear();
  expect([staged.isEmpty, staged.get("a"), staged.get("c")]).toEqual([true, undefined, "0"]);
  expect(() => staged.put("k".repeat(1979), "1")).toThrow(RangeError);
});
