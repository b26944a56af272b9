/** Tests blobs: they are addressed by content, counted by the records that name them, and removed by due rows. */
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createHousekeeping } from "../../server/platform/storage/housekeeping.ts";
import { type ClaimedRow, partitionCount, type Storage, type Stored } from "../../server/platform/storage/port.ts";
import { createRecordTypes } from "../../server/platform/storage/recordType.ts";
import { batch, bytes, type Item, itemType, put, remove, type WithStorage } from "./storageTypes.ts";

const partition = 50;
const hourMs = 3_600_000;
const partitions = Array.from({ length: partitionCount }, (_, at) => at);

function createClock() {
  let nowMs = 1_900_000_000_000;
  return { now: () => nowMs, advance: (ms: number) => (nowMs += ms) };
}

/** Claims and executes all due rows; returns their number. */
async function keepHouse(storage: Storage): Promise<number> {
  const house = createHousekeeping(storage, createRecordTypes([itemType]));
  const rows = await storage.due.claim({ partitions, limit: 100, leaseMs: 1000 });
  for (const row of rows) await house(row);
  return rows.length;
}

const current = async (storage: Storage, id: string) => (await storage.records.get(itemType, id)) as Stored<Item>;

export function blobTests(withStorage: WithStorage): void {
  describe("blobs", () => {
    test("[ST16] a blob is found by the SHA-256 of its bytes, only in its partition", () =>
      withStorage(async (storage) => {
        for (const content of [bytes("hello"), new Uint8Array(0), Uint8Array.from({ length: 1_500_000 }, (_, at) => at % 256)]) {
          const sha256 = await storage.blobs.put(partition, content);
          expect(sha256).toBe(createHash("sha256").update(content).digest("hex"));
          expect(await storage.blobs.put(partition, content)).toBe(sha256);
          const found = await storage.blobs.get(partition, sha256);
          expect(found !== undefined && Buffer.compare(found, content)).toBe(0);
          expect(await storage.blobs.get(partition + 1, sha256)).toBeUndefined();
        }
        expect(await storage.blobs.get(partition, "0".repeat(64))).toBeUndefined();
      }));

    test("[ST16] a part of a blob is read without the rest", () =>
      withStorage(async (storage) => {
        const content = Uint8Array.from({ length: 1_500_000 }, (_, at) => (at * 7) % 251);
        const sha256 = await storage.blobs.put(partition, content);
        const places = [
          [0, 10],
          [524_280, 20],
          [524_288, 524_288],
          [1_499_990, 100],
          [1_500_000, 10],
        ] as const;
        for (const [from, maxBytes] of places) {
          const part = await storage.blobs.getPart(partition, sha256, from, maxBytes);
          expect(part !== undefined && Buffer.compare(part, content.slice(from, from + maxBytes)), `${from}`).toBe(0);
        }
        expect(await storage.blobs.getPart(partition, "0".repeat(64), 0, 10)).toBeUndefined();
        const empty = await storage.blobs.put(partition, new Uint8Array());
        expect(await storage.blobs.getPart(partition, empty, 0, 10)).toEqual(new Uint8Array());
      }));

    test("[ST16] a commit that names a missing blob fails", () =>
      withStorage(async (storage) => {
        await expect(storage.commit(batch(partition, { records: [put({ id: "50/a", blobs: ["0".repeat(64)] })] }))).rejects.toThrow(
          /not put/,
        );
        expect(await storage.records.get(itemType, "50/a")).toBeUndefined();
      }));

    test("[ST16] a blob is kept while any record refers to it and removed after the last reference", () => {
      const clock = createClock();
      return withStorage(async (storage) => {
        const sha256 = await storage.blobs.put(partition, bytes("shared"));
        const there = async () => (await storage.blobs.get(partition, sha256)) !== undefined;
        await storage.commit(
          batch(partition, { records: [put({ id: "50/a", blobs: [sha256, sha256] }), put({ id: "50/b", blobs: [sha256] })] }),
        );
        clock.advance(hourMs);
        expect(await keepHouse(storage)).toBe(1);
        expect(await there()).toBe(true);
        await storage.commit(batch(partition, { records: [remove(await current(storage, "50/a"))] }));
        expect(await keepHouse(storage)).toBe(0);
        await storage.commit(
          batch(partition, { records: [put({ id: "50/b", text: "still", blobs: [sha256] }, await current(storage, "50/b"))] }),
        );
        expect(await keepHouse(storage)).toBe(0);
        expect(await there()).toBe(true);
        await storage.commit(batch(partition, { records: [put({ id: "50/b" }, await current(storage, "50/b"))] }));
        expect(await keepHouse(storage)).toBe(1);
        expect(await there()).toBe(false);
        expect(await storage.due.stats()).toEqual({ rows: 0 });
      }, clock);
    });

    test("[ST16] a blob whose last reference ends soon after its put is still removed", () => {
      const clock = createClock();
      return withStorage(async (storage) => {
        const sha256 = await storage.blobs.put(partition, bytes("short"));
        await storage.commit(batch(partition, { records: [put({ id: "50/a", blobs: [sha256] })] }));
        await storage.commit(batch(partition, { records: [remove(await current(storage, "50/a"))] }));
        expect(await keepHouse(storage)).toBe(0);
        clock.advance(hourMs);
        expect(await keepHouse(storage)).toBe(1);
        expect(await storage.blobs.get(partition, sha256)).toBeUndefined();
      }, clock);
    });

    test("[ST16] a reference that moves from one record to another in a batch keeps the blob", () => {
      const clock = createClock();
      return withStorage(async (storage) => {
        const sha256 = await storage.blobs.put(partition, bytes("moved"));
        await storage.commit(batch(partition, { records: [put({ id: "50/a", blobs: [sha256] })] }));
        clock.advance(hourMs);
        await keepHouse(storage);
        await storage.commit(batch(partition, { records: [remove(await current(storage, "50/a")), put({ id: "50/b", blobs: [sha256] })] }));
        expect(await keepHouse(storage)).toBe(0);
        expect(await storage.blobs.get(partition, sha256)).toBeDefined();
      }, clock);
    });

    test("[ST16] a blob that no commit ever named is removed an hour after its put", () => {
      const clock = createClock();
      return withStorage(async (storage) => {
        const sha256 = await storage.blobs.put(partition, bytes("orphan"));
        clock.advance(hourMs - 1);
        expect(await keepHouse(storage)).toBe(0);
        await storage.blobs.collect(partition, sha256);
        expect(await storage.blobs.get(partition, sha256)).toBeDefined();
        clock.advance(1);
        expect(await keepHouse(storage)).toBe(1);
        expect(await storage.blobs.get(partition, sha256)).toBeUndefined();
        expect(await storage.due.stats()).toEqual({ rows: 0 });
      }, clock);
    });

    test("[ST16] a put during the removal of the blob keeps it for the next commit", () => {
      const clock = createClock();
      return withStorage(async (storage) => {
        const house = createHousekeeping(storage, createRecordTypes([itemType]));
        const sha256 = await storage.blobs.put(partition, bytes("again"));
        clock.advance(hourMs);
        const [row] = (await storage.due.claim({ partitions, limit: 1, leaseMs: 1000 })) as [ClaimedRow];
        await storage.blobs.put(partition, bytes("again"));
        await house(row);
        expect((await storage.commit(batch(partition, { records: [put({ id: "50/a", blobs: [sha256] })] }))).ok).toBe(true);
        expect(await storage.blobs.get(partition, sha256)).toEqual(bytes("again"));
        clock.advance(hourMs);
        expect(await keepHouse(storage)).toBe(1);
        expect(await storage.blobs.get(partition, sha256)).toBeDefined();
      }, clock);
    });
  });
}
