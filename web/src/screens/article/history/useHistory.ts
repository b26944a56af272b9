import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { client, pageOptions, trpc } from "../../../app/data.ts";
import { noticeStore } from "../../../ui/notices.tsx";

/** Commits and checkpoints, newest first. */
export function useCommits(articleId: string) {
  return useInfiniteQuery({
    queryKey: [...trpc.commits.list.queryKey({ articleId }), "pages"],
    queryFn: ({ pageParam, signal }) =>
      client.commits.list.query({ articleId, ...(pageParam === undefined ? {} : { nextToken: pageParam }) }, { signal }),
    ...pageOptions,
  });
}

export interface RestoreTarget {
  readonly revision: number;
  /** All files by default. */
  readonly file?: "content.md" | "outline.md" | "research.md";
  readonly section?: string;
}

/** Returns the live text to an earlier one. The component that asks shows the error. */
export function useRestore(articleId: string) {
  const queryClient = useQueryClient();
  return useMutation({
    meta: { showsError: true },
    mutationFn: (target: RestoreTarget) => client.commits.restore.mutate({ articleId, ...target }),
    async onSuccess({ kind }) {
      noticeStore.trigger.show({
        kind: "done",
        text:
          kind === "restore"
            ? "The earlier text is back. The text before it is in the history."
            : "The text is already the same as in this commit.",
      });
      await queryClient.invalidateQueries(trpc.commits.pathFilter());
    },
  });
}
