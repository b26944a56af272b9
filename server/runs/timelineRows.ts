/** The due rows that keep timelines from growing for ever: one for each log that holds something. */
import { partitionOfId } from "../ids.ts";
import type { DueRow, DueWrite, Json, Partition } from "../storage/port.ts";
import { runLog, timelineLog } from "./timelineEntry.ts";

export const trimKind = "timeline.trim";

export interface TrimPayload {
  readonly log: string;
}

/** A workspace's log is looked at as often: it may pass its count of entries long before their age. */
export const trimEveryMs = 60 * 60 * 1000;

export function trimRow(log: string, dueAtMs: number): DueRow {
  const payload: TrimPayload = { log };
  return { id: `${trimKind}/${log}`, kind: trimKind, dueAtMs, payload: payload as unknown as Json, attempts: 0 };
}

/** Armed with every entry: a row that is there already stays. */
export function armTrims(runId: string, workspaceId: string, nowMs: number, keepMs: number): readonly DueWrite[] {
  return [
    { op: "arm", row: trimRow(runLog(runId), nowMs + keepMs) },
    { op: "arm", row: trimRow(timelineLog(workspaceId), nowMs + Math.min(keepMs, trimEveryMs)) },
  ];
}

/** Where a log stands, by its name. */
export function partitionOfLog(log: string): Partition {
  return partitionOfId(log.slice(log.indexOf("/") + 1));
}
