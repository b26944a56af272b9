/**
 * When a blob may go. Each put leaves a row that looks at the blob an hour later, so that one no commit
 * ever named is found; the last reference gone arms the same row at once, unless it is still waiting.
 */
import { collectKind, collectRowId } from "./derive.ts";
import { readDueRow, toDueChanges, toScheduled } from "./dueRows.ts";
import { applyChanges, blobKey, type KeyValueReader, type KeyValueWriter } from "./keyValue.ts";
import type { Partition } from "./port.ts";

/** How long a blob may wait, after its put, for the commit that names it. */
export const blobGraceMs = 60 * 60 * 1000;
const putsBeforeSweep = 4096;

/** In the transaction of a put. */
export function scheduleCollect(store: KeyValueWriter, partition: Partition, sha256: string, nowMs: number): void {
  const id = collectRowId(sha256);
  const before = readDueRow(store, partition, id);
  const row = { id, kind: collectKind, dueAtMs: nowMs + blobGraceMs, payload: { sha256 }, attempts: 0 };
  applyChanges(store, toDueChanges(partition, before, toScheduled(before, row)));
}

/** Blobs put so lately that their commit may still come; a restart ends all of them, for it ends those commits. */
interface RecentPuts {
  add(partition: Partition, sha256: string): void;
  /** Whether nothing needs the blob, nor is about to. */
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
