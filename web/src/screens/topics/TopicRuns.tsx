import type { ContentTopic } from "../../../../api/schema/topic.ts";
import { Button } from "../../ui/button.tsx";
import { Empty, ProblemView } from "../../ui/problem.tsx";
import { RunRow, RunRowsLoading, runRowPx } from "../runs/RunRow.tsx";
import { useRuns } from "../runs/useRuns.ts";

/** The runs of a topic, newest first. */
export function TopicRuns({ topic: { workspaceId, topicId } }: { readonly topic: ContentTopic }) {
  const { list, runs } = useRuns(workspaceId, { topicId });
  if (list.error !== null && runs.length === 0) return <ProblemView error={list.error} onRetry={() => void list.refetch()} />;
  if (list.data === undefined) return <RunRowsLoading />;
  if (runs.length === 0 && !list.hasNextPage) {
    return <Empty title="No run yet">The runs that research, outline or draft this topic appear here.</Empty>;
  }
  return (
    <>
      <ul aria-label="Runs of the topic" className="-mx-3 md:-mx-5">
        {runs.map((run) => (
          <li key={run.runId} style={{ height: runRowPx }}>
            <RunRow run={run} hasSubject={false} />
          </li>
        ))}
      </ul>
      {list.hasNextPage && (
        <Button weight="quiet" className="mt-2" isBusy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Show more
        </Button>
      )}
    </>
  );
}
