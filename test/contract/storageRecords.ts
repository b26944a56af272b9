/** Tests records and commits: conditions, conflicts, unique rules, counts and upgrades. */
import { describe, expect, test } from "vitest";
import { StorageDamagedError, type Stored } from "../../server/platform/storage/port.ts";
import { defineRecord } from "../../server/platform/storage/recordType.ts";
import { append, batch, type Item, itemType, itemTypeLater, otherType, put, remove, type WithStorage } from "./storageTypes.ts";

export function recordTests(withStorage: WithStorage): void {
  describe("records", () => {
    test("[ST6] a record is read as it was written, with its revision counted from 1", () =>
      withStorage(async (storage) => {
        const value = { id: "03/a", text: 'quotes " \\ lines\n \u2028 \ud800 \u0000 😀', groups: ["x"] };
        expect(await storage.commit(batch(3, { records: [put(value)] }))).toEqual({ ok: true, positions: [], revisions: [1] });
        const first = (await storage.records.get(itemType, "03/a")) as Stored<Item>;
        expect(first).toEqual({ value, revision: 1 });
        await storage.commit(batch(3, { records: [put({ id: "03/a" }, first)] }));
        expect(await storage.records.get(itemType, "03/a")).toEqual({ value: { id: "03/a" }, revision: 2 });
        expect(await storage.records.getMany(itemType, ["03/b", "03/a", "60/a"])).toEqual([
          undefined,
          { value: { id: "03/a" }, revision: 2 },
          undefined,
        ]);
      }));

    test("[ST6] a value that JSON cannot represent is refused at the write", () =>
      withStorage(async (storage) => {
        for (const text of [new Date(), new Uint8Array(2), Number.NaN, 3n, () => 1]) {
          const value = { id: "03/a", text } as unknown as Item;
          await expect(storage.commit(batch(3, { records: [put(value)] }))).rejects.toThrow(TypeError);
        }
        expect(await storage.records.get(itemType, "03/a")).toBeUndefined();
      }));

    test("[ST2] of many concurrent commits that replace one revision, exactly one succeeds", () =>
      withStorage(async (storage) => {
        await storage.commit(batch(1, { records: [put({ id: "01/a", text: "0" })] }));
        for (let round = 1; round <= 20; round += 1) {
          const current = (await storage.records.get(itemType, "01/a")) as Stored<Item>;
          const results = await Promise.all(
            Array.from({ length: 16 }, (_, writer) =>
              storage.commit(batch(1, { records: [put({ id: "01/a", text: `${round}/${writer}` }, current)], logs: [append("l", "x")] })),
            ),
          );
          expect(results.filter((result) => result.ok)).toHaveLength(1);
          expect(results.filter((result) => !result.ok).map((result) => !result.ok && result.conflict)).toEqual(
            Array.from({ length: 15 }, () => ({ kind: "record", type: "item", key: "01/a" })),
          );
          expect((await storage.records.get(itemType, "01/a"))?.revision).toBe(round + 1);
        }
        expect(await storage.log.tail(1, "l")).toBe(20);
      }));

    test("[ST2] concurrent increments that retry on conflict lose none", () =>
      withStorage(async (storage) => {
        await storage.commit(batch(1, { records: [put({ id: "01/n", text: "0" })] }));
        await Promise.all(
          Array.from({ length: 12 }, async () => {
            for (let done = 0; done < 25; ) {
              const current = (await storage.records.get(itemType, "01/n")) as Stored<Item>;
              const next = { id: "01/n", text: String(Number(current.value.text) + 1) };
              if ((await storage.commit(batch(1, { records: [put(next, current)] }))).ok) done += 1;
            }
          }),
        );
        expect((await storage.records.get(itemType, "01/n"))?.value.text).toBe("300");
      }));

    test("[ST2] creating requires absence; replacing and deleting require the revision", () =>
      withStorage(async (storage) => {
        const conflict = { ok: false, conflict: { kind: "record", type: "item", key: "02/a" } };
        const first = { value: { id: "02/a" }, revision: 1 };
        expect(await storage.commit(batch(2, { records: [put({ id: "02/a" }, first)] }))).toEqual(conflict);
        expect(await storage.commit(batch(2, { records: [remove(first)] }))).toEqual(conflict);
        await storage.commit(batch(2, { records: [put({ id: "02/a" })] }));
        expect(await storage.commit(batch(2, { records: [put({ id: "02/a" })] }))).toEqual(conflict);
        expect(await storage.commit(batch(2, { records: [remove({ ...first, revision: 2 })] }))).toEqual(conflict);
        expect(await storage.commit(batch(2, { records: [remove(first)] }))).toEqual({ ok: true, positions: [], revisions: [0] });
        expect(await storage.records.get(itemType, "02/a")).toBeUndefined();
      }));

    test("[ST2] a batch may require the revision, or the absence, of a record that it does not write", () =>
      withStorage(async (storage) => {
        const require = (revision: number | "absent") => [{ kind: "revision", type: itemType, key: "04/gate", revision } as const];
        const write = (id: string, revision: number | "absent") =>
          storage.commit(batch(4, { records: [put({ id })], require: require(revision) }));
        expect((await write("04/a", "absent")).ok).toBe(true);
        expect(await write("04/b", 1)).toEqual({ ok: false, conflict: { kind: "record", type: "item", key: "04/gate" } });
        await storage.commit(batch(4, { records: [put({ id: "04/gate" })] }));
        expect((await write("04/b", "absent")).ok).toBe(false);
        expect((await write("04/b", 1)).ok).toBe(true);
      }));

    test("[ST1] a batch that is refused for any of its conditions changes nothing", () =>
      withStorage(async (storage) => {
        await storage.commit(batch(5, { records: [put({ id: "05/old", name: "taken" })], logs: [append("l", "one")] }));
        const row = { id: "r", kind: "k", dueAtMs: 0, payload: null, attempts: 0 };
        const harmless = {
          records: [put({ id: "05/new", keys: [["x"]], groups: ["g"], expiresAtMs: 1 })],
          logs: [append("l", "two"), { op: "trim", log: "l", through: 1 } as const],
          due: [{ op: "schedule", row } as const],
        };
        const refusals = [
          { ...harmless, records: [...harmless.records, put({ id: "05/other", name: "taken" })] },
          { ...harmless, records: [...harmless.records, put({ id: "05/old" })] },
          { ...harmless, due: [...harmless.due, { op: "acknowledge", id: "none", fence: 1 } as const] },
          { ...harmless, require: [{ kind: "fence", lease: "none", atLeast: 1 } as const] },
        ];
        for (const refused of refusals) expect((await storage.commit(batch(5, refused))).ok).toBe(false);
        expect(await storage.records.get(itemType, "05/new")).toBeUndefined();
        expect(await storage.index.scan({ partition: 5, prefix: ["item"], limit: 10 })).toEqual([]);
        expect(await storage.counts.get(5, [["group", "g"]])).toEqual([0]);
        expect(await storage.log.read({ partition: 5, log: "l", after: 0, limit: 9 })).toMatchObject({ gap: false, tail: 1 });
        expect(await storage.due.stats()).toEqual({ rows: 0 });
      }));

    test("[ST1] an invalid batch fails alone, and concurrent batches succeed", () =>
      withStorage(async (storage) => {
        const throwing = defineRecord<Item>({
          ...itemType,
          name: "throwing",
          indexes: () => {
            throw new Error("no such index");
          },
        });
        const wrong = [
          batch(5, { records: [put({ id: "06/a" })] }),
          batch(5, { records: [put({ id: "05/x" }), put({ id: "05/x" })] }),
          batch(5, { records: [put({ id: "05/x" }), put({ id: "05/y" }, null, throwing)] }),
          batch(5, { records: [put({ id: "05/x", keys: [["k".repeat(2000)]] })] }),
          batch(5, { records: [put({ id: `05/${"k".repeat(2000)}` })] }),
          batch(5, { records: [put({ id: "05/x" })], logs: [append("", "a")] }),
          batch(5, { records: [put({ id: "05/x" })], logs: [append("l".repeat(2000), "a")] }),
          batch(5, { records: [put({ id: "05/x" })], logs: [{ op: "append", log: "l", entries: ["text" as unknown as Uint8Array] }] }),
          batch(5, { records: [put({ id: "05/x", expiresAtMs: Number.NaN })] }),
          batch(5, { records: [put({ id: "05/x" })], require: [{ kind: "revision", type: itemType, key: "06/a", revision: 1 }] }),
          batch(99, { due: [{ op: "cancel", id: "x" }] }),
        ];
        const results = await Promise.allSettled(
          wrong.flatMap((bad, at) => [storage.commit(bad), storage.commit(batch(7, { records: [put({ id: `07/${at}` })] }))]),
        );
        for (const [at, result] of results.entries()) {
          if (at % 2 === 0) expect([at, result.status]).toEqual([at, "rejected"]);
          else expect(result).toMatchObject({ status: "fulfilled", value: { ok: true } });
        }
        expect(await storage.records.getMany(itemType, ["05/x", "05/y", "06/a"])).toEqual([undefined, undefined, undefined]);
        expect(await storage.log.tail(5, "l")).toBe(0);
        expect(await storage.due.stats()).toEqual({ rows: 0 });
      }));

    test("[ST1] records, logs and due rows of one batch become visible together", () =>
      withStorage(async (storage) => {
        const row = { id: "r", kind: "k", dueAtMs: 5, payload: { a: [1, null, "x"] }, attempts: 2 };
        const result = await storage.commit(
          batch(8, {
            records: [put({ id: "08/a" }), put({ id: "08/b" }, null, otherType)],
            logs: [append("one", "a", "b"), append("two", "c"), append("one", "d")],
            due: [{ op: "schedule", row }],
          }),
        );
        expect(result).toEqual({ ok: true, positions: [2, 1, 3], revisions: [1, 1] });
        expect(await storage.records.get(otherType, "08/b")).toBeDefined();
        expect(await storage.records.get(otherType, "08/a")).toBeUndefined();
        expect(await storage.due.get(8, "r")).toEqual({ ...row, partition: 8, fence: 1 });
      }));

    test("[ST1] a reader never sees a record of a batch without its log entry, or the reverse", () =>
      withStorage(async (storage) => {
        let done = false;
        const write = async () => {
          for (let at = 0; at < 400; at += 1) {
            const current = (await storage.records.get(itemType, "08/n")) ?? null;
            await storage.commit(batch(8, { records: [put({ id: "08/n", text: `${at}` }, current)], logs: [append("n", `${at}`)] }));
          }
          done = true;
        };
        let looks = 0;
        const look = async () => {
          for (; !done; looks += 1) {
            const [record, tail] = await Promise.all([storage.records.get(itemType, "08/n"), storage.log.tail(8, "n")]);
            expect(record?.revision ?? 0).toBe(tail);
            await new Promise((resolve) => setImmediate(resolve));
          }
        };
        await Promise.all([write(), look()]);
        expect(await storage.log.tail(8, "n")).toBe(400);
        expect(looks).toBeGreaterThan(0);
      }));

    test("[ST1] a record of a type that is not listed is refused", () =>
      withStorage(
        async (storage) => {
          await expect(storage.commit(batch(1, { records: [put({ id: "01/a" }, null, otherType)] }))).rejects.toThrow(/not listed/);
          expect((await storage.commit(batch(1, { records: [put({ id: "01/a" })] }))).ok).toBe(true);
        },
        { recordTypes: [itemType] },
      ));

    test("[ST3] no two records of a partition share a unique rule, under concurrent commits", () =>
      withStorage(async (storage) => {
        const results = await Promise.all(
          Array.from({ length: 10 }, (_, at) => storage.commit(batch(9, { records: [put({ id: `09/${at}`, name: "Ann" })] }))),
        );
        expect(results.map((result) => result.ok)).toEqual([true, ...Array.from({ length: 9 }, () => false)]);
        expect(results[1]).toEqual({ ok: false, conflict: { kind: "unique", rule: ["name", "Ann"], key: "09/0" } });
        const elsewhere = await storage.commit(batch(10, { records: [put({ id: "10/0", name: "Ann" })] }));
        expect(elsewhere.ok).toBe(true);
      }));

    test("[ST3] a rule is free once its record changes or is removed, and two may swap in one batch", () =>
      withStorage(async (storage) => {
        await storage.commit(batch(9, { records: [put({ id: "09/a", name: "A" }), put({ id: "09/b", name: "B" })] }));
        const a = { value: { id: "09/a", name: "A" }, revision: 1 };
        const b = { value: { id: "09/b", name: "B" }, revision: 1 };
        const swap = batch(9, { records: [put({ id: "09/a", name: "B" }, a), put({ id: "09/b", name: "A" }, b)] });
        expect((await storage.commit(swap)).ok).toBe(true);
        expect((await storage.commit(batch(9, { records: [put({ id: "09/c", name: "A" })] }))).ok).toBe(false);
        await storage.commit(batch(9, { records: [remove({ value: { id: "09/b", name: "A" }, revision: 2 })] }));
        expect((await storage.commit(batch(9, { records: [put({ id: "09/c", name: "A" })] }))).ok).toBe(true);
        const both = batch(9, { records: [put({ id: "09/d", name: "D" }), put({ id: "09/e", name: "D" })] });
        expect(await storage.commit(both)).toEqual({ ok: false, conflict: { kind: "unique", rule: ["name", "D"], key: "09/d" } });
      }));

    test("[ST3] a removed record frees the stored rules, not those of the caller's changed copy", () =>
      withStorage(async (storage) => {
        await storage.commit(batch(9, { records: [put({ id: "09/a", name: "A", groups: ["g"], keys: [["k"]] })] }));
        const changed = { value: { id: "09/a", name: "changed", groups: ["h"], keys: [["other"]] }, revision: 1 };
        await storage.commit(batch(9, { records: [put({ id: "09/a" }, changed)] }));
        expect((await storage.commit(batch(9, { records: [put({ id: "09/b", name: "A" })] }))).ok).toBe(true);
        expect(
          await storage.counts.get(9, [
            ["group", "g"],
            ["group", "h"],
          ]),
        ).toEqual([0, 0]);
        expect(await storage.index.scan({ partition: 9, prefix: ["item"], limit: 9 })).toEqual([]);
      }));

    test("[ST3] a record whose version had no rule does not free the rule of another record", () =>
      withStorage(async (storage) => {
        const before = defineRecord<Item>({ ...itemType, unique: () => [] });
        await storage.commit(batch(9, { records: [put({ id: "09/a", name: "A" }, null, before), put({ id: "09/b", name: "A" })] }));
        const old = { value: { id: "09/a", name: "A" }, revision: 1 };
        expect((await storage.commit(batch(9, { records: [put({ id: "09/a", name: "C" }, old)] }))).ok).toBe(true);
        expect((await storage.commit(batch(9, { records: [put({ id: "09/d", name: "A" })] }))).ok).toBe(false);
      }));

    test("[ST4] counts equal the records that name them, in any order of commits", () =>
      withStorage(async (storage) => {
        const ids = Array.from({ length: 30 }, (_, at) => `11/${at}`);
        await Promise.all(ids.map((id, at) => storage.commit(batch(11, { records: [put({ id, groups: ["all", `m${at % 3}`] })] }))));
        const keys = ["all", "m0", "m1", "m2"].map((group) => ["group", group] as const);
        expect(await storage.counts.get(11, keys)).toEqual([30, 10, 10, 10]);
        const stored = await storage.records.getMany(itemType, ids);
        await Promise.all(
          stored.map((record, at) => {
            const current = record as Stored<Item>;
            const write = at < 10 ? remove(current) : put({ id: current.value.id, groups: ["all", "m1", "m1"] }, current);
            return storage.commit(batch(11, { records: [write] }));
          }),
        );
        expect(await storage.counts.get(11, keys)).toEqual([20, 0, 20, 0]);
        expect(await storage.counts.get(12, keys)).toEqual([0, 0, 0, 0]);
      }));

    test("[ST4] a counter to which records add amounts is their sum, in any order of commits", () =>
      withStorage(async (storage) => {
        const ids = Array.from({ length: 20 }, (_, at) => `11/${at}`);
        const amountsOf = (at: number) => ({ amounts: { all: at, [`m${at % 2}`]: 3 } });
        await Promise.all(ids.map((id, at) => storage.commit(batch(11, { records: [put({ id, ...amountsOf(at) })] }))));
        const keys = ["all", "m0", "m1"].map((name) => ["amount", name] as const);
        expect(await storage.counts.get(11, keys)).toEqual([190, 30, 30]);
        const stored = await storage.records.getMany(itemType, ids);
        await Promise.all(
          stored.map((record, at) => {
            const current = record as Stored<Item>;
            const write = at < 10 ? remove(current) : put({ id: current.value.id, amounts: { all: 1 } }, current);
            return storage.commit(batch(11, { records: [write] }));
          }),
        );
        expect(await storage.counts.get(11, keys)).toEqual([10, 0, 0]);
      }));

    test("[ST7] an older row is upgraded when read, and stored upgraded at its next write", () =>
      withStorage(async (storage) => {
        await storage.commit(batch(13, { records: [put({ id: "13/a", text: "old" })] }));
        const read = (await storage.records.get(itemTypeLater, "13/a")) as Stored<Item>;
        expect(read).toEqual({ value: { id: "13/a", text: "OLD!" }, revision: 1 });
        expect((await storage.records.get(itemType, "13/a"))?.value.text).toBe("old");
        await storage.commit(batch(13, { records: [put({ ...read.value, text: "new" }, read, itemTypeLater)] }));
        expect((await storage.records.get(itemTypeLater, "13/a"))?.value.text).toBe("new");
        await expect(storage.records.get(itemType, "13/a")).rejects.toThrow(StorageDamagedError);
        const listed = [];
        for await (const record of storage.records.scan(itemTypeLater, 13)) listed.push(record);
        expect(listed).toEqual([{ value: { id: "13/a", text: "new" }, revision: 2 }]);
      }));

    test("[ST5] all records of a type in a partition are listed in key order, and no others", () =>
      withStorage(async (storage) => {
        const ids = Array.from({ length: 600 }, (_, at) => `14/${String(at).padStart(4, "0")}`);
        await storage.commit(batch(14, { records: [...ids].reverse().map((id) => put({ id })) }));
        await storage.commit(batch(14, { records: [put({ id: "14/0001" }, null, otherType)] }));
        await storage.commit(batch(15, { records: [put({ id: "15/0001" })] }));
        const found: string[] = [];
        for await (const { value } of storage.records.scan(itemType, 14)) found.push(value.id);
        expect(found).toEqual(ids);
      }));
  });
}
