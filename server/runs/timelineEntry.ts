/**
 * What stands in the logs `run/<runId>` and `timeline/<workspaceId>`: one JSON text an entry, the event's envelope
 * without what its places give it. `seq` is the position in the run's log, `cursor` that in the workspace's.
 */
import type { AgentEvent } from "../../api/schema/timeline.ts";

type Distributed<Event> = Event extends unknown ? Omit<Event, "id" | "cursor" | "seq"> : never;
export type TimelineEntry = Distributed<AgentEvent>;

/** The log of a run, in the partition of its workspace. */
export function runLog(runId: string): string {
  return `run/${runId}`;
}

/** The log of all runs of a workspace. */
export function timelineLog(workspaceId: string): string {
  return `timeline/${workspaceId}`;
}

export function encodeTimelineEntry(entry: TimelineEntry): Uint8Array {
  return Buffer.from(JSON.stringify(entry));
}

export function decodeTimelineEntry(bytes: Uint8Array): TimelineEntry {
  return JSON.parse(Buffer.from(bytes).toString("utf8")) as TimelineEntry;
}

/** The entry at its places. */
export function toAgentEvent(entry: TimelineEntry, seq: number, cursor: number): AgentEvent {
  return { id: `${entry.runId}:${seq}`, cursor: String(cursor), seq, ...entry } as AgentEvent;
}
