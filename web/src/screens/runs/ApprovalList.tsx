import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Approval, Run } from "../../../../api/schema/run.ts";
import { client, pageOptions, trpc } from "../../app/data.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { ProblemLine } from "../../ui/problem.tsx";
import { Time } from "../../ui/time.tsx";
import { DecideDialog } from "./DecideDialog.tsx";
import { approvalStates, toWords } from "./runWords.ts";

/** The approvals of a run. One that the run has not reached can be given in advance. */
export function ApprovalList({ run, canWrite }: { readonly run: Run; readonly canWrite: boolean }) {
  const input = { runId: run.runId };
  const list = useInfiniteQuery({
    queryKey: [...trpc.runs.approvals.queryKey(input), "pages"],
    queryFn: ({ pageParam, signal }) =>
      client.runs.approvals.query({ ...input, ...(pageParam === undefined ? {} : { nextToken: pageParam }) }, { signal }),
    ...pageOptions,
  });
  const [decided, setDecided] = useState<Approval>();
  if (list.error !== null) return <ProblemLine error={list.error} />;
  const approvals = list.data?.pages.flatMap((page) => page.approvals) ?? [];
  if (list.data !== undefined && approvals.length === 0)
    return <p className="text-sm text-muted">No step of this run asks for approval.</p>;
  return (
    <>
      <ul className="text-sm">
        {approvals.map((approval) => {
          const { approvalId, stepName, state, resolvedBy, resolvedAt, note } = approval;
          const { label, tone } = approvalStates[state];
          const isAhead = state === "pending" && approvalId !== run.pendingApproval?.approvalId;
          return (
            <li key={approvalId} className="border-b border-line py-2 first:pt-0 last:border-0">
              <span className="flex items-center gap-2">
                <span className="grow font-medium">{toWords(stepName)}</span>
                <Badge tone={isAhead ? "neutral" : tone}>{isAhead ? "Not asked yet" : label}</Badge>
              </span>
              {resolvedBy !== undefined && resolvedAt !== undefined && (
                <span className="block text-xs text-muted">
                  {resolvedBy}, <Time at={resolvedAt} />
                </span>
              )}
              {note !== undefined && <span className="block text-xs text-muted">“{note}”</span>}
              {isAhead && canWrite && (
                <Button weight="quiet" className="mt-1 -ml-3" onClick={() => setDecided(approval)}>
                  Approve in advance…
                </Button>
              )}
            </li>
          );
        })}
      </ul>
      {list.hasNextPage && (
        <Button weight="quiet" isBusy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Show more
        </Button>
      )}
      {decided !== undefined && <DecideDialog approval={decided} decision="approve" onClose={() => setDecided(undefined)} />}
    </>
  );
}
