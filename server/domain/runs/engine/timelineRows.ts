/** Arms the due rows that trim the logs of a run and of its workspace. */

import { trimRow } from "../../../platform/actors/trimRows.ts";
import type { DueWrite } from "../../../platform/storage/port.ts";
import { runLog, timelineLog } from "./timelineEntry.ts";

/**
 * Interval between trims of a workspace's log. The log may exceed its maximum number of entries long before the entries
 * reach their maximum age.
 */
export const trimEveryMs = 60 * 60 * 1000;

/** Due rows for the commit that appends entries. An existing row keeps its due time. */
export function armTrims(runId: string, workspaceId: string, nowMs: number, keepMs: number): readonly DueWrite[] {
  return [
    { op: "arm", row: trimRow(runLog(runId), nowMs + keepMs) },
    { op: "arm", row: trimRow(timelineLog(workspaceId), nowMs + Math.min(keepMs, trimEveryMs)) },
  ];
}
