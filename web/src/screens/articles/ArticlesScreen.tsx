import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import type { Article } from "../../../../api/schema/article.ts";
import { type Action, useActions } from "../../app/actions.ts";
import { client, pageOptions, trpc } from "../../app/data.ts";
import { useFolders } from "../../app/folders.ts";
import { Screen } from "../../app/Screen.tsx";
import { useWorkspace } from "../../app/useWorkspace.ts";
import { Button } from "../../ui/button.tsx";
import { PlusIcon } from "../../ui/icons.tsx";
import { Empty, ProblemView } from "../../ui/problem.tsx";
import { ArticleFilters } from "./ArticleFilters.tsx";
import { ArticleList } from "./ArticleList.tsx";
import { NewArticleDialog } from "./NewArticleDialog.tsx";

const pageSize = 100;

/** The articles of the workspace or of a folder. */
export function ArticlesScreen() {
  const { workspaceId, canWrite } = useWorkspace();
  const search = useSearch({ from: "/session/w/$workspaceId/articles" });
  const navigate = useNavigate({ from: "/w/$workspaceId/articles" });
  const [isCreating, setIsCreating] = useState(false);
  const { data: folders } = useFolders(workspaceId);

  const input = {
    workspaceId,
    limit: pageSize,
    sort: search.sort ?? ("updatedAt" as const),
    ...(search.folder === undefined ? {} : { folderId: search.folder }),
    ...(search.q === undefined ? {} : { q: search.q }),
    ...(search.author === undefined ? {} : { author: search.author }),
    ...(search.state === "public" ? { published: ["live" as const, "snapshot" as const] } : {}),
    ...(search.state === "private" ? { published: ["none" as const, "expired" as const] } : {}),
    ...(search.state === "trash" ? { deleted: true } : {}),
  };
  const list = useInfiniteQuery({
    queryKey: [...trpc.articles.list.queryKey(input), "pages"],
    queryFn: ({ pageParam, signal }) =>
      client.articles.list.query({ ...input, ...(pageParam === undefined ? {} : { nextToken: pageParam }) }, { signal }),
    ...pageOptions,
  });
  const articles: readonly Article[] = useMemo(() => list.data?.pages.flatMap((page) => page.articles) ?? [], [list.data]);

  const actions = useMemo(
    (): readonly Action[] => (canWrite ? [{ name: "New article", group: "Articles", keys: "c", run: () => setIsCreating(true) }] : []),
    [canWrite],
  );
  useActions(actions);

  const folder = folders?.find(({ folderId }) => folderId === search.folder);
  const isTrash = search.state === "trash";
  const isFiltered = search.q !== undefined || search.state !== undefined || search.author !== undefined;
  const create = canWrite && !isTrash && (
    <Button weight="primary" onClick={() => setIsCreating(true)}>
      <PlusIcon /> New article
    </Button>
  );

  return (
    <Screen
      title={isTrash ? "Trash" : (folder?.name ?? "Articles")}
      actions={create}
      bar={<ArticleFilters search={search} onChange={(next) => void navigate({ search: next, replace: true })} />}
    >
      {list.error !== null && articles.length === 0 ? (
        <ProblemView error={list.error} onRetry={() => void list.refetch()} />
      ) : list.data !== undefined && articles.length === 0 && !list.hasNextPage ? (
        isTrash ? (
          <Empty title="The trash is empty">Deleted articles stay here until the owner or an admin deletes them permanently.</Empty>
        ) : isFiltered ? (
          <Empty
            title="No article matches"
            action={
              <Button
                onClick={() => void navigate({ search: search.folder === undefined ? {} : { folder: search.folder }, replace: true })}
              >
                Clear the filters
              </Button>
            }
          />
        ) : (
          <Empty title={folder === undefined ? "Write the first article" : `“${folder.name}” has no articles`} action={create}>
            Everyone in the workspace can write in it at the same time, people and agents.
          </Empty>
        )
      ) : (
        <ArticleList
          articles={articles}
          folders={folders ?? []}
          isLoading={list.data === undefined}
          isTrash={isTrash}
          onEnd={() => {
            if (list.hasNextPage && !list.isFetching && !list.isFetchNextPageError) void list.fetchNextPage();
          }}
        />
      )}
      {isCreating && <NewArticleDialog workspaceId={workspaceId} folderId={folder?.folderId} onClose={() => setIsCreating(false)} />}
    </Screen>
  );
}
