import { skipToken, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { ContentTopic } from "../../../../api/schema/topic.ts";
import { ApiError } from "../../../../client/index.ts";
import { trpc } from "../../app/data.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, buttonClass } from "../../ui/button.tsx";
import { MarkdownText } from "../../ui/markdownText.tsx";
import { Empty, ProblemView } from "../../ui/problem.tsx";
import { Time } from "../../ui/time.tsx";
import { useTransitions } from "./NextSteps.tsx";
import { StepDialog } from "./StepDialog.tsx";
import { type TopicStep, topicSteps } from "./topicSteps.ts";

interface StagePanelProps {
  readonly topic: ContentTopic;
  readonly stage: "outline" | "draft";
  readonly canWrite: boolean;
}

const stages = {
  outline: {
    file: "outline.md",
    approve: "approve_outline",
    change: "request_outline_changes",
    write: "generate_outline",
    empty: "There is no outline yet",
  },
  draft: {
    file: "content.md",
    approve: "approve_draft",
    change: "request_draft_changes",
    write: "run_draft_action",
    empty: "There is no draft yet",
  },
} as const;

function useStageText({ workspaceId, topicId, articleId }: ContentTopic, stage: "outline" | "draft") {
  const input = articleId === undefined ? skipToken : { workspaceId, topicId };
  const outline = useQuery(trpc.topics.getOutline.queryOptions(stage === "outline" ? input : skipToken));
  const draft = useQuery(trpc.topics.getDraft.queryOptions(stage === "draft" ? input : skipToken));
  const { error, refetch } = stage === "outline" ? outline : draft;
  return { text: stage === "outline" ? outline.data?.outline : draft.data?.draft, error, refetch };
}

/** The committed outline or draft of a topic, with its approval. */
export function StagePanel({ topic, stage, canWrite }: StagePanelProps) {
  const { workspaceId, articleId } = topic;
  const { file, approve, change, write, empty } = stages[stage];
  const { text, error, refetch } = useStageText(topic, stage);
  const { data: transitions } = useTransitions(topic);
  const [open, setOpen] = useState<TopicStep>();
  const stepOf = (name: string) => topicSteps.find(({ operation }) => operation === name);
  const button = (name: string, label: string, weight: "primary" | "normal"): ReactNode => {
    const step = stepOf(name);
    if (!canWrite || step === undefined || transitions === undefined) return null;
    const reason = transitions.blocked.find(({ operation }) => operation === name)?.detail;
    return (
      <Button weight={weight} disabled={reason !== undefined} title={reason} onClick={() => setOpen(step)}>
        {label}
      </Button>
    );
  };
  const dialog = open !== undefined && <StepDialog topic={topic} step={open} onClose={() => setOpen(undefined)} />;
  const isMissing = articleId === undefined || (error instanceof ApiError && error.status === 404);
  if (isMissing) {
    return (
      <>
        <Empty title={empty} action={button(write, stage === "outline" ? "Write an outline…" : "Write the draft…", "primary")}>
          It appears here with its first commit: by a person in the article, or by an agent.
        </Empty>
        {dialog}
      </>
    );
  }
  if (error !== null) return <ProblemView error={error} onRetry={() => void refetch()} />;
  const approval = topic.approvals?.[stage];
  return (
    <>
      <h2 className="sr-only">{stage === "outline" ? "Outline" : "Draft"}</h2>
      <div className="mb-4 flex flex-wrap items-center gap-2 border-b border-line pb-3">
        {approval === undefined ? (
          <span className="text-sm text-muted">Not approved</span>
        ) : (
          <span className="flex flex-wrap items-center gap-2 text-sm">
            <Badge tone="ok">Approved</Badge>
            <span className="text-muted">
              by {approval.approvedBy}, <Time at={approval.approvedAt} />
            </span>
            {approval.note !== undefined && <span className="text-muted">“{approval.note}”</span>}
          </span>
        )}
        <span className="grow" />
        <Link
          to="/w/$workspaceId/articles/$articleId"
          params={{ workspaceId, articleId }}
          search={{ file }}
          className={buttonClass("quiet")}
        >
          Edit
        </Link>
        {button(change, "Request changes…", "normal")}
        {approval === undefined && button(approve, "Approve…", "primary")}
      </div>
      {text === undefined ? (
        <span role="status" aria-busy="true" aria-label={`Reading the ${stage}`} className="skeleton block h-64 w-full max-w-(--measure)" />
      ) : (
        <MarkdownText text={text} />
      )}
      {dialog}
    </>
  );
}
