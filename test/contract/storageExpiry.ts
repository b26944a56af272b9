/** Tests the rows by which records expire, and their housekeeping. */
import { describe, expect, test } from "vitest";
import { createHousekeeping, housekeepingKinds } from "../../server/platform/storage/housekeeping.ts";
import type { ClaimedRow, Storage, Stored } from "../../server/platform/storage/port.ts";
import { createRecordTypes } from "../../server/platform/storage/recordType.ts";
import { claimAll, createClock, partition, startMs } from "./storageDueRows.ts";
import { batch, type Item, itemType, put, remove, type WithStorage } from "./storageTypes.ts";

export function expiryTests(withStorage: WithStorage): void {
  describe("expiry", () => {
    const keep = (storage: Storage) => createHousekeeping(storage, createRecordTypes([itemType]));

    test("[ST8] a record with an expiry has a row that deletes it and its index rows then", () => {
      const clock = createClock();
      return withStorage(async (storage) => {
        const house = keep(storage);
        await storage.commit(
          batch(partition, { records: [put({ id: "40/a", expiresAtMs: startMs + 100, keys: [["k"]], groups: ["g"], name: "n" })] }),
        );
        expect(await storage.due.get(partition, "expire/item/40/a")).toMatchObject({
          kind: "record.expire",
          dueAtMs: startMs + 100,
          payload: { type: "item", key: "40/a" },
        });
        expect(await claimAll(storage)).toEqual([]);
        clock.advance(100);
        const [due] = (await claimAll(storage)) as [ClaimedRow];
        expect(housekeepingKinds).toContain(due.kind);
        await house(due);
        await house(due);
        expect(await storage.records.get(itemType, "40/a")).toBeUndefined();
        expect(await storage.index.scan({ partition, prefix: ["item"], limit: 5 })).toEqual([]);
        expect(await storage.counts.get(partition, [["group", "g"]])).toEqual([0]);
        expect(await storage.due.stats()).toEqual({ rows: 0 });
        expect((await storage.commit(batch(partition, { records: [put({ id: "40/b", name: "n" })] }))).ok).toBe(true);
      }, clock);
    });

    test("[ST8] the expiry moves or disappears with the record's value", () => {
      const clock = createClock();
      return withStorage(async (storage) => {
        const house = keep(storage);
        await storage.commit(batch(partition, { records: [put({ id: "40/a", expiresAtMs: startMs + 10 })] }));
        clock.advance(10);
        const [early] = (await claimAll(storage)) as [ClaimedRow];
        const first = (await storage.records.get(itemType, "40/a")) as Stored<Item>;
        await storage.commit(batch(partition, { records: [put({ id: "40/a", expiresAtMs: startMs + 500 }, first)] }));
        await house(early);
        expect(await storage.records.get(itemType, "40/a")).toBeDefined();
        expect(await storage.due.get(partition, "expire/item/40/a")).toMatchObject({ dueAtMs: startMs + 500 });
        const second = (await storage.records.get(itemType, "40/a")) as Stored<Item>;
        await storage.commit(batch(partition, { records: [put({ id: "40/a" }, second)] }));
        expect(await storage.due.stats()).toEqual({ rows: 0 });
        const third = (await storage.records.get(itemType, "40/a")) as Stored<Item>;
        await storage.commit(batch(partition, { records: [put({ id: "40/a", expiresAtMs: startMs + 900 }, third)] }));
        const fourth = (await storage.records.get(itemType, "40/a")) as Stored<Item>;
        await storage.commit(batch(partition, { records: [remove(fourth)] }));
        expect(await storage.due.stats()).toEqual({ rows: 0 });
      }, clock);
    });
  });

  describe("expiry, read by a later version of the server", () => {
    test.each([
      ["later", (item: Item) => (item.expiresAtMs ?? 0) + 500, startMs + 510],
      ["never", () => undefined, undefined],
    ])("[ST8] a record that now ends %s is kept, and its row follows", (_name, expiresAtMs, dueAtMs) => {
      const clock = createClock();
      return withStorage(async (storage) => {
        await storage.commit(batch(partition, { records: [put({ id: "40/a", expiresAtMs: startMs + 10 })] }));
        clock.advance(10);
        const [due] = (await claimAll(storage)) as [ClaimedRow];
        await createHousekeeping(storage, createRecordTypes([{ ...itemType, expiresAtMs }]))(due);
        expect(await storage.records.get(itemType, "40/a")).toBeDefined();
        expect((await storage.due.get(partition, due.id))?.dueAtMs).toBe(dueAtMs);
      }, clock);
    });
  });
}
