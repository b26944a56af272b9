/**
 * The LMDB writer runs every write of the embedded store: it connects the group commit to LMDB's transactions and to the
 * journal.
 *
 * Jobs run on the state after the last transaction and stage their changes (`stagedMap.ts`); one transaction then writes
 * all of them. Besides its jobs, it carries the group of log writes, a slice of the regroup, and the store time. A
 * transaction that consists of log writes alone goes to the journal if it has room. The writer also decides whether a
 * failed transaction means a programming error or a failure of the disk. It does not know what jobs do.
 */
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import type { StoreClock } from "../clock.ts";
import type { DiskSpace } from "../disk/diskSpace.ts";
import { createGroupCommit } from "../groupCommit.ts";
import type { KeyValueWriter } from "../keyValue.ts";
import { StorageFullError, StorageUnavailableError } from "../port.ts";
import type { RowCache } from "../rowCache.ts";
import type { LmdbDatabase, LmdbReader } from "./database.ts";
import type { Journal } from "./journal.ts";
import { groupKey, type LmdbLog } from "./log.ts";
import type { LmdbMeta } from "./meta.ts";
import type { Regroup } from "./regroup.ts";
import type { StagedMap } from "./stagedMap.ts";

interface LmdbWriterParts {
  readonly db: LmdbDatabase;
  readonly staged: StagedMap;
  readonly rows: RowCache;
  readonly reader: LmdbReader;
  readonly log: LmdbLog;
  readonly journal: Journal;
  readonly regroup: Regroup;
  readonly meta: LmdbMeta;
  readonly clock: StoreClock;
  readonly disk: DiskSpace;
  /** A regroup starts at once if the logs in memory exceed this number of bytes. */
  readonly regroupBytes: number;
}

export interface LmdbWriter {
  /**
   * Runs `work` in the next transaction, after all earlier jobs. Resolves when the transaction is durable. With `mayWait`
   * the transaction may start up to `pauseMs` later, so that more jobs share it.
   */
  write<Result>(work: (store: KeyValueWriter, nowMs: number) => Result, mayWait?: boolean): Promise<Result>;
  /**
   * Moves log entries from groups into chunks, in slices between other writes. Only one regroup runs at a time. Never
   * rejects: a failure is reported to `disk`.
   */
  regroup(): Promise<void>;
  /** Makes one commit, even while writes are refused, to find out whether the disk accepts it. Never rejects. */
  probe(): Promise<void>;
  close(): Promise<void>;
}

/** A journal takes 8 MiB, which should not be the last ones. */
const minFreeMiB = 64;

/**
 * Shortest time between the starts of two transactions that only append to logs. 1,000 keystrokes a second in 500
 * documents then share about 300 transactions, and a keystroke waits at most this long for others.
 */
const pauseMs = 3;

/** LMDB provides the reason of a failed commit through a separate promise. */
async function toCause(reason: unknown): Promise<unknown> {
  const commitError = (reason as { readonly commitError?: Promise<unknown> }).commitError;
  if (commitError === undefined) return reason;
  const reported = commitError.then(
    () => reason,
    (cause: unknown) => cause,
  );
  return Promise.race([reported, delay(1000, reason, { ref: false })]);
}

/** Errors of LMDB have a numeric code, those of system calls a number too. Any other error is a programming error. */
function isOfDisk(reason: unknown): boolean {
  if (!(reason instanceof Error)) return false;
  const { code, errno } = reason as { readonly code?: unknown; readonly errno?: unknown };
  return "commitError" in reason || typeof code === "number" || typeof errno === "number";
}

export function createLmdbWriter(parts: LmdbWriterParts): LmdbWriter {
  const { db, staged, rows, reader, log, journal, regroup, meta, clock, disk, regroupBytes } = parts;
  let probing = false;
  /** The group of the running transaction, if it goes to the journal. */
  let journaled: Buffer | undefined;
  /** Number of the last group whose write failed. It may be on disk all the same, until a group in LMDB replaces it. */
  let failedGroup = 0;
  /** A transaction could have used the journal, and there is none. */
  let journalIsMissed = false;
  let journalHasFailed = false;
  let sliceRequested = false;
  let regrouping: Promise<void> | undefined;
  let closed = false;

  const store: KeyValueWriter = {
    get: (key) => staged.get(key),
    keys: (range) => staged.keys(range),
    put(key, value) {
      transactions.dirty = true;
      staged.put(key, value);
    },
    delete(key) {
      transactions.dirty = true;
      staged.delete(key);
    },
  };

  const transactions = {
    dirty: false,
    async run(work: () => void) {
      // Every job of this turn of the event loop joins the transaction.
      await nextTurn();
      work();
      if (journaled !== undefined) await journal.append({ number: log.lastGroup + 1, timeMs: clock.now(), group: journaled });
      else if (!staged.isEmpty) await staged.write(db);
    },
    begin() {
      if (sliceRequested) regroup.write();
      sliceRequested = false;
    },
    end() {
      const number = log.lastGroup + 1;
      const isAlone = staged.isEmpty && !probing;
      const group = log.encode(number === failedGroup && !isAlone);
      if (group !== undefined) {
        if (isAlone && number !== failedGroup && journal.hasRoom(group.length)) journaled = group;
        else {
          journalIsMissed ||= isAlone && !journal.isOpen;
          staged.putBytes(groupKey(number), group);
        }
      }
      if ((probing || !staged.isEmpty) && meta.write(staged, clock.now())) log.writeLastGroup(staged);
      probing = false;
    },
    committed() {
      const isWritten = !staged.isEmpty;
      rows.drop(staged.changedKeys);
      staged.clear();
      if (isWritten) reader.renew();
      log.committed(regroup.committed());
      journaled = undefined;
      if (isWritten) {
        journal.committed();
        meta.committed();
        disk.committed();
      }
      if (log.recentBytes >= regroupBytes || journal.needsRelease) void startRegroup();
    },
    async failed(reason: unknown) {
      rows.clear();
      staged.clear();
      regroup.undo();
      log.undo();
      journal.undo();
      journaled = undefined;
      if (!isOfDisk(reason)) return reason instanceof Error ? reason : new Error(String(reason));
      failedGroup = log.lastGroup + 1;
      return disk.failed(await toCause(reason));
    },
  };
  const group = createGroupCommit(transactions, pauseMs);

  /** Creates the journal, unless the disk is nearly full. The store works without it. */
  async function createJournal(): Promise<void> {
    if (!journalIsMissed || journalHasFailed || journal.isOpen || disk.freeMiB() < minFreeMiB) return;
    try {
      await journal.create();
      await group.run(() => {
        journal.stage(store);
        meta.requireJournal(store);
        log.writeRegrouped(store);
      });
    } catch {
      // The cause can be a quota that leaves less than `freeMiB`. Another attempt would take the last space again.
      journalHasFailed = true;
    }
  }

  async function runRegroup(): Promise<void> {
    // `close` waits only for a regroup that started before it.
    if (closed) return;
    try {
      await createJournal();
      if (!regroup.start()) return;
      while (regroup.running && !closed && disk.refusal() === undefined) {
        sliceRequested = true;
        await group.run(() => undefined);
      }
    } catch (reason) {
      // After a full disk, the next regroup continues after the last finished slice.
      reportFailure(reason);
    }
  }

  /** Handles the failure of a write that has no caller. `disk` already knows a failure of its own. */
  function reportFailure(reason: unknown): void {
    if (!(reason instanceof StorageFullError || reason instanceof StorageUnavailableError)) disk.breakWith(reason);
  }

  function startRegroup(): Promise<void> {
    regrouping ??= runRegroup().finally(() => {
      regrouping = undefined;
    });
    return regrouping;
  }

  return {
    write(work, mayWait) {
      const refusal = closed ? new StorageUnavailableError("the store is closed") : disk.refusal();
      if (refusal !== undefined) return Promise.reject(refusal);
      return group.run(() => work(store, clock.now()), mayWait);
    },
    regroup: startRegroup,
    async probe() {
      if (closed) return;
      try {
        await group.run(() => {
          probing = true;
        });
      } catch (reason) {
        reportFailure(reason);
      }
    },
    async close() {
      closed = true;
      await regrouping;
      await group.idle();
    },
  };
}
