import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { Run } from "../../../../api/schema/run.ts";
import { Avatar } from "../../ui/avatar.tsx";
import { Fact } from "../../ui/facts.tsx";
import { Time } from "../../ui/time.tsx";
import { isActive, toCount, toDuration, tokensOf, toMoney } from "./runWords.ts";
import { useSubject, useWorkflowTitle } from "./useSubject.ts";

const linkClass = "rounded-sm text-accent hover:underline";

/** The time from the start to the end, or to now. */
function Elapsed({ run }: { readonly run: Run }) {
  const isRunning = isActive(run);
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNowMs(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isRunning]);
  if (run.startedAt === undefined) return "Not started";
  const endMs = run.finishedAt === undefined ? nowMs : run.finishedAt * 1000;
  return <span className="tabular-nums">{toDuration(Math.max(0, endMs - run.startedAt * 1000))}</span>;
}

/** What there is to know about a run beside its steps. */
export function RunFacts({ run }: { readonly run: Run }) {
  const { workspaceId, topicId, articleId, pipeline, startedBy, createdAt, usage, budget, parentRunId, chainedRunId } = run;
  const subject = useSubject(run);
  const toTitle = useWorkflowTitle(workspaceId);
  return (
    <dl>
      <Fact name="Workflow">
        {toTitle(run.workflowId)}
        {pipeline !== undefined && <span className="text-muted">, {pipeline} pipeline</span>}
      </Fact>
      {topicId !== undefined && (
        <Fact name="Topic">
          <Link
            to="/w/$workspaceId/topics/$topicId"
            params={{ workspaceId, topicId: subject.reference ?? topicId }}
            className={linkClass}
            dir="auto"
          >
            {subject.name ?? subject.reference ?? topicId}
          </Link>
        </Fact>
      )}
      {articleId !== undefined && (
        <Fact name="Article">
          <Link to="/w/$workspaceId/articles/$articleId" params={{ workspaceId, articleId }} className={linkClass} dir="auto">
            {subject.kind === "article" ? (subject.name ?? "Open") : "Open the article"}
          </Link>
        </Fact>
      )}
      <Fact name="Started">
        <span className="flex items-center gap-1.5">
          <Time at={createdAt} /> <Avatar username={startedBy} size="small" /> {startedBy}
        </span>
      </Fact>
      <Fact name="Time">
        <Elapsed run={run} />
        {budget?.maxSeconds !== undefined && <span className="text-muted"> of {toDuration(budget.maxSeconds * 1000)} work</span>}
      </Fact>
      <Fact name="Tokens">
        {toCount(tokensOf(usage))}
        {budget?.maxTokens !== undefined && <span className="text-muted"> of {toCount(budget.maxTokens)}</span>}
        {tokensOf(usage) > 0 && (
          <span className="block text-xs text-muted">
            {toCount(usage.inputTokens)} in, {toCount(usage.outputTokens)} out
          </span>
        )}
      </Fact>
      <Fact name="Cost">
        {toMoney(usage.usd)}
        {budget?.maxUsd !== undefined && <span className="text-muted"> of {toMoney(budget.maxUsd)}</span>}
      </Fact>
      {parentRunId !== undefined && (
        <Fact name="Continues">
          <Link to="/w/$workspaceId/runs/$runId" params={{ workspaceId, runId: parentRunId }} className={linkClass}>
            The run before it
          </Link>
        </Fact>
      )}
      {chainedRunId !== undefined && (
        <Fact name="Followed by">
          <Link to="/w/$workspaceId/runs/$runId" params={{ workspaceId, runId: chainedRunId }} className={linkClass}>
            The next run
          </Link>
        </Fact>
      )}
    </dl>
  );
}
