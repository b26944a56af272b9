/**
 * Group commit collects the jobs that arrive while one transaction is being written, and runs all of them in the next
 * transaction, in order of arrival.
 *
 * Only one transaction is written at a time. A job therefore always sees the result of earlier jobs, and no transaction
 * builds on one that failed.
 *
 * A commit costs about as much for one job as for a hundred. So a group in which every job may wait starts no earlier
 * than `pauseMs` after the start of the last group. After a pause in the traffic a job starts at once, and a group that
 * takes longer than `pauseMs` is followed by the next one without a wait.
 *
 * It does not know what jobs do. A job that throws before its first write fails alone; a job that throws after a write
 * fails the whole transaction.
 */

export interface Transactions {
  /** Runs `work` in one write transaction and resolves when it is durable. If `work` throws, the transaction is rolled back. */
  run(work: () => void): Promise<void>;
  /** `begin` runs before the first job and `end` after the last job, both inside the transaction. */
  begin(): void;
  end(): void;
  /** Called when the transaction is durable. It applies the staged changes to the state in memory. */
  committed(): void;
  /** Called when the transaction was rolled back. Returns the error for its callers. */
  failed(reason: unknown): Promise<Error>;
  /** True if the running job has written something. */
  dirty: boolean;
}

interface Job {
  readonly mayWait: boolean;
  readonly work: () => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (reason: unknown) => void;
  outcome: { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly reason: unknown } | undefined;
}

interface GroupCommit {
  /** `mayWait`: the job waits for others to share its transaction, for at most `pauseMs`. */
  run<Result>(work: () => Result, mayWait?: boolean): Promise<Result>;
  /** Resolves when no job is queued or running. */
  idle(): Promise<void>;
}

export function createGroupCommit(transactions: Transactions, pauseMs = 0): GroupCommit {
  let queued: Job[] = [];
  let pumping: Promise<void> | undefined;
  let lastStartMs = Number.NEGATIVE_INFINITY;
  let endPause: (() => void) | undefined;

  /** Waits for more jobs. A job that must not wait ends the pause. */
  async function pause(): Promise<void> {
    const leftMs = Math.ceil(lastStartMs + pauseMs - performance.now());
    if (leftMs > 0 && queued.every(({ mayWait }) => mayWait)) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        endPause = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      endPause = undefined;
    }
    lastStartMs = performance.now();
  }

  function runJob(job: Job): void {
    transactions.dirty = false;
    try {
      job.outcome = { ok: true, result: job.work() };
    } catch (reason) {
      if (transactions.dirty) throw reason;
      job.outcome = { ok: false, reason };
    }
  }

  async function pump(): Promise<void> {
    while (queued.length > 0) {
      let group: Job[] = [];
      await pause();
      try {
        await transactions.run(() => {
          group = queued;
          queued = [];
          transactions.begin();
          for (const job of group) runJob(job);
          transactions.end();
        });
      } catch (reason) {
        const error = await transactions.failed(reason);
        if (group.length === 0) {
          group = queued;
          queued = [];
        }
        for (const job of group) job.reject(error);
        continue;
      }
      transactions.committed();
      for (const { outcome, resolve, reject } of group) {
        if (outcome?.ok === true) resolve(outcome.result);
        else reject(outcome?.reason);
      }
    }
    pumping = undefined;
  }

  return {
    run<Result>(work: () => Result, mayWait = false): Promise<Result> {
      return new Promise<Result>((resolve, reject) => {
        queued.push({ mayWait, work, resolve: resolve as (result: unknown) => void, reject, outcome: undefined });
        if (!mayWait) endPause?.();
        pumping ??= pump();
      });
    },
    async idle() {
      while (pumping !== undefined) await pumping;
    },
  };
}
