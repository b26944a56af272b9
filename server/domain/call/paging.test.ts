import { describe, expect, it } from "vitest";
import { defaultLimits } from "../../../api/limits.ts";
import { createMemoryStorage } from "../../platform/storage/memoryStorage.ts";
import { defineRecord } from "../../platform/storage/recordType.ts";
import { createPager, type PageRequest } from "./paging.ts";

interface Item {
  readonly id: string;
  readonly partition: number;
  readonly at: number;
}

const itemRecord = defineRecord<Item>({
  name: "item",
  version: 1,
  partitionOf: (key) => Number(key.split(":")[0]),
  keyOf: (item) => `${item.partition}:${item.id}`,
  indexes: (item) => [["byTime", "ws", item.at, item.id]],
});

async function fixture(count: number, options: { partitions?: number; scan?: number } = {}) {
  let nowMs = 1_763_683_200_000;
  const storage = createMemoryStorage({ now: () => nowMs });
  const limits = { ...defaultLimits, "list.scan": options.scan ?? 2000, "list.limitDefault": 4, "list.limitMax": 100 };
  for (let at = 0; at < count; at += 1) {
    const partition = at % (options.partitions ?? 1);
    const value = { id: `item-${String(at).padStart(4, "0")}`, partition, at: Math.floor(at / 3) };
    await storage.commit({ partition, records: [{ op: "put", type: itemRecord, value, replacing: null }] });
  }
  const pager = createPager({ storage, pageKey: new Uint8Array(32).fill(7), limits });
  const request = (more: Partial<PageRequest<Item>> = {}): PageRequest<Item> => ({
    scope: "items",
    partition: 0,
    prefix: ["byTime", "ws"],
    reverse: true,
    load: async (keys) => (await storage.records.getMany(itemRecord, keys)).map((stored) => stored?.value),
    ...more,
  });
  async function walk(more: Partial<PageRequest<Item>> = {}) {
    const pages: number[][] = [];
    let nextToken: string | undefined;
    do {
      const page = await pager.page(request({ ...more, nextToken }));
      pages.push(page.items.map((item) => Number(item.id.slice(5))));
      nextToken = page.nextToken;
    } while (nextToken !== undefined && pages.length < 1000);
    return pages;
  }
  return { storage, pager, request, walk, advance: (ms: number) => (nowMs += ms) };
}

const down = (from: number, to = 0) => Array.from({ length: from - to }, (_, at) => from - 1 - at);

describe("pager", () => {
  it("[API16] a list returns every item once, newest first, and its last page has no token", async () => {
    for (const count of [0, 1, 3, 4, 5, 8, 11]) {
      const { walk } = await fixture(count);
      const pages = await walk();
      expect(pages.flat()).toEqual(down(count));
      expect(pages).toHaveLength(Math.max(1, Math.ceil(count / 4)));
    }
  });

  it("[API16] a list can also be walked oldest first", async () => {
    const { walk } = await fixture(9);
    expect(await walk({ reverse: false })).toEqual([[0, 1, 2, 3], [4, 5, 6, 7], [8]]);
  });

  it("[API16] the items of all partitions are merged into one order", async () => {
    const { walk } = await fixture(23, { partitions: 7 });
    expect((await walk({ partition: [0, 1, 2, 3, 4, 5, 6] })).flat()).toEqual(down(23));
  });

  it("[API16] a filter keeps pages full, and deleted rows are skipped", async () => {
    const { walk, storage } = await fixture(300);
    const gone = await storage.records.get(itemRecord, "0:item-0297");
    const pages = await walk({
      keep: (item) => item.at % 2 === 1,
      load: async (keys) =>
        (await storage.records.getMany(itemRecord, keys)).map((stored) =>
          stored?.value.id === gone?.value.id ? undefined : stored?.value,
        ),
    });
    const expected = down(300).filter((at) => Math.floor(at / 3) % 2 === 1 && at !== 297);
    expect(pages.flat()).toEqual(expected);
    for (const page of pages.slice(0, -1)) expect(page).toHaveLength(4);
  });

  it("[API16] a request scans at most list.scan rows and returns a shorter page with a token", async () => {
    const { walk, pager, request } = await fixture(50, { scan: 20 });
    const first = await pager.page(request({ keep: (item) => item.at === 0 }));
    expect([first.items, typeof first.nextToken]).toEqual([[], "string"]);
    expect((await walk({ keep: (item) => item.at === 0 })).flat()).toEqual([2, 1, 0]);
  });

  it("[API16] items that appear or disappear between pages shift no other item", async () => {
    const { pager, request, storage } = await fixture(9);
    const first = await pager.page(request());
    const value = { id: "item-9999", partition: 0, at: 99 };
    await storage.commit({ partition: 0, records: [{ op: "put", type: itemRecord, value, replacing: null }] });
    const last = await storage.records.get(itemRecord, "0:item-0005");
    if (last !== undefined) await storage.commit({ partition: 0, records: [{ op: "delete", type: itemRecord, replacing: last }] });
    const second = await pager.page(request({ nextToken: first.nextToken }));
    expect(second.items.map((item) => item.id)).toEqual(["item-0004", "item-0003", "item-0002", "item-0001"]);
  });

  it("[API16] a token is valid only for its own list, unchanged, and for a limited time", async () => {
    const { pager, request, advance } = await fixture(9);
    const { nextToken = "" } = await pager.page(request());
    const refused = { code: "invalid_next_token" };
    await expect(pager.page(request({ nextToken, scope: "items?q=x" }))).rejects.toMatchObject(refused);
    await expect(pager.page(request({ nextToken, partition: 1 }))).rejects.toMatchObject(refused);
    await expect(pager.page(request({ nextToken, prefix: ["byTime", "other"] }))).rejects.toMatchObject(refused);
    await expect(pager.page(request({ nextToken, reverse: false }))).rejects.toMatchObject(refused);
    for (const token of [
      "",
      "x",
      nextToken.slice(1),
      `${nextToken}=`,
      `${nextToken} `,
      nextToken.replace(/.$/, (last) => (last === "A" ? "B" : "A")),
      "ä".repeat(40),
    ]) {
      await expect(pager.page(request({ nextToken: token })), token).rejects.toMatchObject(refused);
    }
    const other = createPager({ storage: (await fixture(0)).storage, pageKey: new Uint8Array(32).fill(8), limits: defaultLimits });
    await expect(other.page(request({ nextToken }))).rejects.toMatchObject(refused);
    advance(defaultLimits["keep.nextToken"]);
    await expect(pager.page(request({ nextToken }))).rejects.toMatchObject(refused);
  });

  describe("of several lists", () => {
    interface Colored {
      readonly id: string;
      readonly color: string;
      readonly at: number;
    }
    const coloredRecord = defineRecord<Colored>({
      name: "colored",
      version: 1,
      partitionOf: () => 3,
      keyOf: (item) => item.id,
      indexes: (item) => [["byColor", item.color, item.at, item.id]],
    });
    const colors = ["red", "green", "blue", "grey"] as const;

    async function colored(count: number, scan = 2000) {
      const storage = createMemoryStorage();
      let rowsRead = 0;
      const index = {
        async scan(options: Parameters<typeof storage.index.scan>[0]) {
          const rows = await storage.index.scan(options);
          rowsRead += rows.length;
          return rows;
        },
      };
      const all: Colored[] = [];
      for (let at = 0; at < count; at += 1) {
        // The id orders equal values of different lists. One list is much longer than the others.
        const value = {
          id: `c${String((at * 7919) % 100_003)}`,
          color: colors[at % 13 < 9 ? 0 : at % 4] as string,
          at: Math.floor(at / 5),
        };
        all.push(value);
        await storage.commit({ partition: 3, records: [{ op: "put", type: coloredRecord, value, replacing: null }] });
      }
      const pager = createPager({
        storage: { ...storage, index },
        pageKey: new Uint8Array(32).fill(7),
        limits: { ...defaultLimits, "list.scan": scan },
      });
      async function walk(groups: readonly (readonly string[])[], more: Partial<PageRequest<Colored>> = {}) {
        const found: string[] = [];
        const reads: number[] = [];
        let nextToken: string | undefined;
        do {
          rowsRead = 0;
          const page = await pager.page<Colored>({
            scope: "colored",
            partition: 3,
            prefix: { groups: groups.map((group) => group.map((color) => ["byColor", color] as const)) },
            limit: 7,
            load: async (keys) => (await storage.records.getMany(coloredRecord, keys)).map((stored) => stored?.value),
            ...more,
            nextToken,
          });
          found.push(...page.items.map((item) => item.id));
          reads.push(rowsRead);
          nextToken = page.nextToken;
        } while (nextToken !== undefined);
        return { found, reads };
      }
      const expected = (group: readonly string[], reverse: boolean, keep: (item: Colored) => boolean = () => true) =>
        all
          .filter((item) => group.includes(item.color) && keep(item))
          .sort((a, b) => (reverse ? -1 : 1) * (a.at - b.at || (a.id < b.id ? -1 : 1)))
          .map((item) => item.id);
      return { walk, expected };
    }

    it("[API16] several lists are merged into one order, group after group, in both directions", async () => {
      const { walk, expected } = await colored(300);
      for (const reverse of [false, true]) {
        const { found } = await walk([["red", "blue", "green"], ["none"], ["grey"]], { reverse });
        expect(found).toEqual([...expected(["red", "blue", "green"], reverse), ...expected(["grey"], reverse)]);
      }
    });

    it("[API16] merging reads at most one page of each list", async () => {
      const { walk } = await colored(900);
      const { reads } = await walk([["red", "green", "blue", "grey"]], { reverse: true });
      expect(Math.max(...reads)).toBeLessThanOrEqual(4 * 8);
    });

    it("[API16] bounds on the sort key are inclusive in both directions", async () => {
      const { walk, expected } = await colored(200);
      const within = { from: 11, to: 24 };
      for (const reverse of [false, true]) {
        const { found } = await walk([["red", "grey"]], { reverse, within });
        expect(found).toEqual(expected(["red", "grey"], reverse, ({ at }) => at >= 11 && at <= 24));
        expect(found.length).toBeGreaterThan(20);
      }
    });

    it("[API16] merging with a filter and a small list.scan loses and repeats nothing", async () => {
      const { walk, expected } = await colored(300, 9);
      const keep = ({ at }: Colored) => at % 3 === 0;
      const { found, reads } = await walk(
        [
          ["red", "green"],
          ["blue", "grey"],
        ],
        { keep, reverse: true },
      );
      expect(found).toEqual([...expected(["red", "green"], true, keep), ...expected(["blue", "grey"], true, keep)]);
      expect(Math.max(...reads)).toBeLessThanOrEqual(9 + 2);
    });
  });

  it("[API16] a limit above list.limitMax is refused", async () => {
    const { pager, request } = await fixture(1);
    await expect(pager.page(request({ limit: 101 }))).rejects.toMatchObject({
      code: "validation_failed",
      facts: { errors: [{ pointer: "/limit" }] },
    });
    expect((await pager.page(request({ limit: 100 }))).items).toHaveLength(1);
  });
});
