import { Link } from "@tanstack/react-router";
import type { Folder } from "../../../../api/schema/folder.ts";
import type { ContentTopic } from "../../../../api/schema/topic.ts";
import { Avatar } from "../../ui/avatar.tsx";
import { Badge } from "../../ui/badge.tsx";
import { ChevronDownIcon } from "../../ui/icons.tsx";
import { Time } from "../../ui/time.tsx";
import { type Pages, VirtualList } from "../../ui/virtualList.tsx";
import { toDay, topicStates } from "./topicWords.ts";
import type { TopicSort } from "./useTopics.ts";

const rowPx = 44;
const columns =
  "grid grid-cols-[3.5rem_minmax(0,1fr)_6.5rem] md:grid-cols-[3.5rem_minmax(0,1fr)_6.5rem_9rem_4rem_6.5rem_7.5rem] gap-3 px-3 md:px-5";
const wide = "hidden md:block";

interface TopicTableProps {
  readonly topics: readonly ContentTopic[];
  readonly projects: readonly Folder[];
  readonly pages: Pages;
  readonly sort: TopicSort;
  readonly order: "asc" | "desc";
  readonly onSort: (sort: TopicSort) => void;
}

export function TopicTable({ topics, projects, pages, sort, order, onSort }: TopicTableProps) {
  const names = new Map(projects.map(({ folderId, name }) => [folderId, name]));
  const sortable = (label: string, of: TopicSort) => (
    <SortButton label={label} order={sort === of ? order : undefined} onSort={() => onSort(of)} />
  );
  return (
    <VirtualList
      label="Topics"
      items={topics}
      keyOf={({ topicId }) => topicId}
      rowPx={rowPx}
      pages={pages}
      className="h-full"
      head={
        <div className={`${columns} sticky top-0 z-10 h-9 items-center border-b border-line bg-bg text-xs text-muted`}>
          {sortable("Id", "createdAt")}
          <span>Title</span>
          <span>State</span>
          <span className={wide}>Project</span>
          <span className={wide}>{sortable("Priority", "priorityScore")}</span>
          <span className={wide}>{sortable("Planned", "scheduledDate")}</span>
          <span className={wide}>{sortable("Changed", "updatedAt")}</span>
        </div>
      }
    >
      {(topic) => <TopicRow topic={topic} project={names.get(topic.contentProjectId ?? "")} />}
    </VirtualList>
  );
}

interface SortButtonProps {
  readonly label: string;
  /** Undefined if the list is sorted by something else. */
  readonly order: "asc" | "desc" | undefined;
  readonly onSort: () => void;
}

function SortButton({ label, order, onSort }: SortButtonProps) {
  return (
    <button type="button" onClick={onSort} className="flex items-center gap-0.5 rounded-sm hover:text-text">
      {label}
      {order !== undefined && (
        <>
          <ChevronDownIcon className={order === "asc" ? "rotate-180" : ""} />
          <span className="sr-only">{order === "asc" ? "sorted, lowest first" : "sorted, highest first"}</span>
        </>
      )}
    </button>
  );
}

function TopicRow({ topic, project }: { readonly topic: ContentTopic; readonly project: string | undefined }) {
  const { workspaceId, topicId, shortId, title, primaryKeyword, status, priorityScore, scheduledDate, updatedAt, ownerId } = topic;
  const { label, tone } = topicStates[status];
  return (
    <div className={`${columns} relative h-full items-center border-b border-line hover:bg-side`}>
      <span className="text-xs text-faint tabular-nums">{shortId}</span>
      <Link
        to="/w/$workspaceId/topics/$topicId"
        params={{ workspaceId, topicId: shortId ?? topicId }}
        className="flex min-w-0 items-baseline gap-2 rounded-sm after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
      >
        <span className="truncate text-left text-base font-medium" dir="auto">
          {title}
        </span>
        {primaryKeyword !== undefined && (
          <span className="hidden max-w-40 shrink-0 truncate text-xs text-faint lg:block" dir="auto">
            {primaryKeyword}
          </span>
        )}
      </Link>
      <span>
        <Badge tone={tone}>{label}</Badge>
      </span>
      <span className={`${wide} truncate text-xs text-muted`}>{project}</span>
      <span className={`${wide} text-xs text-muted tabular-nums`}>{priorityScore}</span>
      <span className={`${wide} text-xs text-muted`}>
        {scheduledDate !== undefined && <time dateTime={scheduledDate}>{toDay(scheduledDate)}</time>}
      </span>
      <span className={wide}>
        <span className="flex items-center justify-between gap-2 text-xs text-muted">
          <Time at={updatedAt} className="truncate" />
          <Avatar username={ownerId} size="small" />
        </span>
      </span>
    </div>
  );
}
