/**
 * Encodes and decodes the entries of the logs `run/<runId>` and `timeline/<workspaceId>`.
 *
 * Each entry is one JSON text: the event without the members that follow from its positions. `seq` is the position in
 * the run's log, `cursor` is the position in the workspace's log.
 */
import type { AgentEvent } from "../../../../api/schema/timeline.ts";

type Distributed<Event> = Event extends unknown ? Omit<Event, "id" | "cursor" | "seq"> : never;
export type TimelineEntry = Distributed<AgentEvent>;

/** Name of the log of a run; it is in the partition of the workspace. */
export function runLog(runId: string): string {
  return `run/${runId}`;
}

/** Name of the log of all runs of a workspace. */
export function timelineLog(workspaceId: string): string {
  return `timeline/${workspaceId}`;
}

export function encodeTimelineEntry(entry: TimelineEntry): Uint8Array {
  return Buffer.from(JSON.stringify(entry));
}

export function decodeTimelineEntry(bytes: Uint8Array): TimelineEntry {
  return JSON.parse(Buffer.from(bytes).toString("utf8")) as TimelineEntry;
}

/** The event of an entry at these log positions. */
export function toAgentEvent(entry: TimelineEntry, seq: number, cursor: number): AgentEvent {
  return { id: `${entry.runId}:${seq}`, cursor: String(cursor), seq, ...entry } as AgentEvent;
}
