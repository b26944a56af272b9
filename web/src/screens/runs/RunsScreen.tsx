import { skipToken, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import type { RunStatus } from "../../../../api/schema/run.ts";
import { type Action, useActions } from "../../app/actions.ts";
import { trpc } from "../../app/data.ts";
import { Screen } from "../../app/Screen.tsx";
import { useWorkspace } from "../../app/useWorkspace.ts";
import { Button } from "../../ui/button.tsx";
import { Segments } from "../../ui/filters.tsx";
import { CloseIcon, PlusIcon } from "../../ui/icons.tsx";
import { Empty, ProblemView } from "../../ui/problem.tsx";
import { VirtualList } from "../../ui/virtualList.tsx";
import { RunRow, RunRowsLoading, runRowPx } from "./RunRow.tsx";
import { activeStates } from "./runWords.ts";
import { StartRunDialog } from "./StartRunDialog.tsx";
import { useLiveRuns, useRuns } from "./useRuns.ts";

const filters: readonly { readonly value: string; readonly label: string; readonly status?: readonly RunStatus[] }[] = [
  { value: "", label: "All" },
  { value: "active", label: "Active", status: activeStates },
  { value: "waiting", label: "Waits for approval", status: ["paused_for_approval"] },
  { value: "completed", label: "Completed", status: ["completed"] },
  { value: "failed", label: "Failed", status: ["failed"] },
  { value: "cancelled", label: "Cancelled", status: ["cancelled"] },
];

/** The runs of the workspace, newest first. They change while they are looked at. */
export function RunsScreen() {
  const { workspaceId, canWrite } = useWorkspace();
  const search = useSearch({ from: "/session/w/$workspaceId/runs" });
  const navigate = useNavigate({ from: "/w/$workspaceId/runs" });
  const [isStarting, setIsStarting] = useState(false);
  const filter = filters.find(({ value }) => value === search.state) ?? filters[0];
  const status = filter?.status;
  const { list, runs } = useRuns(workspaceId, {
    ...(status === undefined ? {} : { status }),
    ...(search.topic === undefined ? {} : { topicId: search.topic }),
  });
  useLiveRuns(workspaceId);
  const topic = useQuery(trpc.topics.get.queryOptions(search.topic === undefined ? skipToken : { workspaceId, topicId: search.topic }));

  const actions = useMemo(
    (): readonly Action[] => (canWrite ? [{ name: "Start a run", group: "Runs", keys: "c", run: () => setIsStarting(true) }] : []),
    [canWrite],
  );
  useActions(actions);

  const isFiltered = status !== undefined || search.topic !== undefined;
  const start = canWrite && (
    <Button weight="primary" onClick={() => setIsStarting(true)}>
      <PlusIcon /> Start a run
    </Button>
  );
  return (
    <Screen
      title="Runs"
      actions={start}
      bar={
        <>
          <Segments
            label="State of the runs"
            value={filter?.value ?? ""}
            options={filters}
            onChange={(state) => void navigate({ search: { ...search, state: state === "" ? undefined : state }, replace: true })}
          />
          {search.topic !== undefined && (
            <Button weight="quiet" onClick={() => void navigate({ search: { ...search, topic: undefined }, replace: true })}>
              <span className="max-w-48 truncate">{topic.data?.title ?? search.topic}</span>
              <CloseIcon />
              <span className="sr-only">Show the runs of all topics</span>
            </Button>
          )}
        </>
      }
    >
      {list.error !== null && runs.length === 0 ? (
        <ProblemView error={list.error} onRetry={() => void list.refetch()} />
      ) : list.data === undefined ? (
        <RunRowsLoading />
      ) : runs.length === 0 && !list.hasNextPage ? (
        isFiltered ? (
          <Empty
            title="No run matches"
            action={<Button onClick={() => void navigate({ search: {}, replace: true })}>Show all runs</Button>}
          />
        ) : (
          <Empty title="No run has been started" action={start}>
            A run takes a topic or an article through the steps of a workflow, such as research, outline and draft. It types into the live
            article as one more author, and waits where a person decides.
          </Empty>
        )
      ) : (
        <VirtualList label="Runs" items={runs} keyOf={({ runId }) => runId} rowPx={runRowPx} pages={list} className="h-full">
          {(run) => <RunRow run={run} />}
        </VirtualList>
      )}
      {isStarting && <StartRunDialog topicId={search.topic} onClose={() => setIsStarting(false)} />}
    </Screen>
  );
}
