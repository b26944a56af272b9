import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import type * as Y from "yjs";
import type { ArticleFile } from "../../../../../api/schema/article.ts";
import type { Review } from "../../../../../api/schema/review.ts";
import { client, pageOptions, trpc } from "../../../app/data.ts";
import { pageSize, readAll } from "../panel/readAll.ts";
import { findAnchor, type Place, toPlace } from "./places.ts";

/** All open reviews of the article, newest first. */
export function useOpenReviews(articleId: string) {
  const input = { articleId, status: ["open" as const] };
  return useQuery({
    queryKey: [...trpc.reviews.list.queryKey(input), "all"],
    queryFn: async ({ signal }) => {
      const pages = await readAll((page) => client.reviews.list.query({ ...input, ...page, limit: pageSize }, { signal }));
      return pages.flatMap(({ reviews }) => reviews);
    },
  });
}

/** Resolved comments and decided suggestions, newest first. */
export function useClosedReviews(articleId: string, isShown: boolean) {
  const input = { articleId, status: ["resolved" as const, "accepted" as const, "rejected" as const] };
  return useInfiniteQuery({
    queryKey: [...trpc.reviews.list.queryKey(input), "pages"],
    queryFn: ({ pageParam, signal }) =>
      client.reviews.list.query({ ...input, ...(pageParam === undefined ? {} : { nextToken: pageParam }) }, { signal }),
    enabled: isShown,
    ...pageOptions,
  });
}

/** The accounts that can be mentioned: all members and collaborators of the workspace, by name. */
export function usePeople(workspaceId: string): readonly string[] {
  const { data } = useQuery({
    queryKey: [...trpc.members.list.queryKey({ workspaceId }), "all"],
    queryFn: async ({ signal }) => {
      const pages = await readAll((page) => client.members.list.query({ workspaceId, ...page, limit: pageSize }, { signal }));
      return pages.flatMap(({ collaborators }) => collaborators.map(({ username }) => username)).toSorted();
    },
    staleTime: 60_000,
  });
  return data ?? [];
}

export interface PlacedReview {
  readonly review: Review;
  /** Undefined while the text here does not have the quote, for example because it is not loaded yet. */
  readonly place: Place | undefined;
}

export interface SortedReviews {
  /** Reviews of a whole file, the oldest first. */
  readonly ofFile: readonly Review[];
  /** Reviews of a place, in the order of the text. */
  readonly placed: readonly PlacedReview[];
  /** Reviews whose place is gone, the oldest first. */
  readonly orphaned: readonly Review[];
}

function sortReviews(reviews: readonly Review[], shared: Y.Text, file: ArticleFile): SortedReviews {
  const text = shared.toString();
  const oldestFirst = reviews.filter((review) => review.file === file).toReversed();
  const found = oldestFirst.flatMap((review) => {
    const { anchor } = review;
    if (anchor === null || anchor.state === "orphaned") return [];
    const range = findAnchor(text, anchor);
    return [{ review, range, from: range?.from ?? anchor.start }];
  });
  return {
    ofFile: oldestFirst.filter(({ anchor }) => anchor === null),
    placed: found
      .toSorted((one, other) => one.from - other.from)
      .map(({ review, range }) => ({ review, place: range === undefined ? undefined : toPlace(shared, range) })),
    orphaned: oldestFirst.filter(({ anchor }) => anchor?.state === "orphaned"),
  };
}

/** Sorts the reviews of one file as a reader of the text meets them. */
export function useSorted(reviews: readonly Review[], doc: Y.Doc, file: ArticleFile): SortedReviews {
  const [textVersion, setTextVersion] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version is a change of the text, which `doc` holds
  const sorted = useMemo(() => sortReviews(reviews, doc.getText(file), file), [reviews, doc, file, textVersion]);
  const isIncomplete = sorted.placed.some(({ place }) => place === undefined);
  useEffect(() => {
    if (!isIncomplete) return;
    const text = doc.getText(file);
    const sortAgain = () => setTextVersion((version) => version + 1);
    text.observe(sortAgain);
    return () => text.unobserve(sortAgain);
  }, [doc, file, isIncomplete]);
  return sorted;
}
