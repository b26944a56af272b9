/** Tests the due queue, expiry rows and their housekeeping, and named leases. The clock moves only when a test moves it. */
import { describe, expect, test } from "vitest";
import { createHousekeeping, housekeepingKinds } from "../../server/platform/storage/housekeeping.ts";
import { type Batch, type ClaimedRow, type DueRow, partitionCount, type Storage, type Stored } from "../../server/platform/storage/port.ts";
import { createRecordTypes } from "../../server/platform/storage/recordType.ts";
import { batch, type Item, itemType, put, remove, type WithStorage } from "./storageTypes.ts";

const partition = 40;
const startMs = 1_900_000_000_000;
const partitions = Array.from({ length: partitionCount }, (_, at) => at);

function createClock() {
  let nowMs = startMs;
  return { now: () => nowMs, advance: (ms: number) => (nowMs += ms) };
}

const row = (id: string, dueAtMs: number, rest: Partial<DueRow> = {}): DueRow => ({
  id,
  kind: "work",
  dueAtMs,
  payload: { id },
  attempts: 0,
  ...rest,
});

function schedule(storage: Storage, rows: readonly DueRow[], op: "schedule" | "arm" = "schedule", where = partition) {
  return storage.commit(batch(where, { due: rows.map((due) => ({ op, row: due })) }));
}

const claimAll = (storage: Storage, limit = 100, leaseMs = 1000) => storage.due.claim({ partitions, limit, leaseMs });
const idsOf = (rows: readonly ClaimedRow[]) => rows.map(({ id }) => id);

export function dueTests(withStorage: WithStorage): void {
  describe("due queue", () => {
    test("[ST27] a commit that requires a due row is refused if the row was claimed again or is gone", () => {
      const clock = createClock();
      return withStorage(async (storage) => {
        await schedule(storage, [row("work", startMs)]);
        const [held] = await claimAll(storage);
        if (held === undefined) throw new Error("the row was due");
        const guarded = (log: string, more: Partial<Batch> = {}) =>
          storage.commit(
            batch(partition, {
              logs: [{ op: "append", log, entries: [Uint8Array.of(1)] }],
              require: [{ kind: "due", id: "work", fence: held.fence }],
              ...more,
            }),
          );
        expect(await guarded("kept")).toMatchObject({ ok: true });
        clock.advance(2000);
        const [again] = await claimAll(storage);
        expect(again?.fence).toBe(held.fence + 1);
        expect(await guarded("refused")).toEqual({ ok: false, conflict: { kind: "due", id: "work" } });
        const fence = again?.fence ?? 0;
        const settled = batch(partition, {
          due: [{ op: "acknowledge", id: "work", fence }],
          require: [{ kind: "due", id: "work", fence }],
        });
        expect(await storage.commit(settled)).toMatchObject({ ok: true });
        expect(await storage.commit(settled)).toEqual({ ok: false, conflict: { kind: "due", id: "work" } });
        expect(await storage.log.tail(partition, "kept")).toBe(1);
        expect(await storage.log.tail(partition, "refused")).toBe(0);
      }, clock);
    });

    test("[ST27] a required row is checked before the batch; renewing keeps it, a new schedule does not", () => {
      const clock = createClock();
      return withStorage(async (storage) => {
        const under = (fence: number, due: Batch["due"] = [], where = partition) =>
          storage.commit(batch(where, { due, require: [{ kind: "due", id: "work", fence }] }));
        const refused = { ok: false, conflict: { kind: "due", id: "work" } };
        const again = { op: "schedule", row: row("work", startMs) } as const;
        expect(await under(1, [again])).toEqual(refused);
        await schedule(storage, [row("work", startMs)]);
        expect(await under(1, [], 41)).toEqual(refused);
        expect(await under(0)).toEqual(refused);
        const [held] = await claimAll(storage);
        if (held === undefined) throw new Error("the row was due");
        const { fence } = held;
        expect(await storage.due.renew(held, 5000)).toBe(true);
        expect((await under(fence, [{ op: "postpone", id: "work", fence, dueAtMs: startMs + 10, attempts: 1 }])).ok).toBe(true);
        // The batch itself replaces the row, which existed when the batch arrived.
        expect((await under(fence, [again])).ok).toBe(true);
        expect(await under(fence)).toEqual(refused);
        expect((await under(fence + 1, [{ op: "cancel", id: "work" }])).ok).toBe(true);
        expect(await under(fence + 1)).toEqual(refused);
      }, clock);
    });

    test("[ST9] due rows are claimed oldest first over all partitions, and other rows stay", () => {
      const clock = createClock();
      return withStorage(async (storage) => {
        await schedule(storage, [row("b", startMs - 5), row("a", startMs - 10), row("later", startMs + 1), row("now", startMs)]);
        await schedule(storage, [row("c", startMs - 7.5)], "schedule", 63);
        expect(await storage.due.stats()).toEqual({ rows: 5, oldestDueAtMs: startMs - 10 });
        expect(idsOf(await claimAll(storage, 3))).toEqual(["a", "c", "b"]);
        expect(idsOf(await claimAll(storage))).toEqual(["now"]);
        expect(await claimAll(storage)).toEqual([]);
        clock.advance(1);
        expect(idsOf(await claimAll(storage))).toEqual(["later"]);
        expect(await storage.due.claim({ partitions: [], limit: 5, leaseMs: 1 })).toEqual([]);
      }, clock);
    });

    test("[ST9] of concurrent workers, each row goes to one", () => {
      const clock = createClock();
      return withStorage(async (storage) => {
        const rows = Array.from({ length: 60 }, (_, at) => row(`r${at}`, startMs - at));
        await schedule(storage, rows);
        const claimed = await Promise.all(Array.from({ length: 9 }, () => claimAll(storage, 7)));
        const ids = claimed.flatMap(idsOf);
        expect(ids).toHaveLength(60);
        expect(new Set(ids).size).toBe(60);
      }, clock);
    });

    test("[ST9] an abandoned row returns after its lease with a higher fence and one more attempt", () => {
      const clock = createClock();
      return withStorage(async (storage) => {
        await schedule(storage, [row("a", startMs)]);
        const [first] = await claimAll(storage);
        expect(first).toEqual({ ...row("a", startMs), partition, fence: 2 });
        clock.advance(999);
        expect(await claimAll(storage)).toEqual([]);
        clock.advance(1);
        expect(await claimAll(storage)).toEqual([{ ...row("a", startMs + 1000, { attempts: 1 }), partition, fence: 3 }]);
        expect(await storage.due.get(partition, "a")).toMatchObject({ attempts: 2, fence: 3 });
      }, clock);
    });

    test("[ST9] a row created with a lease belongs to its writer, at fence 1, until the lease ends", () => {
      const clock = createClock();
      return withStorage(async (storage) => {
        await schedule(storage, [row("a", startMs + 5000)]);
        expect(await claimAll(storage)).toEqual([]);
        expect(await storage.due.renew({ partition, id: "a", fence: 1 }, 8000)).toBe(true);
        clock.advance(7000);
        expect(await claimAll(storage)).toEqual([]);
        const done = await storage.commit(
          batch(partition, { due: [{ op: "acknowledge", id: "a", fence: 1 }], records: [put({ id: "40/x" })] }),
        );
        expect(done.ok).toBe(true);
        clock.advance(7000);
        expect(await claimAll(storage)).toEqual([]);
        expect(await storage.due.stats()).toEqual({ rows: 0 });
      }, clock);
    });

    test("[ST10] an overtaken worker can neither acknowledge, postpone nor renew, nor commit", () => {
      const clock = createClock();
      return withStorage(async (storage) => {
        await schedule(storage, [row("a", startMs)]);
        const [slow] = (await claimAll(storage)) as [ClaimedRow];
        clock.advance(1000);
        const [owner] = (await claimAll(storage)) as [ClaimedRow];
        const conflict = { ok: false, conflict: { kind: "due", id: "a" } };
        const under = (fence: number) => [
          { op: "acknowledge", id: "a", fence } as const,
          { op: "postpone", id: "a", fence, dueAtMs: 0, attempts: 0 } as const,
        ];
        for (const write of [...under(slow.fence), ...under(owner.fence + 1)]) {
          expect(await storage.commit(batch(partition, { due: [write], records: [put({ id: "40/x" })] }))).toEqual(conflict);
        }
        expect(await storage.due.renew(slow, 1000)).toBe(false);
        expect(await storage.records.get(itemType, "40/x")).toBeUndefined();
        expect(await storage.due.renew(owner, 5000)).toBe(true);
        expect(await storage.due.get(partition, "a")).toMatchObject({ dueAtMs: clock.now() + 5000, fence: owner.fence });
        expect((await storage.commit(batch(partition, { due: [{ op: "acknowledge", id: "a", fence: owner.fence }] }))).ok).toBe(true);
        expect(await storage.commit(batch(partition, { due: [{ op: "acknowledge", id: "a", fence: owner.fence }] }))).toEqual(conflict);
        expect(await storage.due.renew(owner, 5000)).toBe(false);
      }, clock);
    });

    test("[ST10] of two acknowledgements under the same fence, one succeeds", () => {
      const clock = createClock();
      return withStorage(async (storage) => {
        await schedule(storage, [row("a", startMs)]);
        const [{ fence }] = (await claimAll(storage)) as [ClaimedRow];
        const results = await Promise.all(
          [1, 2, 3].map(() => storage.commit(batch(partition, { due: [{ op: "acknowledge", id: "a", fence }] }))),
        );
        expect(results.map((result) => result.ok)).toEqual([true, false, false]);
      }, clock);
    });

    test("[ST10] a postponed row falls due at its new time, with the given attempts and payload", () => {
      const clock = createClock();
      return withStorage(async (storage) => {
        await schedule(storage, [row("a", startMs), row("b", startMs)]);
        const [a, b] = (await claimAll(storage)) as [ClaimedRow, ClaimedRow];
        await storage.commit(
          batch(partition, {
            due: [
              { op: "postpone", id: "a", fence: a.fence, dueAtMs: startMs + 50, attempts: 7 },
              { op: "postpone", id: "b", fence: b.fence, dueAtMs: startMs + 60, attempts: 1, payload: ["new"] },
            ],
          }),
        );
        clock.advance(60);
        expect(await claimAll(storage)).toEqual([
          { ...row("a", startMs + 50, { attempts: 7 }), partition, fence: 3 },
          { ...row("b", startMs + 60, { attempts: 1, payload: ["new"] }), partition, fence: 3 },
        ]);
      }, clock);
    });

    test("[ST11] `arm` leaves a row as it is, `schedule` replaces it and raises its fence, `cancel` removes it", () => {
      const clock = createClock();
      return withStorage(async (storage) => {
        await schedule(storage, [row("a", startMs + 10)], "arm");
        await schedule(storage, [row("a", startMs + 99, { payload: "other" })], "arm");
        expect(await storage.due.get(partition, "a")).toEqual({ ...row("a", startMs + 10), partition, fence: 1 });
        await schedule(storage, [row("a", startMs + 20, { kind: "new", attempts: 3, payload: null })]);
        expect(await storage.due.get(partition, "a")).toEqual({
          ...row("a", startMs + 20, { kind: "new", attempts: 3, payload: null }),
          partition,
          fence: 2,
        });
        expect((await storage.commit(batch(partition, { due: [{ op: "acknowledge", id: "a", fence: 1 }] }))).ok).toBe(false);
        clock.advance(20);
        expect(idsOf(await claimAll(storage))).toEqual(["a"]);
        for (let times = 0; times < 2; times += 1) {
          expect((await storage.commit(batch(partition, { due: [{ op: "cancel", id: "a" }] }))).ok).toBe(true);
        }
        expect(await storage.due.get(partition, "a")).toBeUndefined();
        clock.advance(10_000);
        expect(await claimAll(storage)).toEqual([]);
      }, clock);
    });

    test("[ST11] several writes to one row in a batch apply in their order", () => {
      const clock = createClock();
      return withStorage(async (storage) => {
        await schedule(storage, [row("a", startMs)]);
        await storage.commit(
          batch(partition, {
            due: [
              { op: "acknowledge", id: "a", fence: 1 },
              { op: "arm", row: row("a", startMs + 5) },
              { op: "arm", row: row("a", startMs + 6) },
            ],
          }),
        );
        expect(await storage.due.get(partition, "a")).toEqual({ ...row("a", startMs + 5), partition, fence: 1 });
        await storage.commit(
          batch(partition, {
            due: [
              { op: "schedule", row: row("b", startMs) },
              { op: "cancel", id: "b" },
            ],
          }),
        );
        expect(await storage.due.stats()).toEqual({ rows: 1, oldestDueAtMs: startMs + 5 });
      }, clock);
    });

    test("[ST9] ids with any characters stay distinct", () => {
      const clock = createClock();
      return withStorage(async (storage) => {
        const ids = ["a", "a\u0000", "a/b", "ä", "😀", "\ud800", "A".repeat(900)];
        await schedule(
          storage,
          ids.map((id) => row(id, startMs)),
        );
        expect(new Set(idsOf(await claimAll(storage)))).toEqual(new Set(ids));
      }, clock);
    });
  });

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
