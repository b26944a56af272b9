import { expect, it } from "vitest";
import { defaultLimits } from "../../../api/limits.ts";
import { createMemoryStorage } from "../../platform/storage/memoryStorage.ts";
import type { IndexKey, IndexScan } from "../../platform/storage/port.ts";
import { defineRecord } from "../../platform/storage/recordType.ts";
import { createPager } from "./paging.ts";

interface Item {
  readonly id: string;
  readonly at: number;
  readonly words: readonly string[];
}

const itemRecord = defineRecord<Item>({
  name: "item",
  version: 1,
  partitionOf: () => 0,
  keyOf: ({ id }) => id,
  indexes: ({ id, at, words }) => words.map((word): IndexKey => ["word", word, at, id]),
});

const count = 3000;
const lists: readonly [IndexKey, ...IndexKey[]] = [
  ["word", "common"],
  ["word", "rare"],
];

/** Items of which all have the one word and every hundredth has the other; pages of four items. */
async function fixture() {
  const storage = createMemoryStorage({ now: () => 1_763_683_200_000 });
  for (let at = 0; at < count; at += 1) {
    const value = { id: `item-${String(at).padStart(4, "0")}`, at, words: at % 100 === 0 ? ["common", "rare"] : ["common"] };
    await storage.commit({ partition: 0, records: [{ op: "put", type: itemRecord, value, replacing: null }] });
  }
  const limits = { ...defaultLimits, "list.limitDefault": 4 };
  const pager = createPager({ storage, pageKey: new Uint8Array(32).fill(7), limits });
  let read = 0;
  const scan = async (options: IndexScan) => {
    const rows = await storage.index.scan(options);
    read += rows.length;
    return rows;
  };
  const page = (reverse: boolean, prefix: typeof lists, nextToken?: string) =>
    pager.page<Item>({
      scope: "items",
      partition: 0,
      prefix: { anyOf: prefix },
      reverse,
      nextToken,
      index: { scan },
      load: async (keys) => (await storage.records.getMany(itemRecord, keys)).map((stored) => stored?.value),
      keep: ({ words }) => words.includes("rare"),
    });
  return { page, rowsRead: () => read };
}

const wanted = Array.from({ length: count / 100 }, (_, at) => at * 100);

it("[AR2] a search for two words reads the list of the rarer word, whichever comes first", async () => {
  for (const prefix of [lists, [lists[1], lists[0]]] as (typeof lists)[]) {
    const { page, rowsRead } = await fixture();
    const { items } = await page(true, prefix);
    expect(items.map(({ at }) => at)).toEqual(wanted.toReversed().slice(0, 4));
    // The samples of both lists, and the page; the list of the common word would need 400 rows.
    expect(rowsRead()).toBeLessThan(200);
  }
});

it("[AR2] all pages of a search for two words return every item once, in either direction", async () => {
  const { page } = await fixture();
  for (const reverse of [true, false]) {
    const found: number[] = [];
    let nextToken: string | undefined;
    do {
      const { items, ...rest } = await page(reverse, lists, nextToken);
      found.push(...items.map(({ at }) => at));
      nextToken = rest.nextToken;
    } while (nextToken !== undefined);
    expect(found).toEqual(reverse ? wanted.toReversed() : wanted);
  }
});
