/**
 * The pump: claims what falls due in all partitions, hands each row to the worker of its kind, and keeps the
 * lease while the worker is at it.
 *
 * A row that this node wrote for itself is adopted without a claim. Whoever loses the lease hears of it by the
 * signal; the fence, not the signal, keeps a late result out. Rows that wait for room hold a longer lease, so a
 * long line costs little; what is too much to hold goes back to the store. It knows nothing of actors.
 */
import type { Logger } from "pino";
import { type ClaimedRow, type Partition, partitionCount, type Storage } from "../storage/port.ts";
import { type After, after as realAfter } from "./after.ts";
import { createLanes } from "./lanes.ts";
import type { DueOutcome, DuePump, DueWorker, DueWorkerOptions, Lane } from "./port.ts";

const partitions: readonly Partition[] = Array.from({ length: partitionCount }, (_, partition) => partition);
const claimLimit = 256;
/** Above this many running rows nothing is claimed. */
const maxRunning = 1000;
/** Above this many rows in one line, further ones go back to the store. */
const maxWaiting = 500;
/** Waiting rows hold this many leases at once. */
const parkedLeases = 12;
const maxWakes = 1000;
const failureMs = { first: 1000, most: 300_000 };

export interface DueObserver {
  /** A row came to run, so long after it fell due. */
  lag(kind: string, lagMs: number): void;
}

export interface DuePumpOptions {
  readonly storage: Pick<Storage, "due" | "commit" | "now">;
  readonly log: Logger;
  readonly leaseMs: number;
  /** Default 500. */
  readonly pollMs?: number;
  readonly after?: After;
  readonly observe?: DueObserver;
}

/** A row this node holds. */
interface Held {
  readonly row: ClaimedRow;
  readonly lanes: readonly Lane[];
  readonly abort: AbortController;
  /** False for a row that was claimed because it was due. */
  readonly adopted: boolean;
  leasedUntilMs: number;
  parked: boolean;
  /** The lease is lost or given back: nothing may be written under it. */
  over: boolean;
  stopRenewal: () => void;
}

export function createDuePump(options: DuePumpOptions): DuePump {
  const { storage, log, leaseMs, pollMs = 500, after = realAfter, observe } = options;
  const workers = new Map<string, { readonly work: DueWorker; readonly lanes: DueWorkerOptions["lanes"] }>();
  const lanes = createLanes();
  const running = new Map<Held, Promise<void>>();
  const runningByRow = new Map<string, Held>();
  const waiting = new Map<Held, { leaveLine(): void }>();
  /** Ascending. */
  const wakes: number[] = [];
  let stopWake: (() => void) | undefined;
  let stopPoll: (() => void) | undefined;
  let started = false;
  let draining = false;
  let looking = false;
  let lookAgain = false;
  let full = false;

  const rowName = ({ partition, id }: ClaimedRow) => `${partition}/${id}`;

  function lost(held: Held): void {
    if (held.over) return;
    held.over = true;
    held.stopRenewal();
    held.abort.abort();
    waiting.get(held)?.leaveLine();
    waiting.delete(held);
  }

  /** True while the row is ours; a store that fails leaves it ours until the lease ends. */
  async function renew(held: Held): Promise<boolean> {
    const ms = held.parked ? leaseMs * parkedLeases : leaseMs;
    const untilMs = storage.now() + ms;
    try {
      if (await storage.due.renew(held.row, ms)) held.leasedUntilMs = untilMs;
      else lost(held);
    } catch (err) {
      log.warn({ err, row: held.row.id }, "a lease could not be renewed");
    }
    return !held.over;
  }

  /** A third of the lease at a time; a store that does not answer at all ends the lease like one that refuses. */
  function keepRenewing(held: Held): void {
    held.stopRenewal();
    const everyMs = (held.parked ? leaseMs * parkedLeases : leaseMs) / 3;
    let asking = false;
    const tick = () => {
      if (storage.now() >= held.leasedUntilMs) return lost(held);
      held.stopRenewal = after(everyMs, tick);
      if (asking) return;
      asking = true;
      void renew(held).finally(() => {
        asking = false;
      });
    };
    held.stopRenewal = after(everyMs, tick);
  }

  async function postpone({ partition, id, fence }: ClaimedRow, dueAtMs: number, attempts: number): Promise<void> {
    try {
      await storage.commit({ partition, due: [{ op: "postpone", id, fence, dueAtMs, attempts }] });
      wake(dueAtMs);
    } catch (err) {
      // Its lease ends by itself, and then it is due.
      log.warn({ err, row: id }, "a due row could not be handed back");
    }
  }

  async function conclude({ partition, id, fence, attempts }: ClaimedRow, outcome: DueOutcome): Promise<void> {
    if (outcome.kind === "retry") return postpone({ partition, id, fence } as ClaimedRow, outcome.atMs, attempts + 1);
    if (outcome.kind === "settled") return;
    try {
      await storage.commit({ partition, due: [{ op: "acknowledge", id, fence }] });
    } catch (err) {
      log.warn({ err, row: id }, "a due row could not be acknowledged");
    }
  }

  async function run(held: Held): Promise<void> {
    const { row } = held;
    let outcome: DueOutcome;
    try {
      if (held.parked) {
        held.parked = false;
        if (!(await renew(held))) return;
      }
      keepRenewing(held);
      if (!held.adopted) observe?.lag(row.kind, Math.max(0, storage.now() - row.dueAtMs));
      const worker = workers.get(row.kind);
      if (worker === undefined) throw new Error(`nobody works on due rows of kind ${row.kind}`);
      outcome = await worker.work(row, held.abort.signal);
    } catch (err) {
      if (held.over) return;
      log.error({ err, row: row.id, kind: row.kind, attempts: row.attempts }, "work on a due row failed");
      const waitMs = Math.min(failureMs.first * 2 ** Math.min(row.attempts, 20), failureMs.most);
      outcome = { kind: "retry", atMs: storage.now() + waitMs };
    }
    held.stopRenewal();
    if (!held.over || outcome.kind === "done") await conclude(row, outcome);
  }

  function begin(held: Held): void {
    waiting.delete(held);
    const name = rowName(held.row);
    runningByRow.set(name, held);
    const done = run(held).finally(() => {
      held.stopRenewal();
      running.delete(held);
      if (runningByRow.get(name) === held) runningByRow.delete(name);
      lanes.leave(held.lanes);
      if (full) void look();
    });
    running.set(held, done);
  }

  function take(row: ClaimedRow, adopted: boolean): void {
    if (draining) return void postpone(row, storage.now(), row.attempts);
    const before = runningByRow.get(rowName(row));
    const held: Held = {
      row,
      // The run before lost its lease and must end first: one at a time, even here.
      lanes: [...(workers.get(row.kind)?.lanes?.(row) ?? []), { name: `row ${rowName(row)}`, max: 1 }],
      abort: new AbortController(),
      adopted,
      leasedUntilMs: storage.now() + leaseMs,
      parked: false,
      over: false,
      stopRenewal: () => {},
    };
    if (before !== undefined) lost(before);
    const entered = lanes.enter(held.lanes, maxWaiting, () => begin(held));
    if (entered === "started") return;
    if (entered === "full") return void postpone(row, storage.now() + leaseMs * parkedLeases, row.attempts);
    waiting.set(held, entered);
    held.parked = true;
    void renew(held).then((ours) => {
      if (ours && waiting.has(held)) keepRenewing(held);
    });
  }

  async function look(): Promise<void> {
    if (looking) {
      lookAgain = true;
      return;
    }
    looking = true;
    try {
      do {
        lookAgain = false;
        full = running.size >= maxRunning;
        if (draining || !started || full) break;
        const rows = await storage.due.claim({ partitions, limit: claimLimit, leaseMs });
        for (const row of rows) take(row, false);
        if (rows.length === claimLimit) lookAgain = true;
      } while (lookAgain);
    } catch (err) {
      log.warn({ err }, "due rows could not be claimed");
    } finally {
      looking = false;
    }
  }

  async function poll(): Promise<void> {
    await look();
    if (started && !draining) stopPoll = after(pollMs, () => void poll());
  }

  function armWake(): void {
    stopWake?.();
    const [next] = wakes;
    stopWake =
      next === undefined || !started || draining
        ? undefined
        : after(Math.max(1, next - storage.now()), () => {
            const nowMs = storage.now();
            while (wakes[0] !== undefined && wakes[0] <= nowMs) wakes.shift();
            armWake();
            if (next <= nowMs) void look();
          });
  }

  function wake(dueAtMs: number): void {
    let at = wakes.length;
    while (at > 0 && (wakes[at - 1] as number) > dueAtMs) at -= 1;
    // Beyond this many, the poll finds the latest ones.
    if (at >= maxWakes || wakes[at - 1] === dueAtMs) return;
    wakes.splice(at, 0, dueAtMs);
    if (wakes.length > maxWakes) wakes.pop();
    if (at === 0) armWake();
  }

  return {
    register(kind, work, workerOptions = {}) {
      if (workers.has(kind)) throw new Error(`two workers are registered for due rows of kind ${kind}`);
      workers.set(kind, { work, lanes: workerOptions.lanes });
    },
    adopt: (row) => take(row, true),
    // All partitions are looked at in one claim.
    wake: (_partition, dueAtMs) => wake(dueAtMs),
    start() {
      if (started) return;
      started = true;
      armWake();
      void poll();
    },
    async drain(signal) {
      draining = true;
      stopPoll?.();
      stopWake?.();
      const handedBack = [...waiting.keys()].map((held) => {
        lost(held);
        return postpone(held.row, storage.now(), held.row.attempts);
      });
      const aborted = new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener("abort", () => resolve(), { once: true });
      });
      const settle = async () => {
        // What ends may start more, which is handed back as it comes.
        while (running.size > 0) await Promise.allSettled(running.values());
      };
      await Promise.race([settle(), aborted]);
      for (const held of running.keys()) {
        if (held.over) continue;
        lost(held);
        handedBack.push(postpone(held.row, storage.now(), held.row.attempts));
      }
      await Promise.all(handedBack);
    },
  };
}
