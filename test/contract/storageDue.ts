/** Tests the due queue: which worker gets a row, and which writes to a row are refused. */
import { describe, expect, test } from "vitest";
import type { Batch, ClaimedRow } from "../../server/platform/storage/port.ts";
import { claimAll, createClock, idsOf, partition, row, schedule, startMs } from "./storageDueRows.ts";
import { batch, itemType, put, type WithStorage } from "./storageTypes.ts";

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
}
