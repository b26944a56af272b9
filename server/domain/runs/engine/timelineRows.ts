/**
 * Defines the due rows that trim timelines. Each log that contains entries has one row.
 *
 * Without trimming, the logs of runs and workspaces would grow without limit.
 */

import { defineDueKind } from "../../../platform/actors/duePort.ts";
import { partitionOfId } from "../../../platform/storage/ids.ts";
import type { DueRow, DueWrite, Partition } from "../../../platform/storage/port.ts";
import { runLog, timelineLog } from "./timelineEntry.ts";

export const trimRows = defineDueKind<{ readonly log: string }>("timeline.trim");

/**
 * Interval between trims of a workspace's log. The log may exceed its maximum number of entries long before the entries
 * reach their maximum age.
 */
export const trimEveryMs = 60 * 60 * 1000;

export function trimRow(log: string, dueAtMs: number): DueRow {
  return trimRows.row({ id: `${trimRows.name}/${log}`, dueAtMs, payload: { log } });
}

/** Due rows for the commit that appends entries. An existing row keeps its due time. */
export function armTrims(runId: string, workspaceId: string, nowMs: number, keepMs: number): readonly DueWrite[] {
  return [
    { op: "arm", row: trimRow(runLog(runId), nowMs + keepMs) },
    { op: "arm", row: trimRow(timelineLog(workspaceId), nowMs + Math.min(keepMs, trimEveryMs)) },
  ];
}

/** Partition of a log, derived from the id in its name. */
export function partitionOfLog(log: string): Partition {
  return partitionOfId(log.slice(log.indexOf("/") + 1));
}
