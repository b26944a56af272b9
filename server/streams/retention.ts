/**
 * Forgets timeline events that are too old or too many. A reader who wanted one of them is told to begin anew; the
 * positions of what comes go on.
 */
import type { Limits } from "../../api/limits.ts";
import type { DueWorker } from "../actors/port.ts";
import { decodeTimelineEntry } from "../runs/timelineEntry.ts";
import { partitionOfLog, type TrimPayload, trimEveryMs, trimKind } from "../runs/timelineRows.ts";
import type { Storage } from "../storage/port.ts";
import { twinBytes } from "./timelineReader.ts";

export interface RetentionOptions {
  readonly storage: Pick<Storage, "log" | "commit" | "now">;
  readonly limits: Pick<Limits, "keep.events" | "keep.eventsPerLog">;
}

const readLimit = 500;

export function createTimelineRetention({ storage, limits }: RetentionOptions): Readonly<Record<string, DueWorker>> {
  const trim: DueWorker = async ({ payload, partition }) => {
    const { log } = payload as unknown as TrimPayload;
    if (partitionOfLog(log) !== partition) throw new Error(`the log ${log} is not of partition ${partition}`);
    const nowMs = storage.now();
    const tail = await storage.log.tail(partition, log);
    /** All up to here goes, and when the first that stays has its age. */
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
    // The row stays also where nothing is left: an entry that comes now finds it, and arms none of its own.
    const oldMs = nextMs ?? nowMs + limits["keep.events"];
    return { kind: "retry", atMs: log.startsWith("run/") ? oldMs : Math.min(oldMs, nowMs + trimEveryMs) };
  };
  return { [trimKind]: trim };
}
