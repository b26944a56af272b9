/** The newest events of a workspace, and their order on the page. */
import type { AgentEvent } from "../../../../client/index.ts";

/** Events that are kept and shown. */
export const mostEvents = 500;
const newestFirst = (one: AgentEvent, other: AgentEvent) => Number(other.cursor) - Number(one.cursor);

/** The events without repeats, newest first. Older ones than the limit are left out. */
export function mergeEvents(known: readonly AgentEvent[], more: readonly AgentEvent[]): readonly AgentEvent[] {
  const byId = new Map([...more, ...known].map((event) => [event.id, event]));
  return [...byId.values()].toSorted(newestFirst).slice(0, mostEvents);
}

export interface RunEvents {
  readonly runId: string;
  /** Newest first; never empty. */
  readonly events: readonly [AgentEvent, ...AgentEvent[]];
}

/** The events by run. The run with the newest event comes first. */
export function groupByRun(events: readonly AgentEvent[]): readonly RunEvents[] {
  const groups = new Map<string, [AgentEvent, ...AgentEvent[]]>();
  for (const event of events) {
    const group = groups.get(event.runId);
    if (group === undefined) groups.set(event.runId, [event]);
    else group.push(event);
  }
  return [...groups].map(([runId, group]) => ({ runId, events: group }));
}
