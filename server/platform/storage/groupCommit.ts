/**
 * Group commit collects the jobs that arrive while one transaction is being written, and runs all of them in the next
 * transaction, in order of arrival.
 *
 * Only one transaction is written at a time. A job therefore always sees the result of earlier jobs, and no transaction
 * builds on one that failed.
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
  readonly work: () => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (reason: unknown) => void;
  outcome: { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly reason: unknown } | undefined;
}

interface GroupCommit {
  run<Result>(work: () => Result): Promise<Result>;
  /** Resolves when no job is queued or running. */
  idle(): Promise<void>;
}

export function createGroupCommit(transactions: Transactions): GroupCommit {
  let queued: Job[] = [];
  let pumping: Promise<void> | undefined;

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
    run<Result>(work: () => Result): Promise<Result> {
      return new Promise<Result>((resolve, reject) => {
        queued.push({ work, resolve: resolve as (result: unknown) => void, reject, outcome: undefined });
        pumping ??= pump();
      });
    },
    async idle() {
      while (pumping !== undefined) await pumping;
    },
  };
}
