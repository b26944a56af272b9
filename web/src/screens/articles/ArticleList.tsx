import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";
import type { Article } from "../../../../api/schema/article.ts";
import type { Folder } from "../../../../api/schema/folder.ts";
import { ArticleRow } from "./ArticleRow.tsx";

interface ArticleListProps {
  readonly articles: readonly Article[];
  readonly folders: readonly Folder[];
  readonly isLoading: boolean;
  readonly isTrash: boolean;
  /** The last articles have come into view. */
  readonly onEnd: () => void;
}

const rowPx = 52;
const loadingRows = 8;

/** A list of any length: only the rows in view exist in the page. */
export function ArticleList({ articles, folders, isLoading, isTrash, onEnd }: ArticleListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: articles.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: 12,
    getItemKey: (index) => articles[index]?.articleId ?? index,
  });
  const items = rows.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= articles.length - 20) onEnd();
  }, [last, articles.length, onEnd]);

  if (isLoading) {
    return (
      <ul aria-label="Loading articles" aria-busy="true">
        {Array.from({ length: loadingRows }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows have no other identity
          <li key={index} className="flex h-13 flex-col justify-center gap-1.5 border-b border-line px-3 md:px-5">
            <span className="skeleton h-3.5 w-2/5" />
            <span className="skeleton h-3 w-1/5" />
          </li>
        ))}
      </ul>
    );
  }
  return (
    <div ref={scroller} className="h-full overflow-auto">
      <ul aria-label="Articles" className="relative" style={{ height: rows.getTotalSize() }}>
        {items.map((item) => {
          const article = articles[item.index];
          if (article === undefined) return null;
          return (
            <li
              key={item.key}
              className="absolute top-0 left-0 w-full"
              style={{ height: item.size, transform: `translateY(${item.start}px)` }}
            >
              <ArticleRow article={article} folder={folders.find(({ folderId }) => folderId === article.folderId)} isTrash={isTrash} />
            </li>
          );
        })}
      </ul>
    </div>
  );
}
