/** A list of any length whose rows have one height: only the rows in view exist in the page. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useEffectEvent, useRef } from "react";
import { Button } from "./button.tsx";

/** The state of a list that is read page by page: what `useInfiniteQuery` returns. */
export interface Pages {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly isFetchNextPageError: boolean;
  readonly fetchNextPage: () => unknown;
}

interface VirtualListProps<Item> {
  /** The name of the list. */
  readonly label: string;
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string;
  /** Height of a row in pixels, with the space below it. */
  readonly rowPx: number;
  readonly pages: Pages;
  readonly className?: string;
  /** Stays at the top while the rows scroll. */
  readonly head?: ReactNode;
  readonly children: (item: Item) => ReactNode;
}

/** The next page is read when fewer rows than this are left below the window. */
const rowsAhead = 30;
const overscan = 8;

export function VirtualList<Item>({ label, items, keyOf, rowPx, pages, className = "", head, children }: VirtualListProps<Item>) {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan,
    getItemKey: (index) => {
      const item = items[index];
      return item === undefined ? index : keyOf(item);
    },
  });
  const shown = rows.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError } = pages;
  const readOn = useEffectEvent(() => void pages.fetchNextPage());
  const isNearEnd = last >= items.length - rowsAhead;
  useEffect(() => {
    if (isNearEnd && hasNextPage && !isFetchingNextPage && !isFetchNextPageError) readOn();
  }, [isNearEnd, hasNextPage, isFetchingNextPage, isFetchNextPageError]);
  return (
    <div ref={scroller} className={`overflow-auto ${className}`}>
      {head}
      <ul aria-label={label} className="relative" style={{ height: rows.getTotalSize() }}>
        {shown.map((row) => {
          const item = items[row.index];
          if (item === undefined) return null;
          return (
            <li
              key={row.key}
              aria-setsize={hasNextPage ? -1 : items.length}
              aria-posinset={row.index + 1}
              className="absolute top-0 left-0 w-full"
              style={{ height: row.size, transform: `translateY(${row.start}px)` }}
            >
              {children(item)}
            </li>
          );
        })}
      </ul>
      {isFetchNextPageError && (
        <p role="alert" className="flex items-center justify-center gap-3 p-3 text-sm text-danger">
          The rest of the list could not be read.
          <Button onClick={() => void pages.fetchNextPage()}>Try again</Button>
        </p>
      )}
      {hasNextPage && isFetchingNextPage && <p className="p-3 text-center text-xs text-faint">Reading more…</p>}
    </div>
  );
}
