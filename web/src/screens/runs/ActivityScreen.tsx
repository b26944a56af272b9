import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { type AgentEvent, followWorkspace } from "../../../../client/index.ts";
import { trpc } from "../../app/data.ts";
import { Screen } from "../../app/Screen.tsx";
import { useWorkspace } from "../../app/useWorkspace.ts";
import { api } from "../../session/session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Empty, ProblemLine, ProblemView } from "../../ui/problem.tsx";
import { Time } from "../../ui/time.tsx";
import { groupByRun, mergeEvents, mostEvents, type RunEvents } from "./activity.ts";
import { type RecentEvents, readRecent } from "./recentEvents.ts";
import { runStates } from "./runWords.ts";
import { Timeline } from "./Timeline.tsx";
import { useEventStream } from "./useEventStream.ts";
import { useSubject, useWorkflowTitle } from "./useSubject.ts";

/** What agents do in the workspace, as it happens. */
export function ActivityScreen() {
  const { workspaceId } = useWorkspace();
  const recent = useQuery({
    queryKey: ["recentEvents", workspaceId],
    queryFn: ({ signal }) => readRecent(workspaceId, signal),
    // The stream continues where this ends, so it is read once for each visit.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  return (
    <Screen title="Activity">
      {recent.error !== null ? (
        <ProblemView error={recent.error} onRetry={() => void recent.refetch()} />
      ) : recent.data === undefined ? (
        <ActivityLoading />
      ) : (
        <LiveActivity key={workspaceId} workspaceId={workspaceId} recent={recent.data} />
      )}
    </Screen>
  );
}

function LiveActivity({ workspaceId, recent }: { readonly workspaceId: string; readonly recent: RecentEvents }) {
  const [events, setEvents] = useState(recent.events);
  const queryClient = useQueryClient();
  const stream = useEventStream({
    open: (start) =>
      followWorkspace(api, {
        workspaceId,
        from: "start",
        ...(recent.cursor === undefined ? {} : { lastEventId: recent.cursor }),
        ...start,
      }),
    tokenOf: ({ cursor }) => cursor,
    onItems(items) {
      const fresh: AgentEvent[] = [];
      for (const item of items) {
        if (item.event !== "stream.reset") fresh.push(item);
        // The events since then are gone: begin again.
        else void queryClient.resetQueries({ queryKey: ["recentEvents", workspaceId] });
      }
      setEvents((known) => mergeEvents(known, fresh));
      for (const runId of new Set(fresh.map((event) => event.runId)))
        void queryClient.invalidateQueries(trpc.runs.get.queryFilter({ runId }));
    },
  });
  const groups = useMemo(() => groupByRun(events), [events]);
  return (
    <div className="h-full overflow-auto">
      <div className="mx-auto max-w-3xl px-3 py-5 md:px-5">
        {stream.error !== undefined && (
          <div className="flex items-start gap-3">
            <div className="grow">
              <ProblemLine error={stream.error} />
            </div>
            <Button onClick={stream.retry}>Try again</Button>
          </div>
        )}
        {groups.length === 0 ? (
          <Empty
            title="Nothing has happened yet"
            action={
              <Link to="/w/$workspaceId/runs" params={{ workspaceId }} className={buttonClass()}>
                Open the runs
              </Link>
            }
          >
            When a run starts, its steps, results and approvals appear here as they happen.
          </Empty>
        ) : (
          <ol aria-label="Runs with their newest events" aria-live="off">
            {groups.map((group) => (
              <RunGroup key={group.runId} group={group} />
            ))}
          </ol>
        )}
        {events.length >= mostEvents && <p className="py-3 text-center text-xs text-faint">The newest {mostEvents} events are shown.</p>}
      </div>
    </div>
  );
}

/** Events of a run that are shown until somebody asks for all. */
const fewEvents = 4;

function RunGroup({ group: { runId, events } }: { readonly group: RunEvents }) {
  const { workspaceId, workflowId, createdAt } = events[0];
  const [isOpen, setIsOpen] = useState(false);
  const { data: run } = useQuery(trpc.runs.get.queryOptions({ runId }));
  const subject = useSubject(events[0]);
  const toTitle = useWorkflowTitle(workspaceId);
  const state = run === undefined ? undefined : runStates[run.status];
  const hidden = events.length - fewEvents;
  return (
    <li className="border-b border-line py-4 first:pt-0 last:border-0">
      <div className="mb-2.5 flex items-center gap-2">
        <Link to="/w/$workspaceId/runs/$runId" params={{ workspaceId, runId }} className="min-w-0 grow rounded-sm hover:underline">
          <span className="block truncate text-left text-base font-medium" dir="auto">
            {subject.name ?? "…"}
          </span>
        </Link>
        {state !== undefined && <Badge tone={state.tone}>{state.label}</Badge>}
        <span className="hidden shrink-0 text-xs text-muted sm:block">{toTitle(workflowId)}</span>
        <Time at={Date.parse(createdAt) / 1000} className="shrink-0 text-xs text-faint" />
      </div>
      <Timeline events={isOpen ? events : events.slice(0, fewEvents)} all={events} />
      {hidden > 0 && (
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setIsOpen(!isOpen)}
          className="ml-5 rounded-sm text-xs text-muted hover:text-text hover:underline"
        >
          {isOpen ? "Show fewer" : `Show ${hidden} earlier`}
        </button>
      )}
    </li>
  );
}

function ActivityLoading() {
  return (
    <div
      role="status"
      aria-busy="true"
      aria-label="Reading the activity"
      className="mx-auto flex max-w-3xl flex-col gap-6 px-3 py-5 md:px-5"
    >
      {[1, 2, 3].map((row) => (
        <div key={row} className="flex flex-col gap-2">
          <span className="skeleton h-5 w-1/2" />
          <span className="skeleton h-4 w-1/3" />
          <span className="skeleton h-4 w-2/5" />
        </div>
      ))}
    </div>
  );
}
