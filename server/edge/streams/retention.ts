/**
 * Retention trims the logs that streams read: it deletes events beyond `keep.events` (age) or `keep.eventsPerLog` (number).
 *
 * A reader that asks for a deleted event gets a reset with a snapshot. Positions of later events do not change. The log of
 * an article that was deleted for good is removed.
 */
import type { Limits } from "../../../api/limits.ts";
import { articleTrimEveryMs, decodeArticleEvent, isArticleEventLog } from "../../domain/articles/articleEvents.ts";
import { articleRecord } from "../../domain/articles/records.ts";
import { decodeTimelineEntry } from "../../domain/runs/engine/timelineEntry.ts";
import { trimEveryMs } from "../../domain/runs/engine/timelineRows.ts";
import type { DueWorker } from "../../platform/actors/duePort.ts";
import { ownerOfLog, partitionOfLog, trimRows } from "../../platform/actors/trimRows.ts";
import type { LogEntry, Storage } from "../../platform/storage/port.ts";
import { twinBytes } from "./timelineReader.ts";

export interface RetentionOptions {
  readonly storage: Pick<Storage, "records" | "log" | "commit" | "now">;
  readonly limits: Pick<Limits, "keep.events" | "keep.eventsPerLog">;
}

const readLimit = 500;

function createdAtMs(log: string, entry: LogEntry): number {
  const { createdAt } = isArticleEventLog(log) ? decodeArticleEvent(entry) : decodeTimelineEntry(entry.bytes.subarray(twinBytes));
  return Date.parse(createdAt);
}

/** Longest time until the log is checked again, because it may pass its maximum number of entries before its entries are old. */
function longestPauseMs(log: string, entries: number, maxEntries: number): number {
  if (log.startsWith("run/")) return Number.POSITIVE_INFINITY;
  return isArticleEventLog(log) && entries < maxEntries / 2 ? articleTrimEveryMs : trimEveryMs;
}

export function createRetention({ storage, limits }: RetentionOptions): Readonly<Record<string, DueWorker>> {
  async function isOrphan(log: string): Promise<boolean> {
    return isArticleEventLog(log) && (await storage.records.get(articleRecord, ownerOfLog(log))) === undefined;
  }

  const trim = trimRows.worker(async ({ payload: { log }, partition }) => {
    if (partitionOfLog(log) !== partition) throw new Error(`the log ${log} is not in partition ${partition}`);
    if (await isOrphan(log)) {
      await storage.commit({ partition, logs: [{ op: "drop", log }] });
      return { kind: "done" };
    }
    const nowMs = storage.now();
    const tail = await storage.log.tail(partition, log);
    /** Entries up to this position are trimmed. `nextMs` is the time at which the oldest remaining entry expires. */
    let through = Math.max(0, tail - limits["keep.eventsPerLog"]);
    let beforeFirst = 0;
    let nextMs: number | undefined;
    let after = 0;
    while (nextMs === undefined) {
      const found = await storage.log.read({ partition, log, after, limit: readLimit });
      if (found.gap) {
        beforeFirst = found.firstKept - 1;
        after = beforeFirst;
        continue;
      }
      if (found.entries.length === 0) break;
      for (const entry of found.entries) {
        after = entry.position;
        if (entry.position <= through) continue;
        const endMs = createdAtMs(log, entry) + limits["keep.events"];
        if (endMs > nowMs) {
          nextMs = endMs;
          break;
        }
        through = entry.position;
      }
    }
    if (through > 0) await storage.commit({ partition, logs: [{ op: "trim", log, through }] });
    // The due row is kept even if the log is empty: an append at this moment sees the row and does not arm another one.
    const oldMs = nextMs ?? nowMs + limits["keep.events"];
    const kept = tail - Math.max(through, beforeFirst);
    return { kind: "retry", atMs: Math.min(oldMs, nowMs + longestPauseMs(log, kept, limits["keep.eventsPerLog"])) };
  });
  return { [trimRows.name]: trim };
}
