/** The newest events of a workspace, from its runs and then live. */
import type { AgentEvent } from "../../../../client/index.ts";
import { client, queryClient, trpc } from "../../app/data.ts";
import { activeStates } from "./runWords.ts";

/** Events that are kept and shown. */
export const mostEvents = 500;
/** Runs whose events are read at the start: the newest, and as many that are active. */
const runsToRead = 20;
/** Events that are read of each of these runs. */
const eventsOfRun = 100;

const newestFirst = (one: AgentEvent, other: AgentEvent) => Number(other.cursor) - Number(one.cursor);

/** The events without repeats, newest first. Older ones than the limit are left out. */
export function mergeEvents(known: readonly AgentEvent[], more: readonly AgentEvent[]): readonly AgentEvent[] {
  const byId = new Map([...more, ...known].map((event) => [event.id, event]));
  return [...byId.values()].toSorted(newestFirst).slice(0, mostEvents);
}

export interface RecentEvents {
  readonly events: readonly AgentEvent[];
  /** After this position of the workspace's log the stream continues. Undefined if there never was a run. */
  readonly cursor: string | undefined;
}

export async function readRecent(workspaceId: string, signal: AbortSignal): Promise<RecentEvents> {
  const [newest, active] = await Promise.all([
    client.runs.list.query({ workspaceId, limit: runsToRead }, { signal }),
    client.runs.list.query({ workspaceId, limit: runsToRead, status: [...activeStates] }, { signal }),
  ]);
  const runs = new Map([...newest.runs, ...active.runs].map((run) => [run.runId, run]));
  for (const [runId, run] of runs) queryClient.setQueryData(trpc.runs.get.queryKey({ runId }), run);
  const pages = await Promise.all(
    [...runs].map(([runId, { lastSeq }]) =>
      client.runs.events.query({ runId, limit: eventsOfRun, afterSeq: Math.max(0, lastSeq - eventsOfRun) }, { signal }),
    ),
  );
  const events = mergeEvents(
    [],
    pages.flatMap((page) => page.events),
  );
  return { events, cursor: events[0]?.cursor };
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
