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
import { createTurnedAway } from "./turnedAway.ts";
import { createWakes } from "./wakes.ts";

const partitions: readonly Partition[] = Array.from({ length: partitionCount }, (_, partition) => partition);
const claimLimit = 256;
/** Above this many running rows nothing is claimed. */
const maxRunning = 1000;
/** Above this many rows in one line, further ones go back to the store, for so many leases at least. */
const maxWaiting = { ofKind: 5000, ofNarrowLane: 1000 };
const turnedAwayLeases = 2;
/** Rows that have waited for a while hold this many leases at once. */
const parkedLeases = 12;
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
  /** The end of a run under an earlier lease of the row. */
  readonly behind: Promise<void> | undefined;
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
  const turnedAway = createTurnedAway({ now: storage.now, pauseMs: leaseMs * turnedAwayLeases });
  const running = new Map<Held, Promise<void>>();
  /** The latest claim of each row: what waits or runs, or still has to end. */
  const heldByRow = new Map<string, Held>();
  const waiting = new Map<Held, { leaveLine(): void }>();
  let stopPoll: (() => void) | undefined;
  let started = false;
  let draining = false;
  let looking = false;
  let lookAgain = false;
  let full = false;
  const wakes = createWakes({ now: storage.now, after, look: () => void look() });

  const rowName = ({ partition, id }: ClaimedRow) => `${partition}/${id}`;

  function lost(held: Held): void {
    if (held.over) return;
    held.over = true;
    held.stopRenewal();
    held.abort.abort();
    waiting.get(held)?.leaveLine();
    waiting.delete(held);
    if (!running.has(held)) forget(held);
  }

  /** A store that fails leaves the row ours until the lease ends. */
  async function renew(held: Held): Promise<void> {
    const ms = held.parked ? leaseMs * parkedLeases : leaseMs;
    const untilMs = storage.now() + ms;
    try {
      if (await storage.due.renew(held.row, ms)) held.leasedUntilMs = untilMs;
      else lost(held);
    } catch (err) {
      log.warn({ err, row: held.row.id }, "a lease could not be renewed");
    }
  }

  /**
   * A third of the lease at a time; a store that does not answer at all ends the lease like one that refuses.
   * A row that still waits then is parked.
   */
  function keepRenewing(held: Held): void {
    held.stopRenewal();
    let asking = false;
    const tick = () => {
      if (storage.now() >= held.leasedUntilMs) return lost(held);
      held.parked = waiting.has(held);
      held.stopRenewal = after((held.parked ? leaseMs * parkedLeases : leaseMs) / 3, tick);
      if (asking) return;
      asking = true;
      void renew(held).finally(() => {
        asking = false;
      });
    };
    held.stopRenewal = after(leaseMs / 3, tick);
  }

  async function postpone({ partition, id, fence }: ClaimedRow, dueAtMs: number, attempts: number): Promise<void> {
    try {
      await storage.commit({ partition, due: [{ op: "postpone", id, fence, dueAtMs, attempts }] });
      wakes.add(dueAtMs);
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
      if (storage.now() >= held.leasedUntilMs) return lost(held);
      held.parked = false;
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
    const done = run(held).finally(() => {
      held.stopRenewal();
      running.delete(held);
      forget(held);
      lanes.leave(held.lanes);
      if (full) void look();
    });
    running.set(held, done);
  }

  function forget(held: Held): void {
    const name = rowName(held.row);
    if (heldByRow.get(name) === held) heldByRow.delete(name);
  }

  function line(held: Held): void {
    const most = held.lanes.length > 1 ? maxWaiting.ofNarrowLane : maxWaiting.ofKind;
    const entered = lanes.enter(held.lanes, most, () => begin(held));
    if (entered === "started") return;
    if (entered !== "full") return void waiting.set(held, entered);
    lost(held);
    const name = held.lanes.map((lane) => lane.name).join(", ");
    void postpone(held.row, turnedAway.toReturnAtMs(name, most), held.row.attempts);
  }

  function take(row: ClaimedRow, adopted: boolean, leasedUntilMs: number): void {
    if (draining) return void postpone(row, storage.now(), row.attempts);
    const before = heldByRow.get(rowName(row));
    const held: Held = {
      row,
      behind: before === undefined ? undefined : (running.get(before) ?? before.behind),
      lanes: workers.get(row.kind)?.lanes?.(row) ?? [],
      abort: new AbortController(),
      adopted,
      leasedUntilMs,
      parked: false,
      over: false,
      stopRenewal: () => {},
    };
    heldByRow.set(rowName(row), held);
    keepRenewing(held);
    // It was claimed anew, so the lease before is lost. A run under it must end first: one at a time, even here.
    if (before !== undefined) lost(before);
    waiting.set(held, { leaveLine: () => {} });
    const enter = () => {
      if (waiting.delete(held)) line(held);
    };
    if (held.behind === undefined) enter();
    else void held.behind.then(enter);
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
        // Counted from the question: an answer may be long on its way.
        const untilMs = storage.now() + leaseMs;
        const rows = await storage.due.claim({ partitions, limit: claimLimit, leaseMs });
        for (const row of rows) take(row, false, untilMs);
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

  return {
    register(kind, work, workerOptions = {}) {
      if (workers.has(kind)) throw new Error(`two workers are registered for due rows of kind ${kind}`);
      workers.set(kind, { work, lanes: workerOptions.lanes });
    },
    // Born leased: it is due when the lease ends.
    adopt: (row) => take(row, true, row.dueAtMs),
    // All partitions are looked at in one claim.
    wake: (_partition, dueAtMs) => wakes.add(dueAtMs),
    start() {
      if (started) return;
      started = true;
      wakes.start();
      void poll();
    },
    async drain(signal) {
      draining = true;
      stopPoll?.();
      wakes.stop();
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
