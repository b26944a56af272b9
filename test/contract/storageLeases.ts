/** Tests named leases. */
import { describe, expect, test } from "vitest";
import { createClock, partition } from "./storageDueRows.ts";
import { batch, put, type WithStorage } from "./storageTypes.ts";

export function leaseTests(withStorage: WithStorage): void {
  describe("named leases", () => {
    test("[ST12] a lease has one holder until its end, and its fence rises at each acquisition", () => {
      const clock = createClock();
      return withStorage(async (storage) => {
        const acquire = (owner: string, name = "room", where = partition) => storage.leases.acquire(where, name, owner, 1000);
        const first = await acquire("one");
        expect(first).toMatchObject({ partition, name: "room", owner: "one" });
        expect(await acquire("two")).toBeUndefined();
        expect(await acquire("two", "other")).toBeDefined();
        expect(await acquire("two", "room", 41)).toBeDefined();
        if (first === undefined) throw new Error("no lease");
        clock.advance(900);
        expect(await storage.leases.renew(first, 1000)).toBe(true);
        clock.advance(900);
        expect(await acquire("two")).toBeUndefined();
        clock.advance(100);
        const second = await acquire("two");
        expect(second?.fence).toBeGreaterThan(first.fence);
        expect(await storage.leases.renew(first, 1000)).toBe(false);
        await storage.leases.release(first);
        expect(await acquire("three")).toBeUndefined();
        if (second !== undefined) await storage.leases.release(second);
        expect((await acquire("three"))?.fence).toBeGreaterThan(second?.fence ?? Number.POSITIVE_INFINITY);
      }, clock);
    });

    test("[ST12] a commit under a lease that was acquired again since is refused", () => {
      const clock = createClock();
      return withStorage(async (storage) => {
        const under = (atLeast: number, id: string) =>
          storage.commit(batch(partition, { records: [put({ id })], require: [{ kind: "fence", lease: "room", atLeast }] }));
        const first = await storage.leases.acquire(partition, "room", "one", 1000);
        expect((await under(first?.fence ?? 0, "40/a")).ok).toBe(true);
        clock.advance(1000);
        const second = await storage.leases.acquire(partition, "room", "two", 1000);
        expect(await under(first?.fence ?? 0, "40/b")).toEqual({ ok: false, conflict: { kind: "fence", lease: "room" } });
        expect((await under(second?.fence ?? 0, "40/b")).ok).toBe(true);
      }, clock);
    });
  });
}
