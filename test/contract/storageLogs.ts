/** Tests logs: positions, reading by position, gaps after trimming, dropping, and reading while others append. */
import { describe, expect, test } from "vitest";
import type { LogRead, Storage } from "../../server/platform/storage/port.ts";
import { append, batch, bytes, text, type WithStorage } from "./storageTypes.ts";

const partition = 30;
const turn = () => new Promise((resolve) => setImmediate(resolve));

const toTexts = (read: LogRead) => (read.gap ? read : read.entries.map((entry) => `${entry.position}:${text(entry.bytes)}`));

function readLog(storage: Storage, log: string, after = 0, limit = 1000, maxBytes?: number): Promise<LogRead> {
  return storage.log.read({ partition, log, after, limit, ...(maxBytes === undefined ? {} : { maxBytes }) });
}

export function logTests(withStorage: WithStorage): void {
  describe("logs", () => {
    test("[ST13] positions have no gaps from 1 in each log, under concurrent appends", () =>
      withStorage(async (storage) => {
        const writes = Array.from({ length: 200 }, (_, at) => ({
          log: `log ${at % 7}`,
          entries: [`${at}`, `${at}'`].slice(0, 1 + (at % 2)),
        }));
        const results = await Promise.all(
          writes.map(({ log, entries }) => storage.commit(batch(partition, { logs: [append(log, ...entries)] }))),
        );
        const expected = new Map<string, string[]>();
        for (const [at, { log, entries }] of writes.entries()) {
          const all = expected.get(log) ?? [];
          expected.set(log, all);
          for (const entry of entries) all.push(`${all.length + 1}:${entry}`);
          expect(results[at]).toMatchObject({ ok: true, positions: [all.length] });
        }
        for (const [log, entries] of expected) {
          expect(toTexts(await readLog(storage, log))).toEqual(entries);
          expect(await storage.log.tail(partition, log)).toBe(entries.length);
        }
      }));

    test("[ST13] logs with the same name in two partitions, or with similar names, are separate", () =>
      withStorage(async (storage) => {
        await storage.commit(batch(partition, { logs: [append("a", "1"), append("ab", "2"), append("a/b", "3"), append("ä😀", "4")] }));
        await storage.commit(batch(31, { logs: [append("a", "5", "6")] }));
        expect(toTexts(await readLog(storage, "a"))).toEqual(["1:1"]);
        expect(toTexts(await readLog(storage, "ab"))).toEqual(["1:2"]);
        expect(toTexts(await readLog(storage, "ä😀"))).toEqual(["1:4"]);
        expect(await storage.log.tail(31, "a")).toBe(2);
        expect(await storage.log.tail(partition, "b")).toBe(0);
        expect(await readLog(storage, "b")).toEqual({ gap: false, entries: [], tail: 0 });
      }));

    test("[ST13] entries are returned byte for byte, and the caller may reuse its buffers", () =>
      withStorage(async (storage) => {
        const entry = Uint8Array.from({ length: 70_000 }, (_, at) => at % 251);
        const kept = Uint8Array.from(entry);
        const committed = storage.commit(batch(partition, { logs: [{ op: "append", log: "l", entries: [entry, new Uint8Array(0)] }] }));
        await committed;
        entry.fill(9);
        const read = await readLog(storage, "l");
        expect(read).toEqual({
          gap: false,
          entries: [
            { position: 1, bytes: kept },
            { position: 2, bytes: new Uint8Array(0) },
          ],
          tail: 2,
        });
      }));

    test("[ST13] a read returns at most `limit` entries and about `maxBytes`, and always advances", () =>
      withStorage(async (storage) => {
        for (let at = 0; at < 10; at += 1)
          await storage.commit(batch(partition, { logs: [append("l", "x".repeat(100), "y".repeat(100))] }));
        expect(toTexts(await readLog(storage, "l", 3, 2))).toEqual([`4:${"y".repeat(100)}`, `5:${"x".repeat(100)}`]);
        const some = await readLog(storage, "l", 0, 1000, 250);
        expect(some.gap ? [] : some.entries.map((entry) => entry.position)).toEqual([1, 2, 3]);
        expect(await readLog(storage, "l", 5, 1000, 1)).toMatchObject({ gap: false, entries: [{ position: 6 }], tail: 20 });
        expect(await readLog(storage, "l", 20)).toEqual({ gap: false, entries: [], tail: 20 });
        expect(await readLog(storage, "l", 99)).toEqual({ gap: false, entries: [], tail: 20 });
        expect(await readLog(storage, "l", 0, 0)).toEqual({ gap: false, entries: [], tail: 20 });
      }));

    test("[ST26] an entry of twin logs is in both, each with its position in the other", () =>
      withStorage(async (storage) => {
        const twinOf = (bytes: Uint8Array) => Number(Buffer.from(bytes).readBigUInt64BE(0));
        const wordOf = (bytes: Uint8Array) => text(bytes.subarray(8));
        const commits = Array.from({ length: 60 }, (_, at) => {
          const log = `run ${at % 3}`;
          const entries = [bytes(`${log} ${at}`), ...(at % 5 === 0 ? [bytes(`${log} ${at}'`)] : [])];
          return storage.commit(batch(partition, { logs: [{ op: "append", log, twin: "all", entries }] }));
        });
        const results = await Promise.all(commits);
        const all = await readLog(storage, "all");
        if (all.gap) throw new Error("nothing was trimmed");
        expect(all.entries).toHaveLength(72);
        const seen = new Map<string, number>();
        for (const { position, bytes: entry } of all.entries) {
          const word = wordOf(entry);
          const log = word.slice(0, 5);
          const own = (seen.get(log) ?? 0) + 1;
          seen.set(log, own);
          expect(twinOf(entry)).toBe(own);
          const other = await readLog(storage, log, own - 1, 1);
          if (other.gap) throw new Error("nothing was trimmed");
          expect(other.entries.map((found) => [found.position, twinOf(found.bytes), wordOf(found.bytes)])).toEqual([[own, position, word]]);
        }
        // The answer has the position in the log itself.
        expect(results.at(-1)).toMatchObject({ ok: true, positions: [seen.get("run 2")] });
        await storage.commit(batch(partition, { logs: [{ op: "trim", log: "run 0", through: 5 }] }));
        expect(await readLog(storage, "run 0")).toMatchObject({ gap: true, firstKept: 6 });
        expect(await readLog(storage, "all")).toMatchObject({ gap: false, tail: 72 });
        const own = storage.commit(batch(partition, { logs: [{ op: "append", log: "all", twin: "all", entries: [bytes("x")] }] }));
        await expect(own).rejects.toThrow("cannot be its own twin");
      }));

    test("[ST26] the entries of one append are adjacent in both logs, with everything else it appends", () =>
      withStorage(async (storage) => {
        const twin = (log: string, other: string, ...entries: string[]) =>
          ({ op: "append", log, twin: other, entries: entries.map(bytes) }) as const;
        const twins = async (log: string) => {
          const read = await readLog(storage, log);
          return read.gap
            ? read
            : read.entries.map((entry) => `${Buffer.from(entry.bytes).readBigUInt64BE(0)}:${text(entry.bytes.subarray(8))}`);
        };
        await storage.commit(batch(partition, { logs: [twin("r", "all", "a"), twin("all", "s", "b")] }));
        const many = [
          twin("r", "all", "c", "d"),
          append("other", "-"),
          twin("s", "all", "e", "f", "g"),
          twin("r", "all"),
          twin("r", "s", "h"),
        ];
        expect(await storage.commit(batch(partition, { logs: many }))).toMatchObject({ ok: true, positions: [3, 1, 4, 3, 4] });
        expect(await twins("all")).toEqual(["1:a", "1:b", "2:c", "3:d", "2:e", "3:f", "4:g"]);
        expect(await twins("r")).toEqual(["1:a", "3:c", "4:d", "5:h"]);
        expect(await twins("s")).toEqual(["2:b", "5:e", "6:f", "7:g", "4:h"]);
      }));

    test("[ST26] trimming or dropping one twin leaves the other unchanged, and its positions continue", () =>
      withStorage(async (storage) => {
        const say = (word: string) =>
          storage.commit(batch(partition, { logs: [{ op: "append", log: "r", twin: "all", entries: [bytes(word)] }] }));
        const last = async (log: string) => {
          const read = await readLog(storage, log, (await storage.log.tail(partition, log)) - 1);
          return read.gap
            ? []
            : read.entries.map(({ position, bytes: entry }) => [position, Number(Buffer.from(entry).readBigUInt64BE(0))]);
        };
        for (const word of ["a", "b", "c"]) await say(word);
        await storage.commit(batch(partition, { logs: [{ op: "trim", log: "all", through: 3 }] }));
        expect(await readLog(storage, "all", 2)).toEqual({ gap: true, firstKept: 4, tail: 3 });
        expect(await readLog(storage, "r")).toMatchObject({ gap: false, entries: [{ position: 1 }, { position: 2 }, { position: 3 }] });
        await say("d");
        expect([await last("all"), await last("r")]).toEqual([[[4, 4]], [[4, 4]]]);
        await storage.commit(batch(partition, { logs: [{ op: "drop", log: "r" }] }));
        expect(await readLog(storage, "all", 3)).toMatchObject({ gap: false, entries: [{ position: 4 }], tail: 4 });
        expect(await say("e")).toMatchObject({ ok: true, positions: [1] });
        expect([await last("all"), await last("r")]).toEqual([[[5, 1]], [[1, 5]]]);
      }));

    test("[ST26] a refused append, or one with an invalid twin, leaves nothing in either log", () =>
      withStorage(async (storage) => {
        const logs = [{ op: "append", log: "r", twin: "all", entries: [bytes("x")] }] as const;
        const require = [{ kind: "due", id: "missing", fence: 1 }] as const;
        expect(await storage.commit(batch(partition, { logs, require }))).toMatchObject({ ok: false });
        const own = batch(partition, { logs: [...logs, { op: "append", log: "all", twin: "all", entries: [bytes("x")] }] });
        await expect(storage.commit(own)).rejects.toThrow("cannot be its own twin");
        for (const log of ["r", "all"]) expect(await storage.log.tail(partition, log)).toBe(0);
        expect(await storage.commit(batch(partition, { logs }))).toMatchObject({ ok: true, positions: [1] });
      }));

    test("[ST58] of commits that require the same end of a log, one succeeds, even after a trim or drop", () =>
      withStorage(async (storage) => {
        const log = "lä😀";
        const upon = (position: number) =>
          storage.commit(batch(partition, { logs: [append(log, "x")], require: [{ kind: "tail", log, position }] }));
        const refused = { ok: false, conflict: { kind: "tail", log } };
        expect(await upon(1)).toEqual(refused);
        const results = await Promise.all(Array.from({ length: 8 }, () => upon(0)));
        expect(results.filter(({ ok }) => ok)).toEqual([{ ok: true, positions: [1], revisions: [] }]);
        expect(results.filter(({ ok }) => !ok)).toEqual(Array.from({ length: 7 }, () => refused));
        expect(await upon(1)).toMatchObject({ ok: true, positions: [2] });
        await storage.commit(batch(partition, { logs: [{ op: "trim", log, through: 2 }] }));
        expect(await upon(0)).toEqual(refused);
        expect(await upon(2)).toMatchObject({ ok: true, positions: [3] });
        await storage.commit(batch(partition, { logs: [{ op: "drop", log }] }));
        expect(await upon(3)).toEqual(refused);
        expect(await storage.commit(batch(partition, { require: [{ kind: "tail", log, position: 0 }] }))).toMatchObject({ ok: true });
      }));

    test("[ST14] a reader behind the trimmed part receives the gap, and positions continue", () =>
      withStorage(async (storage) => {
        const trim = (through: number) => storage.commit(batch(partition, { logs: [{ op: "trim", log: "l", through }] }));
        await storage.commit(batch(partition, { logs: [append("l", "1", "2", "3", "4", "5")] }));
        await trim(3);
        expect(await readLog(storage, "l", 2)).toEqual({ gap: true, firstKept: 4, tail: 5 });
        expect(toTexts(await readLog(storage, "l", 3))).toEqual(["4:4", "5:5"]);
        await trim(1);
        expect(await readLog(storage, "l", 0)).toEqual({ gap: true, firstKept: 4, tail: 5 });
        await trim(99);
        expect(await readLog(storage, "l", 4)).toEqual({ gap: true, firstKept: 6, tail: 5 });
        expect(await readLog(storage, "l", 5)).toEqual({ gap: false, entries: [], tail: 5 });
        expect(await storage.commit(batch(partition, { logs: [append("l", "6")] }))).toMatchObject({ positions: [6] });
        expect(toTexts(await readLog(storage, "l", 5))).toEqual(["6:6"]);
        const both = batch(partition, { logs: [append("l", "7"), { op: "trim", log: "l", through: 6 }, append("l", "8")] });
        expect(await storage.commit(both)).toMatchObject({ positions: [7, 8] });
        expect(toTexts(await readLog(storage, "l", 6))).toEqual(["7:7", "8:8"]);
      }));

    test("[ST14] a dropped log is empty and starts again at 1", () =>
      withStorage(async (storage) => {
        const drop = { op: "drop", log: "l" } as const;
        await storage.commit(batch(partition, { logs: [append("l", "1", "2"), { op: "trim", log: "l", through: 1 }] }));
        await storage.commit(batch(partition, { logs: [drop] }));
        expect(await readLog(storage, "l")).toEqual({ gap: false, entries: [], tail: 0 });
        await storage.commit(batch(partition, { logs: [append("l", "new")] }));
        expect(toTexts(await readLog(storage, "l"))).toEqual(["1:new"]);
        await storage.commit(batch(partition, { logs: [append("l", "more"), drop, append("l", "newest")] }));
        expect(toTexts(await readLog(storage, "l"))).toEqual(["1:newest"]);
        expect((await storage.commit(batch(partition, { logs: [{ op: "drop", log: "never" }] }))).ok).toBe(true);
      }));

    test("[ST15] readers that follow a log during appends receive every entry once, in order", () =>
      withStorage(async (storage) => {
        const writers = 8;
        const each = 60;
        const seen = Array.from({ length: 3 }, () => [] as string[]);
        const read = async (into: string[]) => {
          while (into.length < writers * each) {
            const page = await readLog(storage, "l", into.length, 17);
            if (page.gap) throw new Error("a gap, though nothing was trimmed");
            for (const entry of page.entries) {
              expect(entry.position).toBe(into.length + 1);
              into.push(text(entry.bytes));
            }
            await turn();
          }
        };
        const write = async (writer: number) => {
          for (let at = 0; at < each; at += 1) await storage.commit(batch(partition, { logs: [append("l", `${writer}/${at}`)] }));
        };
        await Promise.all([...seen.map(read), ...Array.from({ length: writers }, (_, writer) => write(writer))]);
        for (const entries of seen) {
          expect(entries).toEqual(seen[0]);
          for (let writer = 0; writer < writers; writer += 1) {
            const own = entries.filter((entry) => entry.startsWith(`${writer}/`));
            expect(own).toEqual(Array.from({ length: each }, (_, at) => `${writer}/${at}`));
          }
        }
      }));

    test("[ST14] trimming during appends and reads keeps the remaining entries whole", () =>
      withStorage(async (storage) => {
        const total = 300;
        let trimmedTo = 0;
        for (let at = 1; at <= total; at += 1) {
          const trim = at % 10 === 0 ? [{ op: "trim", log: "l", through: at - 5 } as const] : [];
          if (trim.length > 0) trimmedTo = at - 5;
          await storage.commit(batch(partition, { logs: [{ op: "append", log: "l", entries: [bytes(String(at))] }, ...trim] }));
          const kept = await readLog(storage, "l", trimmedTo);
          expect(toTexts(kept)).toEqual(
            Array.from({ length: at - trimmedTo }, (_, index) => `${trimmedTo + index + 1}:${trimmedTo + index + 1}`),
          );
          if (trimmedTo > 0) expect(await readLog(storage, "l", trimmedTo - 1)).toEqual({ gap: true, firstKept: trimmedTo + 1, tail: at });
        }
      }));
  });
}
