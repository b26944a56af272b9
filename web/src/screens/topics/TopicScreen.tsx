import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import type { ContentTopic } from "../../../../api/schema/topic.ts";
import { type Action, useActions } from "../../app/actions.ts";
import { trpc } from "../../app/data.ts";
import { Screen } from "../../app/Screen.tsx";
import { useWorkspace } from "../../app/useWorkspace.ts";
import { Badge } from "../../ui/badge.tsx";
import { buttonClass } from "../../ui/button.tsx";
import { Segments } from "../../ui/filters.tsx";
import { ArticleIcon, ChevronRightIcon } from "../../ui/icons.tsx";
import { ProblemView } from "../../ui/problem.tsx";
import { Time } from "../../ui/time.tsx";
import { activeStates, runStates, toWords } from "../runs/runWords.ts";
import { renewRuns, useRunChanges, useRuns } from "../runs/useRuns.ts";
import { NextSteps } from "./NextSteps.tsx";
import { StagePanel } from "./StagePanel.tsx";
import { TopicAudit } from "./TopicAudit.tsx";
import { TopicBrief } from "./TopicBrief.tsx";
import { TopicFacts } from "./TopicFacts.tsx";
import { TopicRuns } from "./TopicRuns.tsx";
import { topicStates } from "./topicWords.ts";
import { renewTopics } from "./useTopics.ts";

/** One topic: its plan, its texts, its runs, and what can happen to it next. */
export function TopicScreen() {
  const { topicId } = useParams({ from: "/session/w/$workspaceId/topics/$topicId" });
  const { workspaceId, canWrite } = useWorkspace();
  const { data: topic, error, refetch } = useQuery(trpc.topics.get.queryOptions({ workspaceId, topicId }));
  if (topic !== undefined) return <LoadedTopic key={topic.topicId} topic={topic} canWrite={canWrite} />;
  return (
    <Screen title={topicId}>{error === null ? <TopicLoading /> : <ProblemView error={error} onRetry={() => void refetch()} />}</Screen>
  );
}

const panels = [
  { value: "", label: "Brief" },
  { value: "outline", label: "Outline" },
  { value: "draft", label: "Draft" },
  { value: "runs", label: "Runs" },
  { value: "audit", label: "History" },
] as const;

function LoadedTopic({ topic, canWrite }: { readonly topic: ContentTopic; readonly canWrite: boolean }) {
  const { workspaceId, topicId, shortId, title, status, articleId } = topic;
  const { panel } = useSearch({ from: "/session/w/$workspaceId/topics/$topicId" });
  const navigate = useNavigate({ from: "/w/$workspaceId/topics/$topicId" });
  const queryClient = useQueryClient();
  // A run moves its topic: its status, its texts and what may happen next.
  useRunChanges(workspaceId, topicId, () => void Promise.all([renewRuns(queryClient), renewTopics(queryClient)]));
  const actions = useMemo(
    (): readonly Action[] =>
      panels.map(({ value, label }) => ({
        name: `Show the ${label.toLocaleLowerCase()} of the topic`,
        group: "Topic",
        run: () => void navigate({ search: { panel: value === "" ? undefined : value }, replace: true }),
      })),
    [navigate],
  );
  useActions(actions);
  const { label, tone } = topicStates[status];
  return (
    <Screen
      title={title}
      heading={
        <div className="flex min-w-0 items-center gap-1.5">
          <Link
            to="/w/$workspaceId/topics"
            params={{ workspaceId }}
            className="shrink-0 rounded-sm text-base text-muted hover:text-text max-sm:hidden"
          >
            Topics
          </Link>
          <ChevronRightIcon className="text-faint max-sm:hidden" />
          {shortId !== undefined && <span className="shrink-0 text-sm text-faint">{shortId}</span>}
          <h1 className="truncate text-left text-base font-semibold" dir="auto">
            {title}
          </h1>
          <span className="max-sm:hidden">
            <Badge tone={tone}>{label}</Badge>
          </span>
        </div>
      }
      actions={
        articleId !== undefined && (
          <Link to="/w/$workspaceId/articles/$articleId" params={{ workspaceId, articleId }} className={buttonClass()}>
            <ArticleIcon />
            <span className="max-sm:sr-only">Open the article</span>
          </Link>
        )
      }
      bar={
        <Segments
          label="Part of the topic"
          value={panel ?? ""}
          options={panels}
          onChange={(value) => {
            const chosen = panels.find((known) => known.value === value)?.value;
            void navigate({ search: { panel: chosen === "" ? undefined : chosen }, replace: true });
          }}
        />
      }
    >
      <div className="h-full overflow-auto">
        <div className="mx-auto flex max-w-7xl flex-col gap-x-8 gap-y-6 px-3 py-5 md:px-5 lg:flex-row">
          <div className="min-w-0 grow">
            <ActiveRun topic={topic} />
            {status === "archived" && <ArchiveNote topic={topic} />}
            {panel === undefined && <TopicBrief topic={topic} isReadOnly={!canWrite || status === "archived"} />}
            {(panel === "outline" || panel === "draft") && <StagePanel key={panel} topic={topic} stage={panel} canWrite={canWrite} />}
            {panel === "runs" && <TopicRuns topic={topic} />}
            {panel === "audit" && <TopicAudit topic={topic} />}
          </div>
          <aside aria-label="About the topic" className="shrink-0 max-lg:-order-1 lg:w-76">
            <section aria-label="Next steps" className="border-b border-line pb-5">
              <h2 className="mb-3 text-base font-semibold">Next</h2>
              <NextSteps topic={topic} canWrite={canWrite} />
            </section>
            <section aria-label="Facts" className="pt-5 max-lg:hidden">
              <TopicFacts topic={topic} />
            </section>
          </aside>
        </div>
      </div>
    </Screen>
  );
}

/** The run that works on the topic now, if there is one. */
function ActiveRun({ topic: { workspaceId, topicId } }: { readonly topic: ContentTopic }) {
  const { runs } = useRuns(workspaceId, { topicId, status: activeStates });
  const run = runs[0];
  if (run === undefined) return null;
  const { label } = runStates[run.status];
  const isWaiting = run.status === "paused_for_approval";
  return (
    <p
      role="status"
      className={`mb-5 flex items-center gap-3 rounded-md px-4 py-2 text-sm ${isWaiting ? "bg-warn-soft text-warn" : "bg-accent-soft text-accent"}`}
    >
      <span className="grow">
        {label}
        {run.currentStep !== undefined && `: ${toWords(run.currentStep)}`}
      </span>
      <Link
        to="/w/$workspaceId/runs/$runId"
        params={{ workspaceId, runId: run.runId }}
        className="shrink-0 rounded-sm font-medium hover:underline"
      >
        {isWaiting ? "Read and decide" : "Watch the run"}
      </Link>
    </p>
  );
}

function ArchiveNote({ topic }: { readonly topic: ContentTopic }) {
  const { archivedAt, archivedBy, archiveReason, archiveNote } = topic;
  return (
    <p className="mb-5 rounded-md bg-hover px-4 py-2.5 text-sm">
      Archived
      {archivedAt !== undefined && (
        <>
          {" "}
          <Time at={archivedAt} />
        </>
      )}
      {archivedBy !== undefined && ` by ${archivedBy}`}
      {archiveReason !== undefined && archiveReason !== "manual" && `: ${toWords(archiveReason).toLocaleLowerCase()}`}.
      {archiveNote !== undefined && ` “${archiveNote}”`} Restore it to change it.
    </p>
  );
}

function TopicLoading() {
  return (
    <div role="status" aria-busy="true" aria-label="Reading the topic" className="mx-auto flex max-w-7xl gap-8 px-3 py-5 md:px-5">
      <div className="grid grow gap-5 md:grid-cols-2">
        {[1, 2, 3, 4, 5, 6].map((field) => (
          <span key={field} className="flex flex-col gap-1.5">
            <span className="skeleton h-3.5 w-20" />
            <span className="skeleton h-9 w-full" />
          </span>
        ))}
      </div>
      <div className="hidden w-76 flex-col gap-2 lg:flex">
        {[1, 2, 3].map((step) => (
          <span key={step} className="skeleton h-8 w-full" />
        ))}
      </div>
    </div>
  );
}
