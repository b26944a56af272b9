/**
 * Defines the due rows that trim event logs. Each log that has ever had an entry has one row.
 *
 * Without trimming, the logs of runs, workspaces and articles would grow without limit. The worker is in
 * `server/edge/streams/retention.ts`.
 */
import { partitionOfId } from "../storage/ids.ts";
import type { DueRow, Partition } from "../storage/port.ts";
import { defineDueKind } from "./duePort.ts";

/** The name is stored with each row, so it cannot change. Logs of articles are trimmed by such rows too. */
export const trimRows = defineDueKind<{ readonly log: string }>("timeline.trim");

export function trimRow(log: string, dueAtMs: number): DueRow {
  return trimRows.row({ id: `${trimRows.name}/${log}`, dueAtMs, payload: { log } });
}

/** Returns the id after the slash in the name of a log. */
export function ownerOfLog(log: string): string {
  return log.slice(log.indexOf("/") + 1);
}

/** Partition of a log, derived from the id in its name. */
export function partitionOfLog(log: string): Partition {
  return partitionOfId(ownerOfLog(log));
}
