import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ContentTopic } from "../../../../api/schema/topic.ts";
import type { ContentAuditEvent } from "../../../../api/schema/topicAudit.ts";
import { client, pageOptions, trpc } from "../../app/data.ts";
import { Avatar } from "../../ui/avatar.tsx";
import { Button } from "../../ui/button.tsx";
import { ProblemView } from "../../ui/problem.tsx";
import { Time } from "../../ui/time.tsx";
import { toWords } from "../runs/runWords.ts";
import { allFields } from "./topicFields.ts";
import { auditVerbs } from "./topicWords.ts";

const labels = new Map<string, string>(allFields.map(({ name, label }) => [name, label]));

/** What the event changed, after its verb. */
function toObject({ eventType, metadata = {} }: ContentAuditEvent): string | undefined {
  const { fields, stage, fromStatus, status } = metadata;
  if (eventType === "topic_updated" && Array.isArray(fields)) {
    return fields.map((name) => labels.get(String(name)) ?? toWords(String(name))).join(", ");
  }
  if (typeof stage === "string") return `(${stage})`;
  if (typeof fromStatus === "string") return `(it was ${fromStatus})`;
  if (typeof status === "string") return `as ${status}`;
  return undefined;
}

/** The audit trail of a topic: who did what, newest first. */
export function TopicAudit({ topic: { workspaceId, topicId } }: { readonly topic: ContentTopic }) {
  const input = { workspaceId, topicId };
  const list = useInfiniteQuery({
    queryKey: [...trpc.topics.audit.queryKey(input), "pages"],
    queryFn: ({ pageParam, signal }) =>
      client.topics.audit.query({ ...input, ...(pageParam === undefined ? {} : { nextToken: pageParam }) }, { signal }),
    ...pageOptions,
  });
  if (list.error !== null && list.data === undefined) return <ProblemView error={list.error} onRetry={() => void list.refetch()} />;
  if (list.data === undefined) {
    return (
      <div role="status" aria-busy="true" aria-label="Reading the history" className="flex flex-col gap-3">
        {[1, 2, 3, 4].map((row) => (
          <span key={row} className="skeleton h-5 w-3/5" />
        ))}
      </div>
    );
  }
  return (
    <>
      <ol aria-label="History of the topic" className="text-sm">
        {list.data.pages
          .flatMap((page) => page.events)
          .map((event) => {
            const { eventId, eventAt, eventType, actorId, metadata = {} } = event;
            const { note, runId } = metadata;
            const object = toObject(event);
            return (
              <li key={eventId} className="flex items-start gap-2.5 border-b border-line py-2.5 first:pt-0 last:border-0">
                <Avatar username={actorId} size="small" />
                <span className="min-w-0 grow">
                  <span className="font-medium">{actorId}</span> {auditVerbs[eventType] ?? toWords(eventType).toLocaleLowerCase()}{" "}
                  {object !== undefined && <span className="text-muted">{object}</span>}
                  {typeof runId === "string" && (
                    <Link
                      to="/w/$workspaceId/runs/$runId"
                      params={{ workspaceId, runId }}
                      className="ml-1.5 rounded-sm text-xs text-accent hover:underline"
                    >
                      Run
                    </Link>
                  )}
                  {typeof note === "string" && <span className="block text-xs text-muted">“{note}”</span>}
                </span>
                <Time at={eventAt} className="shrink-0 text-xs text-faint" />
              </li>
            );
          })}
      </ol>
      {list.hasNextPage && (
        <Button weight="quiet" className="mt-2" isBusy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Show more
        </Button>
      )}
    </>
  );
}
