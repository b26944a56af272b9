/**
 * TimelineReader decodes timeline log entries into events and reads the events of a run in pages.
 *
 * Each entry is stored in two logs: the log of the run and the log of the workspace. Its first 8 bytes hold its position
 * in the other log.
 */
import type { AgentEvent } from "../../../api/schema/timeline.ts";
import { decodeTimelineEntry, runLog, toAgentEvent } from "../../domain/runs/engine/timelineEntry.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { LogEntry, Storage } from "../../platform/storage/port.ts";

export interface TimelineReader {
  /** Reads the stored events of a run after `afterSeq`, at most `limit`. `lastSeq` belongs to the newest event of the run. */
  events(runId: string, afterSeq: number, limit: number): Promise<{ readonly events: readonly AgentEvent[]; readonly lastSeq: number }>;
}

/** Size of the position in the other log that precedes each entry. */
export const twinBytes = 8;

function toTwin(bytes: Uint8Array): number {
  return Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0));
}

/** Decodes an entry of a run log. */
export function toRunEvent({ position, bytes }: LogEntry): AgentEvent {
  return toAgentEvent(decodeTimelineEntry(bytes.subarray(twinBytes)), position, toTwin(bytes));
}

/** Decodes an entry of a workspace log. */
export function toWorkspaceEvent({ position, bytes }: LogEntry): AgentEvent {
  return toAgentEvent(decodeTimelineEntry(bytes.subarray(twinBytes)), toTwin(bytes), position);
}

export function createTimelineReader({ storage }: { readonly storage: Pick<Storage, "log"> }): TimelineReader {
  return {
    async events(runId, afterSeq, limit) {
      const where = { partition: partitionOfId(runId), log: runLog(runId), limit };
      const asked = await storage.log.read({ ...where, after: afterSeq });
      const found = asked.gap ? await storage.log.read({ ...where, after: asked.firstKept - 1 }) : asked;
      // A second gap means that the log was trimmed between the two reads. The next call starts at the oldest stored entry.
      return { events: found.gap ? [] : found.entries.map(toRunEvent), lastSeq: found.tail };
    },
  };
}
