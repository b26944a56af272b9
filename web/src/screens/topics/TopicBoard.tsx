import type { TopicStatus, TopicStatusCounts } from "../../../../api/schema/topic.ts";
import { Button } from "../../ui/button.tsx";
import { PlusIcon } from "../../ui/icons.tsx";
import { ProblemLine } from "../../ui/problem.tsx";
import { VirtualList } from "../../ui/virtualList.tsx";
import { cardPx, TopicCard } from "./TopicCard.tsx";
import { activeStatuses, topicStates } from "./topicWords.ts";
import { type TopicFilter, useTopics } from "./useTopics.ts";

interface TopicBoardProps {
  readonly workspaceId: string;
  readonly filter: TopicFilter;
  /** Undefined while they are read. */
  readonly counts: TopicStatusCounts | undefined;
  /** Undefined for people who may not create topics. */
  readonly onCreate: (() => void) | undefined;
}

/** A column for each state of a topic that is not archived. */
export function TopicBoard({ workspaceId, filter, counts, onCreate }: TopicBoardProps) {
  return (
    <div className="flex h-full snap-x scroll-px-3 gap-3 overflow-x-auto px-3 py-3 md:scroll-px-5 md:px-5">
      {activeStatuses.map((status) => (
        <TopicColumn key={status} {...{ workspaceId, filter, status, onCreate }} count={counts?.[status]} />
      ))}
    </div>
  );
}

interface TopicColumnProps extends Omit<TopicBoardProps, "counts"> {
  readonly status: TopicStatus;
  readonly count: number | undefined;
}

const numbers = new Intl.NumberFormat();

const hints: Readonly<Partial<Record<TopicStatus, string>>> = {
  shortlisted: "Ideas that are chosen come here.",
  outlined: "A topic comes here with the first commit of its outline.",
  drafted: "A topic comes here with the first commit of its draft.",
};

function TopicColumn({ workspaceId, filter, status, count, onCreate }: TopicColumnProps) {
  const { list, topics } = useTopics(workspaceId, { ...filter, status });
  const { plural } = topicStates[status];
  // The count of the server is of all topics. With a search, the column knows only what it has read.
  const found = filter.q === undefined ? count : topics.length;
  return (
    <section
      aria-label={plural}
      className="flex h-full w-[82vw] max-w-72 min-w-60 shrink-0 snap-start flex-col rounded-lg bg-side sm:w-auto sm:max-w-none sm:flex-1"
    >
      <header className="flex h-10 shrink-0 items-center gap-2 px-3">
        <h2 className="text-sm font-semibold">{plural}</h2>
        {found !== undefined && (
          <span className="text-xs text-muted">
            {numbers.format(found)}
            {filter.q !== undefined && list.hasNextPage && "+"}
          </span>
        )}
        {status === "idea" && onCreate !== undefined && (
          <button
            type="button"
            aria-label="New topic"
            onClick={onCreate}
            className="-mr-1 ml-auto rounded-md p-1.5 text-muted hover:bg-hover"
          >
            <PlusIcon />
          </button>
        )}
      </header>
      {list.error !== null && topics.length === 0 ? (
        <div className="px-2">
          <ProblemLine error={list.error} />
          <Button onClick={() => void list.refetch()}>Try again</Button>
        </div>
      ) : list.data === undefined ? (
        <div role="status" aria-busy="true" aria-label={`Reading ${plural}`} className="flex flex-col gap-2 px-2">
          {[1, 2, 3].map((card) => (
            <span key={card} className="skeleton" style={{ height: cardPx - 8 }} />
          ))}
        </div>
      ) : topics.length === 0 && !list.hasNextPage ? (
        <p className="px-3 py-2 text-xs text-muted">{filter.q === undefined ? (hints[status] ?? "No ideas yet.") : "Nothing matches."}</p>
      ) : (
        <VirtualList
          label={plural}
          items={topics}
          keyOf={({ topicId }) => topicId}
          rowPx={cardPx}
          pages={list}
          className="min-h-0 grow px-2"
        >
          {(topic) => <TopicCard topic={topic} />}
        </VirtualList>
      )}
    </section>
  );
}
