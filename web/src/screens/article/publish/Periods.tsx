import { Button } from "../../../ui/button.tsx";
import { Time } from "../../../ui/time.tsx";
import { StateBadge } from "./LinkStatus.tsx";
import { usePeriods } from "./usePublicLink.ts";

/** Which text was public when. */
export function Periods({ articleId }: { readonly articleId: string }) {
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = usePeriods(articleId);
  const periods = data?.pages.flatMap((page) => page.periods) ?? [];
  if (periods.length === 0) return null;
  return (
    <section aria-labelledby="publication-history" className="border-b border-line p-4">
      <h3 id="publication-history" className="mb-1 text-sm font-medium">
        Publication history
      </h3>
      <ul>
        {periods.map(({ from, to, mode, revision }) => (
          <li key={from} className="flex items-center gap-2 py-1.5 text-sm">
            <StateBadge state={mode} />
            <span className="min-w-0 grow truncate">
              <Time at={from} />
              <span className="text-muted"> – {to === undefined ? "now" : <Time at={to} />}</span>
            </span>
            <span className="shrink-0 text-xs text-muted tabular-nums">revision {revision}</span>
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <Button weight="quiet" className="-ml-3" isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show older
        </Button>
      )}
    </section>
  );
}
