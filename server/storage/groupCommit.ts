/**
 * Group commit: what is asked for while one transaction is on its way to the disk goes into the next one,
 * all of it, in the order it came. There is never more than one on its way, so a job always sees the
 * outcome of those before it, and a failed transaction has nothing stacked upon it.
 *
 * It does not know what jobs do. A job that throws before it wrote anything fails alone; one that throws
 * after that ends the transaction for all.
 */

export interface Transactions {
  /** Runs `work` in one write transaction and resolves when it is durable; a throw undoes all of it. */
  run(work: () => void): Promise<void>;
  /** Before the first and after the last job of a transaction, inside it. */
  begin(): void;
  end(): void;
  /** The transaction is durable: what it changed in memory becomes true. */
  committed(): void;
  /** Nothing of it happened. Returns the error its callers get. */
  failed(reason: unknown): Promise<Error>;
  /** Whether the job that is running has written something. */
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
  /** Resolves when nothing is queued or on its way. */
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
