import { type QueryClient, useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { z } from "zod";
import type { PublicLinkRequest } from "../../../../../api/schema/publicLink.ts";
import { ApiError } from "../../../../../client/index.ts";
import { client, pageOptions, trpc } from "../../../app/data.ts";

export type LinkSettings = z.input<typeof PublicLinkRequest>;

/** How often the state of a synchronization is read until it has ended. */
const syncingMs = 1500;

async function nullIfNotPublished<Answer>(answer: Promise<Answer>): Promise<Answer | null> {
  try {
    return await answer;
  } catch (reason) {
    if (reason instanceof ApiError && reason.code === "not_published") return null;
    throw reason;
  }
}

/** The public page of the article; null if it has none. */
export function usePublicLink(articleId: string) {
  return useQuery({
    queryKey: [...trpc.publicLinks.get.queryKey({ articleId }), "orNull"],
    queryFn: ({ signal }) => nullIfNotPublished(client.publicLinks.get.query({ articleId }, { signal })),
    refetchInterval: ({ state: { data } }) => (data?.state === "live" && data.liveSync?.status !== "synced" ? syncingMs : false),
  });
}

/** Which text was public when, newest first. An article that was never public has no periods. */
export function usePeriods(articleId: string) {
  return useInfiniteQuery({
    queryKey: [...trpc.publicLinks.history.queryKey({ articleId }), "pages"],
    queryFn: async ({ pageParam, signal }) =>
      (await nullIfNotPublished(
        client.publicLinks.history.query({ articleId, ...(pageParam === undefined ? {} : { nextToken: pageParam }) }, { signal }),
      )) ?? { periods: [] },
    ...pageOptions,
  });
}

export type LinkChange =
  | { readonly type: "publish"; readonly settings: LinkSettings }
  | { readonly type: "change"; readonly settings: LinkSettings }
  /** The newest text by default. */
  | { readonly type: "refresh"; readonly revision?: number };

/** Publishes the article, changes its link, or freezes another text. The panel shows the error. */
export function useLinkChange(articleId: string) {
  const queryClient = useQueryClient();
  return useMutation({
    meta: { showsError: true },
    mutationFn(change: LinkChange) {
      switch (change.type) {
        case "publish":
          return client.publicLinks.put.mutate({ articleId, ...change.settings });
        case "change":
          return client.publicLinks.update.mutate({ articleId, ...change.settings });
        case "refresh":
          return client.publicLinks.refreshSnapshot.mutate({
            articleId,
            ...(change.revision === undefined ? {} : { revision: change.revision }),
          });
      }
    },
    onSettled: () => refreshLink(queryClient),
  });
}

/** Reads again what depends on the link. */
export async function refreshLink(queryClient: QueryClient): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries(trpc.publicLinks.pathFilter()),
    queryClient.invalidateQueries(trpc.articles.pathFilter()),
  ]);
}
