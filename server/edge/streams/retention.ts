/**
 * Retention trims the timeline logs: it deletes events beyond `keep.events` (age) or `keep.eventsPerLog` (number).
 *
 * A reader that asks for a deleted event gets a reset with a snapshot. Positions of later events do not change.
 */
import type { Limits } from "../../../api/limits.ts";
import { decodeTimelineEntry } from "../../domain/runs/engine/timelineEntry.ts";
import { partitionOfLog, trimEveryMs, trimRows } from "../../domain/runs/engine/timelineRows.ts";
import type { DueWorker } from "../../platform/actors/duePort.ts";
import type { Storage } from "../../platform/storage/port.ts";
import { twinBytes } from "./timelineReader.ts";

export interface RetentionOptions {
  readonly storage: Pick<Storage, "log" | "commit" | "now">;
  readonly limits: Pick<Limits, "keep.events" | "keep.eventsPerLog">;
}

const readLimit = 500;

export function createTimelineRetention({ storage, limits }: RetentionOptions): Readonly<Record<string, DueWorker>> {
  const trim = trimRows.worker(async ({ payload: { log }, partition }) => {
    if (partitionOfLog(log) !== partition) throw new Error(`the log ${log} is not in partition ${partition}`);
    const nowMs = storage.now();
    const tail = await storage.log.tail(partition, log);
    /** Entries up to this position are trimmed. `nextMs` is the time at which the oldest remaining entry expires. */
    let through = Math.max(0, tail - limits["keep.eventsPerLog"]);
    let nextMs: number | undefined;
    let after = 0;
    while (nextMs === undefined) {
      const found = await storage.log.read({ partition, log, after, limit: readLimit });
      if (found.gap) {
        after = found.firstKept - 1;
        continue;
      }
      if (found.entries.length === 0) break;
      for (const { position, bytes } of found.entries) {
        after = position;
        if (position <= through) continue;
        const endMs = Date.parse(decodeTimelineEntry(bytes.subarray(twinBytes)).createdAt) + limits["keep.events"];
        if (endMs > nowMs) {
          nextMs = endMs;
          break;
        }
        through = position;
      }
    }
    if (through > 0) await storage.commit({ partition, logs: [{ op: "trim", log, through }] });
    // The due row is kept even if the log is empty: an append at this moment sees the row and does not arm another one.
    const oldMs = nextMs ?? nowMs + limits["keep.events"];
    return { kind: "retry", atMs: log.startsWith("run/") ? oldMs : Math.min(oldMs, nowMs + trimEveryMs) };
  });
  return { [trimRows.name]: trim };
}
