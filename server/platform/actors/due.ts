/**
 * DuePump claims due rows in all partitions, gives each row to the worker of its kind, and renews the lease while the
 * worker runs.
 *
 * A row that this node has just written is adopted without a claim. A worker that loses its lease is notified by the
 * signal, but the fence is what keeps a late result out. Waiting rows hold a longer lease, so a long line needs few
 * renewals. Rows beyond the capacity of a line are postponed in the store. This module knows nothing of actors.
 */
import type { Logger } from "pino";
import { type ClaimedRow, type Partition, partitionCount, type Storage } from "../storage/port.ts";
import { type After, after as realAfter } from "./after.ts";
import { createBacklogPacer } from "./backlogPacer.ts";
import type { DueOutcome, DuePump, DueWorker, DueWorkerOptions, Lane } from "./duePort.ts";
import { createLanes } from "./lanes.ts";
import { createWakes } from "./wakes.ts";

const partitions: readonly Partition[] = Array.from({ length: partitionCount }, (_, partition) => partition);
const claimLimit = 256;
/** No rows are claimed while this many rows are running. */
const maxRunning = 1000;
/** Maximum rows in one line. Further rows are postponed in the store for at least `postponedLeases` leases. */
const maxWaiting = { ofKind: 5000, ofNarrowLane: 1000 };
const postponedLeases = 2;
/** A row that still waits after a third of a lease is parked. A parked row holds a lease of this many lease periods. */
const parkedLeases = 12;
const failureMs = { first: 1000, most: 300_000 };

export interface DueObserver {
  /** Reports how long after its due time a claimed row started to run. */
  lag(kind: string, lagMs: number): void;
}

export interface DuePumpOptions {
  readonly storage: Pick<Storage, "due" | "commit" | "now">;
  readonly log: Logger;
  readonly leaseMs: number;
  /** Shortest time between two polls, in milliseconds. Default 500. */
  readonly pollMs?: number;
  /**
   * Longest time between two polls, in milliseconds. Default `pollMs`. With a longer time the pump polls when the next
   * stored row is due; a row that is written after a poll without `wake` waits at most this long.
   */
  readonly idlePollMs?: number;
  readonly after?: After;
  readonly observe?: DueObserver;
}

/** A row that this node holds under a lease. */
interface Held {
  readonly row: ClaimedRow;
  readonly lanes: readonly Lane[];
  /** Settles when a run of the same row under an earlier lease has ended. */
  readonly behind: Promise<void> | undefined;
  readonly abort: AbortController;
  /** True if this node wrote the row and adopted it; false if the row was claimed because it was due. */
  readonly adopted: boolean;
  leasedUntilMs: number;
  parked: boolean;
  /** The lease is lost or was released, so nothing may be written under it. */
  over: boolean;
  stopRenewal: () => void;
}

export function createDuePump(options: DuePumpOptions): DuePump {
  const { storage, log, leaseMs, pollMs = 500, idlePollMs = pollMs, after = realAfter, observe } = options;
  const workers = new Map<string, { readonly work: DueWorker; readonly lanes: DueWorkerOptions["lanes"] }>();
  const lanes = createLanes();
  const backlog = createBacklogPacer({ now: storage.now, pauseMs: leaseMs * postponedLeases });
  const running = new Map<Held, Promise<void>>();
  /** The latest claim of each row that waits, runs or has not ended yet. */
  const heldByRow = new Map<string, Held>();
  const waiting = new Map<Held, { leaveLine(): void }>();
  let stopPoll: (() => void) | undefined;
  let started = false;
  let draining = false;
  let claiming = false;
  let claimAgain = false;
  let full = false;
  const wakes = createWakes({ now: storage.now, after, look: () => void claimRows() });

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

  /** If the store fails, this node keeps the row until the lease ends. */
  async function renew(held: Held): Promise<void> {
    const ms = held.parked ? leaseMs * parkedLeases : leaseMs;
    const untilMs = storage.now() + ms;
    try {
      if (await storage.due.renew(held.row, ms)) held.leasedUntilMs = untilMs;
      else lost(held);
    } catch (err) {
      log.warn({ err, row: held.row.id }, "lease not renewed");
    }
  }

  /**
   * Renews the lease after each third of its duration. If the store does not answer at all, the lease counts as lost
   * when it ends. A row that still waits at a renewal is parked.
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
      // The lease expires on its own, and then the row is due again.
      log.warn({ err, row: id }, "due row not released");
    }
  }

  async function conclude({ partition, id, fence, attempts }: ClaimedRow, outcome: DueOutcome): Promise<void> {
    if (outcome.kind === "retry") {
      return postpone({ partition, id, fence } as ClaimedRow, outcome.atMs, outcome.uncounted === true ? attempts : attempts + 1);
    }
    if (outcome.kind === "settled") return;
    try {
      await storage.commit({ partition, due: [{ op: "acknowledge", id, fence }] });
    } catch (err) {
      log.warn({ err, row: id }, "due row not acknowledged");
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
      if (worker === undefined) throw new Error(`no worker is registered for due rows of kind ${row.kind}`);
      outcome = await worker.work(row, held.abort.signal);
    } catch (err) {
      if (held.over) return;
      log.error({ err, row: row.id, kind: row.kind, attempts: row.attempts }, "due row failed; it will be retried");
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
      if (full) void claimRows();
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
    void postpone(held.row, backlog.toReturnAtMs(name, most), held.row.attempts);
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
    // The row was claimed again, so the earlier lease is lost. A run under that lease must end first, because only one
    // run of a row may be active, even within this process.
    if (before !== undefined) lost(before);
    waiting.set(held, { leaveLine: () => {} });
    const enter = () => {
      if (waiting.delete(held)) line(held);
    };
    if (held.behind === undefined) enter();
    else void held.behind.then(enter);
  }

  async function claimRows(): Promise<void> {
    if (claiming) {
      claimAgain = true;
      return;
    }
    claiming = true;
    try {
      do {
        claimAgain = false;
        full = running.size >= maxRunning;
        if (draining || !started || full) break;
        // The lease is counted from the request, because the answer may take long to arrive.
        const untilMs = storage.now() + leaseMs;
        const rows = await storage.due.claim({ partitions, limit: claimLimit, leaseMs });
        for (const row of rows) take(row, false, untilMs);
        if (rows.length === claimLimit) claimAgain = true;
      } while (claimAgain);
    } catch (err) {
      log.warn({ err }, "due rows not claimed");
    } finally {
      claiming = false;
    }
  }

  async function poll(): Promise<void> {
    await claimRows();
    const waitMs = await untilNextPollMs();
    if (started && !draining) stopPoll = after(waitMs, () => void poll());
  }

  async function untilNextPollMs(): Promise<number> {
    if (idlePollMs <= pollMs) return pollMs;
    try {
      const dueAtMs = (await storage.due.nextDueAtMs()) ?? Number.POSITIVE_INFINITY;
      return Math.min(Math.max(dueAtMs - storage.now(), pollMs), idlePollMs);
    } catch {
      // The claim has logged why the store does not answer.
      return pollMs;
    }
  }

  return {
    register(kind, work, workerOptions = {}) {
      if (workers.has(kind)) throw new Error(`two workers are registered for due rows of kind ${kind}`);
      workers.set(kind, { work, lanes: workerOptions.lanes });
    },
    // The row was written with a lease: its due time is the end of the lease.
    adopt: (row) => take(row, true, row.dueAtMs),
    // One claim covers all partitions, so the partition is not needed.
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
      const postponed = [...waiting.keys()].map((held) => {
        lost(held);
        return postpone(held.row, storage.now(), held.row.attempts);
      });
      const aborted = new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener("abort", () => resolve(), { once: true });
      });
      const settle = async () => {
        // A run that ends may adopt further rows. `take` postpones them while the pump drains.
        while (running.size > 0) await Promise.allSettled(running.values());
      };
      await Promise.race([settle(), aborted]);
      for (const held of running.keys()) {
        if (held.over) continue;
        lost(held);
        postponed.push(postpone(held.row, storage.now(), held.row.attempts));
      }
      await Promise.all(postponed);
    },
  };
}
