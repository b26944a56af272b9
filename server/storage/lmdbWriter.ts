/**
 * Every write of the embedded store: the group commit around LMDB's transactions, with what each of them
 * carries besides its jobs (the group of log writes, a slice of regrouping, store time), and what a failed
 * one means.
 *
 * It does not know what jobs do.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { StoreClock } from "./clock.ts";
import type { DiskSpace } from "./diskSpace.ts";
import { createGroupCommit } from "./groupCommit.ts";
import type { KeyValueWriter } from "./keyValue.ts";
import type { LmdbDatabase, LmdbReader } from "./lmdbDatabase.ts";
import type { LmdbLog } from "./lmdbLog.ts";
import type { LmdbMeta } from "./lmdbMeta.ts";
import { StorageFullError, StorageUnavailableError } from "./port.ts";
import type { Regroup } from "./regroup.ts";

interface LmdbWriterParts {
  readonly db: LmdbDatabase;
  readonly map: KeyValueWriter;
  readonly reader: LmdbReader;
  readonly log: LmdbLog;
  readonly regroup: Regroup;
  readonly meta: LmdbMeta;
  readonly clock: StoreClock;
  readonly disk: DiskSpace;
  /** Bytes of logs in memory above which a regroup begins without waiting for its time. */
  readonly regroupBytes: number;
}

export interface LmdbWriter {
  /** Runs in the next transaction, after all that was asked for before, and resolves when it is durable. */
  write<Result>(work: (store: KeyValueWriter, nowMs: number) => Result): Promise<Result>;
  /** Moves what is in groups to where it stays; one at a time, in slices between other writes. */
  regroup(): Promise<void>;
  /** Even when writes are refused: one commit, to see whether the disk takes it. */
  probe(): Promise<void>;
  close(): Promise<void>;
}

/** LMDB gives the reason of a failed commit by a promise of its own. */
async function toCause(reason: unknown): Promise<unknown> {
  const commitError = (reason as { readonly commitError?: Promise<unknown> }).commitError;
  if (commitError === undefined) return reason;
  const told = commitError.then(
    () => reason,
    (cause: unknown) => cause,
  );
  return Promise.race([told, delay(1000, reason, { ref: false })]);
}

/** LMDB's own errors carry a number; anything else that ends a transaction is a bug of ours. */
function isOfLmdb(reason: unknown): boolean {
  return reason instanceof Error && ("commitError" in reason || typeof (reason as { code?: unknown }).code === "number");
}

export function createLmdbWriter({ db, map, reader, log, regroup, meta, clock, disk, regroupBytes }: LmdbWriterParts): LmdbWriter {
  let changed = false;
  let sliceWanted = false;
  let regrouping: Promise<void> | undefined;
  let closed = false;

  const store: KeyValueWriter = {
    get: map.get,
    keys: map.keys,
    put(key, value) {
      transactions.dirty = true;
      changed = true;
      map.put(key, value);
    },
    delete(key) {
      transactions.dirty = true;
      changed = true;
      map.delete(key);
    },
  };

  const transactions = {
    dirty: false,
    async run(work: () => void) {
      await db.childTransaction(work);
    },
    begin() {
      changed = sliceWanted;
      if (sliceWanted) regroup.write();
      sliceWanted = false;
    },
    end() {
      changed = log.write() || changed;
      if (changed) meta.write(map, clock.now());
    },
    committed() {
      reader.renew();
      log.committed(regroup.committed());
      if (!changed) return;
      meta.committed();
      disk.committed();
      if (log.recentBytes >= regroupBytes) void startRegroup();
    },
    async failed(reason: unknown) {
      regroup.undo();
      log.undo();
      if (!isOfLmdb(reason)) return reason instanceof Error ? reason : new Error(String(reason));
      return disk.failed(await toCause(reason));
    },
  };
  const group = createGroupCommit(transactions);

  async function runRegroup(): Promise<void> {
    if (!regroup.start()) return;
    try {
      while (regroup.running && !closed && disk.refusal() === undefined) {
        sliceWanted = true;
        await group.run(() => undefined);
      }
    } catch (reason) {
      // The disk is known to refuse writes by now; the pass goes on from its last slice at the next turn.
      if (!(reason instanceof StorageFullError || reason instanceof StorageUnavailableError)) throw reason;
    }
  }

  function startRegroup(): Promise<void> {
    regrouping ??= runRegroup().finally(() => {
      regrouping = undefined;
    });
    return regrouping;
  }

  return {
    write(work) {
      const refusal = closed ? new StorageUnavailableError("the store is closed") : disk.refusal();
      if (refusal !== undefined) return Promise.reject(refusal);
      return group.run(() => work(store, clock.now()));
    },
    regroup: startRegroup,
    async probe() {
      if (closed) return;
      try {
        await group.run(() => {
          changed = true;
        });
      } catch (reason) {
        if (!(reason instanceof StorageFullError || reason instanceof StorageUnavailableError)) throw reason;
      }
    },
    async close() {
      closed = true;
      await regrouping;
      await group.idle();
    },
  };
}
