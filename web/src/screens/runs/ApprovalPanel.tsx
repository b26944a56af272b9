import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Approval, ApprovalDecision, Run } from "../../../../api/schema/run.ts";
import type { AgentEvent } from "../../../../client/index.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Segments } from "../../ui/filters.tsx";
import { ProblemLine } from "../../ui/problem.tsx";
import { ScrollRegion } from "../../ui/scrollRegion.tsx";
import { Time } from "../../ui/time.tsx";
import { ArtifactView } from "./ArtifactView.tsx";
import { findChange, useChange } from "./artifacts.ts";
import { DecideDialog } from "./DecideDialog.tsx";
import { toWords } from "./runWords.ts";
import { TextDiff } from "./TextDiff.tsx";

interface ApprovalPanelProps {
  readonly run: Run;
  readonly approval: Approval;
  readonly events: readonly AgentEvent[];
  readonly canWrite: boolean;
}

/** The decision that a run waits for, with the text and the changes that it is about. */
export function ApprovalPanel({ run, approval, events, canWrite }: ApprovalPanelProps) {
  const { workspaceId, articleId } = run;
  const { stepName, policy, requestedAt, expiresAt, artifactKeys } = approval;
  const [chosen, setChosen] = useState<string>();
  const [decision, setDecision] = useState<ApprovalDecision>();
  const change = findChange(events, artifactKeys);
  const { data: diff, error, isFirst } = useChange(articleId, change);
  const artifactKey = artifactKeys.at(-1);
  // A text that was only added reads better as text than as a list of new lines.
  const view = change === undefined ? "text" : (chosen ?? (isFirst ? "text" : "changes"));
  return (
    <section aria-labelledby="approval" className="rounded-md border border-warn/40">
      <header className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line bg-warn-soft/50 px-4 py-2.5">
        <div className="min-w-0 grow">
          <h2 id="approval" className="text-base font-semibold">
            {toWords(stepName)} waits for approval
          </h2>
          <p className="text-xs text-muted">
            Asked <Time at={requestedAt} />.{" "}
            {policy === "optional" && expiresAt !== undefined ? (
              <>
                Without a decision the run goes on at{" "}
                {new Date(expiresAt * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}.
              </>
            ) : (
              "The run waits until somebody decides."
            )}
          </p>
        </div>
        {canWrite ? (
          <div className="flex flex-wrap gap-1.5">
            <Button weight="danger" onClick={() => setDecision("reject")}>
              Reject…
            </Button>
            <Button onClick={() => setDecision("request_changes")}>Request changes…</Button>
            <Button weight="primary" onClick={() => setDecision("approve")}>
              Approve…
            </Button>
          </div>
        ) : (
          <p className="text-xs text-muted">You can only read this workspace. People who can write decide.</p>
        )}
      </header>
      <div className="px-4 py-3">
        <div className="mb-3 flex flex-wrap items-center gap-2">
          {change !== undefined && (
            <Segments
              label="Show"
              value={view}
              options={[
                { value: "text", label: "Text" },
                { value: "changes", label: diff === undefined ? "Changes" : `Changes +${diff.stats.added} −${diff.stats.removed}` },
              ]}
              onChange={setChosen}
            />
          )}
          {articleId !== undefined && (
            <Link
              to="/w/$workspaceId/articles/$articleId"
              params={{ workspaceId, articleId }}
              search={change === undefined ? {} : { file: change.file }}
              className={`${buttonClass("quiet")} ml-auto`}
            >
              Edit in the article
            </Link>
          )}
        </div>
        <ScrollRegion label="What is to be approved" className="max-h-[60vh]">
          {view === "changes" ? (
            error !== null ? (
              <ProblemLine error={error} />
            ) : diff === undefined ? (
              <span role="status" aria-busy="true" aria-label="Reading" className="skeleton block h-40 w-full" />
            ) : (
              <TextDiff diff={diff} />
            )
          ) : artifactKey === undefined ? (
            <p className="text-sm text-muted">The step stored no text.</p>
          ) : (
            <ArtifactView runId={run.runId} artifactKey={artifactKey} />
          )}
        </ScrollRegion>
      </div>
      {decision !== undefined && <DecideDialog approval={approval} decision={decision} onClose={() => setDecision(undefined)} />}
    </section>
  );
}
