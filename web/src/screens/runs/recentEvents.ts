/** The newest events of a workspace at the start, from its runs: its stream has no way to begin some events ago. */
import type { AgentEvent } from "../../../../client/index.ts";
import { client } from "../../app/data.ts";
import { mergeEvents } from "./activity.ts";
import { activeStates } from "./runWords.ts";

/** Runs whose events are read at the start: the newest, and as many that are active. */
const runsToRead = 20;
/** Events that are read of each of these runs. */
const eventsOfRun = 100;

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
