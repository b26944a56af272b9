/** A clock with timers that moves only when the test moves it. */
import type { After } from "../../server/platform/actors/after.ts";
import type { Storage } from "../../server/platform/storage/port.ts";

export interface ManualTime {
  now(): number;
  readonly after: After;
  /** Wraps a storage: the clock does not move while an operation of it is running. */
  watch(storage: Storage): Storage;
  /** Moves the clock and runs each timer at its time. After each timer, waits until pending work has finished. */
  advance(ms: number): Promise<void>;
  /** Moves the clock in one step: timers that fell due run late, as after a suspended machine wakes up. */
  leap(ms: number): Promise<void>;
  /**
   * Moves the clock in small steps until the condition holds. Throws after `withinMs` of this clock. `leaps`: each step is a
   * `leap`, which takes less work for hours in which little happens.
   */
  until(condition: () => boolean | Promise<boolean>, options?: { stepMs?: number; withinMs?: number; leaps?: boolean }): Promise<void>;
}

const restTurns = 8;

export function createManualTime(startMs = 1_800_000_000_000): ManualTime {
  let nowMs = startMs;
  const timers = new Set<{ atMs: number; run: () => void }>();
  let atWork = 0;

  /** Waits until promises have settled (a few turns) and no operation of a watched storage is running. */
  async function rest(): Promise<void> {
    for (let quiet = 0; quiet < restTurns; quiet = atWork > 0 ? 0 : quiet + 1) await new Promise((resolve) => setImmediate(resolve));
  }

  async function counted<Result>(run: () => Promise<Result>): Promise<Result> {
    atWork += 1;
    try {
      return await run();
    } finally {
      atWork -= 1;
    }
  }

  function next(untilMs: number) {
    let found: { atMs: number; run: () => void } | undefined;
    for (const timer of timers) if (timer.atMs <= untilMs && (found === undefined || timer.atMs < found.atMs)) found = timer;
    return found;
  }

  async function advance(ms: number): Promise<void> {
    const untilMs = nowMs + ms;
    for (let timer = next(untilMs); timer !== undefined; timer = next(untilMs)) {
      timers.delete(timer);
      nowMs = Math.max(nowMs, timer.atMs);
      timer.run();
      await rest();
    }
    nowMs = untilMs;
    await rest();
  }

  function leap(ms: number): Promise<void> {
    nowMs += ms;
    return advance(0);
  }

  return {
    now: () => nowMs,
    after(delayMs, run) {
      const timer = { atMs: nowMs + delayMs, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance,
    leap,
    watch: (storage) => ({
      ...storage,
      records: {
        ...storage.records,
        get: (type, key) => counted(() => storage.records.get(type, key)),
        getMany: (type, keys) => counted(() => storage.records.getMany(type, keys)),
      },
      index: { scan: (scan) => counted(() => storage.index.scan(scan)) },
      counts: { get: (partition, keys) => counted(() => storage.counts.get(partition, keys)) },
      log: {
        read: (where) => counted(() => storage.log.read(where)),
        tail: (partition, log) => counted(() => storage.log.tail(partition, log)),
      },
      due: {
        ...storage.due,
        claim: (options) => counted(() => storage.due.claim(options)),
        renew: (row, leaseMs) => counted(() => storage.due.renew(row, leaseMs)),
        get: (partition, id) => counted(() => storage.due.get(partition, id)),
        nextDueAtMs: () => counted(() => storage.due.nextDueAtMs()),
      },
      blobs: {
        ...storage.blobs,
        put: (partition, bytes) => counted(() => storage.blobs.put(partition, bytes)),
        get: (partition, sha256) => counted(() => storage.blobs.get(partition, sha256)),
        getPart: (partition, sha256, from, maxBytes) => counted(() => storage.blobs.getPart(partition, sha256, from, maxBytes)),
      },
      commit: (batch) => counted(() => storage.commit(batch)),
    }),
    async until(condition, { stepMs = 100, withinMs = 3_600_000, leaps = false } = {}) {
      const endMs = nowMs + withinMs;
      await rest();
      while (!(await condition())) {
        if (nowMs >= endMs) throw new Error("the condition did not come true in time");
        await (leaps ? leap(stepMs) : advance(stepMs));
      }
    },
  };
}
