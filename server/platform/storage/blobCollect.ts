/**
 * This module decides when a blob may be removed.
 *
 * Each put schedules a due row that checks the blob one hour later, so a blob that no commit ever named is found. When
 * the last reference to a blob is removed, the same row is armed at once, unless it is still waiting.
 */
import { collectKind, collectRowId } from "./derive.ts";
import { readDueRow, toDueChanges, toScheduled } from "./dueRows.ts";
import { applyChanges, blobKey, type KeyValueReader, type KeyValueWriter } from "./keyValue.ts";
import type { Partition } from "./port.ts";

/** Time between the put of a blob and the commit that must name it. */
export const blobGraceMs = 60 * 60 * 1000;
const putsBeforeSweep = 4096;

/** Schedules the check of a blob; called in the transaction of its put. */
export function scheduleCollect(store: KeyValueWriter, partition: Partition, sha256: string, nowMs: number): void {
  const id = collectRowId(sha256);
  const before = readDueRow(store, partition, id);
  const row = { id, kind: collectKind, dueAtMs: nowMs + blobGraceMs, payload: { sha256 }, attempts: 0 };
  applyChanges(store, toDueChanges(partition, before, toScheduled(before, row)));
}

/**
 * Blobs that were put recently and may still be named by a commit. A restart may forget them, because it also ends
 * those commits.
 */
interface RecentPuts {
  add(partition: Partition, sha256: string): void;
  /** True if no record refers to the blob and no commit that names it is expected. */
  mayRemove(store: KeyValueReader, partition: Partition, sha256: string): boolean;
}

export function createRecentPuts(now: () => number): RecentPuts {
  const puts = new Map<string, number>();
  let sweepAt = putsBeforeSweep;
  return {
    add(partition, sha256) {
      puts.set(blobKey(partition, sha256), now() + blobGraceMs);
      if (puts.size < sweepAt) return;
      for (const [key, untilMs] of puts) if (untilMs <= now()) puts.delete(key);
      sweepAt = Math.max(putsBeforeSweep, puts.size * 2);
    },
    mayRemove(store, partition, sha256) {
      const key = blobKey(partition, sha256);
      return store.get(key) === undefined && (puts.get(key) ?? 0) <= now();
    },
  };
}
