import { Link } from "@tanstack/react-router";
import type { ContentTopic } from "../../../../api/schema/topic.ts";
import { Avatar } from "../../ui/avatar.tsx";
import { toDay } from "./topicWords.ts";

/** Height of a card in a virtual list, with the gap below it. */
export const cardPx = 108;
const gapPx = 8;

export function TopicCard({ topic }: { readonly topic: ContentTopic }) {
  const { workspaceId, topicId, shortId, title, primaryKeyword, priorityScore, scheduledDate, ownerId, approvals, status } = topic;
  const approval = status === "drafted" ? approvals?.draft : status === "outlined" ? approvals?.outline : undefined;
  return (
    <Link
      to="/w/$workspaceId/topics/$topicId"
      params={{ workspaceId, topicId: shortId ?? topicId }}
      className="flex flex-col rounded-md border border-line bg-raised px-3 py-2.5 hover:border-line-strong"
      style={{ height: cardPx - gapPx }}
    >
      <span className="flex items-center gap-2 text-xs text-faint">
        <span>{shortId}</span>
        {approval !== undefined && <span className="text-ok">Approved</span>}
        <span className="ml-auto tabular-nums">Priority {priorityScore}</span>
      </span>
      <span className="mt-0.5 line-clamp-2 text-left text-sm font-medium" dir="auto">
        {title}
      </span>
      <span className="mt-auto flex items-center gap-2 text-xs text-muted">
        <span className="min-w-0 grow truncate text-left" dir="auto">
          {primaryKeyword}
        </span>
        {scheduledDate !== undefined && <time dateTime={scheduledDate}>{toDay(scheduledDate)}</time>}
        <Avatar username={ownerId} size="small" />
      </span>
    </Link>
  );
}
