/** Tests index rows: order, prefixes, paging in both directions, unusual text and unusual numbers. */
import { describe, expect, test } from "vitest";
import type { IndexKey, IndexRow, Storage, Stored } from "../../server/platform/storage/port.ts";
import { batch, type Item, itemType, put, type WithStorage } from "./storageTypes.ts";

const partition = 20;

async function readAll(storage: Storage, prefix: IndexKey, limit: number, reverse: boolean): Promise<readonly IndexRow[]> {
  const rows: IndexRow[] = [];
  for (;;) {
    const last = rows.at(-1);
    const page = await storage.index.scan({ partition, prefix, limit, reverse, ...(last === undefined ? {} : { after: last.key }) });
    expect(page.length).toBeLessThanOrEqual(limit);
    rows.push(...page);
    if (page.length < limit) return rows;
  }
}

/** Compares code points in order, shorter text first. It does not use the store's own key code. */
const odd = [
  "",
  "\u0000",
  "\u0000\u0000",
  "\u0000a",
  "\u0001",
  "\u0001\u0002",
  "\u0002",
  " ",
  "!",
  "a",
  "a\u0000",
  "a\u0000b",
  "a\u0001",
  "a!",
  "ab",
  "abc",
  "b",
  "n",
  "s",
  "~",
  "\u007f",
  "\u0080",
  "ä",
  "ÿ",
  "Ā",
  "\u07ff",
  "\u0800",
  "\ud7ff",
  "\ud800",
  "\ud800a",
  "\udbff",
  "\udfff",
  "\ue000",
  "\ufffd",
  "\uffff",
  "\u{10000}",
  "😀",
  "😀a",
  "\u{10ffff}",
];

const numbers = [
  -1.79e308,
  -1e308,
  -(2 ** 53),
  -1000,
  -10.5,
  -10,
  -2,
  -1,
  -0.5,
  -5e-324,
  0,
  5e-324,
  0.1,
  0.5,
  1,
  1.5,
  2,
  9,
  10,
  10.25,
  100,
  2 ** 31,
  1.7e12,
  2 ** 53,
  1e308,
  1.79e308,
];

export function indexTests(withStorage: WithStorage): void {
  describe("indexes", () => {
    const cases: [string, readonly (string | number)[]][] = [
      ["texts by code point", odd],
      ["numbers by value", numbers],
      ["numbers before texts", [...numbers, ...odd]],
    ];
    test.each(cases)("[ST5] pages in both directions contain every row once, in order: %s", (_name, parts) =>
      withStorage(async (storage) => {
        const items = parts.map((part, at) => put({ id: `20/${at}`, keys: [[part]] }));
        await storage.commit(batch(partition, { records: [...items].sort(() => Math.random() - 0.5) }));
        const expected = parts.map((part, at) => ({ key: ["item", part, `20/${at}`], target: `20/${at}` }));
        for (const limit of [1, 3, 1000]) {
          expect(await readAll(storage, ["item"], limit, false)).toEqual(expected);
          expect(await readAll(storage, ["item"], limit, true)).toEqual([...expected].reverse());
        }
        for (const [at, part] of parts.entries()) {
          expect(await storage.index.scan({ partition, prefix: ["item", part], limit: 5 })).toEqual([expected[at]]);
        }
      }),
    );

    test("[ST5] a prefix never matches a sibling that begins with the same letters or digits", () =>
      withStorage(async (storage) => {
        const keys: Item["keys"] = [
          ["a", "b"],
          ["a", "bc"],
          ["ab"],
          ["a"],
          ["a", ""],
          ["", "ab"],
          ["a\u0000", "b"],
          ["a", 1],
          ["a", 10],
          [1, "a"],
          [10],
          [1],
        ];
        await storage.commit(
          batch(partition, { records: keys.map((key, at) => put({ id: `20/${String(at).padStart(2, "0")}`, keys: [key] })) }),
        );
        const under = async (...prefix: (string | number)[]) =>
          (await storage.index.scan({ partition, prefix: ["item", ...prefix], limit: 50 })).map(({ key }) => key.slice(1, -1));
        expect(await under("a")).toEqual([["a", 1], ["a", 10], ["a", ""], ["a"], ["a", "b"], ["a", "bc"]]);
        expect(await under("a", "b")).toEqual([["a", "b"]]);
        expect(await under("a", 1)).toEqual([["a", 1]]);
        expect(await under(1)).toEqual([[1], [1, "a"]]);
        expect(await under("")).toEqual([["", "ab"]]);
        expect(await storage.index.scan({ partition, prefix: ["ite"], limit: 5 })).toEqual([]);
        expect(await storage.index.scan({ partition: partition + 1, prefix: ["item"], limit: 5 })).toEqual([]);
      }));

    test("[ST5] a page may start after a key without a row, and stays inside its prefix", () =>
      withStorage(async (storage) => {
        await storage.commit(batch(partition, { records: [1, 2, 3].map((n) => put({ id: `20/${n}`, keys: [["l", n]] })) }));
        await storage.commit(batch(partition, { records: [put({ id: "20/9", keys: [["m", 0]] })] }));
        const targets = async (after: IndexKey, reverse = false) =>
          (await storage.index.scan({ partition, prefix: ["item", "l"], after, reverse, limit: 9 })).map((row) => row.target);
        expect(await targets(["item", "l", 1.5])).toEqual(["20/2", "20/3"]);
        expect(await targets(["item", "l", 1.5], true)).toEqual(["20/1"]);
        expect(await targets(["item", "k"])).toEqual(["20/1", "20/2", "20/3"]);
        expect(await targets(["item", "k"], true)).toEqual([]);
        expect(await targets(["item", "z"])).toEqual([]);
        expect(await targets(["item", "z"], true)).toEqual(["20/3", "20/2", "20/1"]);
        expect(await targets(["item", "l", 2])).toEqual(["20/2", "20/3"]);
        expect(await targets(["item", "l", 2], true)).toEqual(["20/1"]);
      }));

    test("[ST5] index rows follow each write of their record", () =>
      withStorage(async (storage) => {
        const rows = () => storage.index.scan({ partition, prefix: ["item"], limit: 9 });
        await storage.commit(batch(partition, { records: [put({ id: "20/a", keys: [["x"], ["y"], ["x"]] })] }));
        expect((await rows()).map(({ key }) => key[1])).toEqual(["x", "y"]);
        const first = (await storage.records.get(itemType, "20/a")) as Stored<Item>;
        await storage.commit(batch(partition, { records: [put({ id: "20/a", keys: [["y"], ["z"]] }, first)] }));
        expect((await rows()).map(({ key }) => key[1])).toEqual(["y", "z"]);
        const second = (await storage.records.get(itemType, "20/a")) as Stored<Item>;
        await storage.commit(batch(partition, { records: [{ op: "delete", type: itemType, replacing: second }] }));
        expect(await rows()).toEqual([]);
      }));
  });
}
