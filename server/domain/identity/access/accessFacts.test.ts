import pino from "pino";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createMemoryStorage } from "../../../platform/storage/memoryStorage.ts";
import type { Storage } from "../../../platform/storage/port.ts";
import { type AccessFact, type AccessWatch, accessFactWrite, announceAccessFacts, createAccessWatch } from "./accessFacts.ts";

const log = pino({ level: "silent" });
const revoked = (keyId: string): AccessFact => ({ kind: "key.revoked", keyId });
/** Commits facts, and announces them as the product does. */
const state = (storage: Storage, partition: number, ...facts: AccessFact[]) =>
  announceAccessFacts(storage).commit({ partition, logs: facts.map(accessFactWrite) });

describe("the watch of access facts", () => {
  const running: AccessWatch[] = [];
  afterEach(() => {
    for (const watch of running.splice(0)) watch.stop();
  });

  async function watching(storage: Pick<Storage, "log" | "bus" | "commit">, pollMs: number, polls = true) {
    const watch = createAccessWatch({ storage, log, pollMs, polls });
    const heard: AccessFact[] = [];
    const missed = vi.fn();
    const end = watch.subscribe((fact) => heard.push(fact), missed);
    watch.start();
    running.push(watch);
    await watch.ready();
    return { watch, heard, missed, end };
  }

  it("[AU28] an announced fact reaches every node, in order, without waiting for a poll", async () => {
    const storage = createMemoryStorage();
    await state(storage, 7, revoked("before"));
    const [here, there] = [await watching(storage, 3_600_000), await watching(storage, 3_600_000)];
    const facts = Array.from({ length: 1200 }, (_, at) => revoked(`key_${at}`));
    await state(storage, 7, ...facts);
    await vi.waitFor(() => expect(there.heard).toHaveLength(1200), 20_000);
    await vi.waitFor(() => expect(here.heard).toEqual(facts), 20_000);
    expect(there.heard).toEqual(facts);
  });

  it("[AU28] a fact whose announcement is lost is found by polling", async () => {
    const storage = createMemoryStorage();
    const deaf = { ...storage, bus: { publish: () => {}, subscribe: () => () => {} } };
    const { heard } = await watching(deaf, 10);
    for (const partition of [0, 31, 63]) await state(storage, partition, revoked(`key_${partition}`));
    await vi.waitFor(() => expect(heard).toHaveLength(3), 20_000);
    expect(new Set(heard)).toEqual(new Set([revoked("key_0"), revoked("key_31"), revoked("key_63")]));
  });

  it("[AU28] a subscription that ended or stopped receives no more facts", async () => {
    const storage = createMemoryStorage();
    const { watch, heard, end } = await watching(storage, 3_600_000);
    const others: AccessFact[] = [];
    watch.subscribe((fact) => others.push(fact));
    end();
    await state(storage, 1, revoked("a"));
    await vi.waitFor(() => expect(others).toHaveLength(1), 20_000);
    expect(heard).toEqual([]);
    watch.stop();
    await state(storage, 1, revoked("b"));
    await new Promise(setImmediate);
    expect(others).toHaveLength(1);
  });

  it("[AU28] the log is trimmed to what nodes may need, and a node further behind is notified", async () => {
    const storage = createMemoryStorage();
    const { heard, missed } = await watching(storage, 3_600_000);
    for (let at = 0; at < 6; at += 1) await state(storage, 3, ...Array.from({ length: 2000 }, () => revoked("key")));
    await vi.waitFor(() => expect(heard).toHaveLength(12_000), 20_000);
    await vi.waitFor(async () =>
      expect(await storage.log.read({ partition: 3, log: "access", after: 0, limit: 1 })).toMatchObject({ gap: true }),
    );
    const kept = await storage.log.read({ partition: 3, log: "access", after: 5000, limit: 1 });
    expect(kept).toMatchObject({ gap: false, tail: 12_000 });
    expect(missed).not.toHaveBeenCalled();
    await announceAccessFacts(storage).commit({
      partition: 3,
      logs: [...Array.from({ length: 5 }, () => accessFactWrite(revoked("lost"))), { op: "trim", log: "access", through: 12_004 }],
    });
    await vi.waitFor(() => expect(missed).toHaveBeenCalledTimes(1), 20_000);
    await state(storage, 3, revoked("next"));
    await vi.waitFor(() => expect(heard.at(-1)).toEqual(revoked("next")), 20_000);
  });

  it("[AU28] a store that does not answer for a while causes no lost fact", async () => {
    const storage = createMemoryStorage();
    let away = false;
    const flaky = {
      ...storage,
      log: {
        ...storage.log,
        read: (where: Parameters<Storage["log"]["read"]>[0]) => (away ? Promise.reject(new Error("away")) : storage.log.read(where)),
      },
    };
    const { heard } = await watching(flaky, 10);
    away = true;
    await state(storage, 5, revoked("a"));
    await new Promise(setImmediate);
    expect(heard).toEqual([]);
    away = false;
    await vi.waitFor(() => expect(heard).toEqual([revoked("a")]), 20_000);
  });

  it("[OP71] a store that no other process writes is read after a commit with facts, and after a failed read", async () => {
    const storage = createMemoryStorage();
    let reads = 0;
    let fails = false;
    const alone = {
      ...storage,
      log: {
        ...storage.log,
        read(where: Parameters<Storage["log"]["read"]>[0]) {
          reads += 1;
          return fails ? Promise.reject(new Error("away")) : storage.log.read(where);
        },
      },
    };
    vi.useFakeTimers();
    try {
      const { heard } = await watching(alone, 10, false);
      await vi.advanceTimersByTimeAsync(60_000);
      expect([reads, vi.getTimerCount()]).toEqual([0, 0]);
      fails = true;
      await state(alone, 5, revoked("a"));
      await vi.advanceTimersByTimeAsync(5);
      expect([reads, heard]).toEqual([1, []]);
      fails = false;
      await vi.advanceTimersByTimeAsync(10);
      expect([heard, vi.getTimerCount()]).toEqual([[revoked("a")], 0]);
    } finally {
      vi.useRealTimers();
    }
  });
});
