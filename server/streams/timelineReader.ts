/**
 * Entries of the timeline logs as the events that every stream carries, and a run's events by the page. An entry stands
 * in two logs, the run's and the workspace's; before it stands its position in the other one.
 */
import type { AgentEvent } from "../../api/schema/timeline.ts";
import { partitionOfId } from "../ids.ts";
import { decodeTimelineEntry, runLog, toAgentEvent } from "../runs/timelineEntry.ts";
import type { LogEntry, Storage } from "../storage/port.ts";

export interface TimelineReader {
  /** What is kept of a run after a position; `lastSeq` is that of its newest event. */
  events(runId: string, afterSeq: number, limit: number): Promise<{ readonly events: readonly AgentEvent[]; readonly lastSeq: number }>;
}

/** Of the position in the other log, before each entry. */
export const twinBytes = 8;

function toTwin(bytes: Uint8Array): number {
  return Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0));
}

/** An entry of the log of a run. */
export function toRunEvent({ position, bytes }: LogEntry): AgentEvent {
  return toAgentEvent(decodeTimelineEntry(bytes.subarray(twinBytes)), position, toTwin(bytes));
}

/** An entry of the log of a workspace. */
export function toWorkspaceEvent({ position, bytes }: LogEntry): AgentEvent {
  return toAgentEvent(decodeTimelineEntry(bytes.subarray(twinBytes)), toTwin(bytes), position);
}

export function createTimelineReader({ storage }: { readonly storage: Pick<Storage, "log"> }): TimelineReader {
  return {
    async events(runId, afterSeq, limit) {
      const where = { partition: partitionOfId(runId), log: runLog(runId), limit };
      const asked = await storage.log.read({ ...where, after: afterSeq });
      const found = asked.gap ? await storage.log.read({ ...where, after: asked.firstKept - 1 }) : asked;
      // Trimmed again in between: the next page begins there.
      return { events: found.gap ? [] : found.entries.map(toRunEvent), lastSeq: found.tail };
    },
  };
}
