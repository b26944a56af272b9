/** What a run is about, by name. */
import { skipToken, useQuery } from "@tanstack/react-query";
import type { Run } from "../../../../api/schema/run.ts";
import { trpc } from "../../app/data.ts";

const namesMs = 5 * 60_000;

export type RunSubject = Pick<Run, "workspaceId"> & { readonly [Name in "topicId" | "articleId" | "folderId"]?: string | undefined };

export interface Subject {
  readonly kind: "topic" | "article" | "folder" | "workspace";
  /** Undefined while it is read. */
  readonly name: string | undefined;
  /** For addresses: the short id of a topic, or the id. */
  readonly reference: string | undefined;
}

export function useSubject({ workspaceId, topicId, articleId, folderId }: RunSubject): Subject {
  const topic = useQuery(
    trpc.topics.get.queryOptions(topicId === undefined ? skipToken : { workspaceId, topicId }, { staleTime: namesMs }),
  );
  const isArticle = topicId === undefined && articleId !== undefined;
  const article = useQuery(trpc.articles.get.queryOptions(isArticle ? { articleId } : skipToken, { staleTime: namesMs }));
  if (topicId !== undefined) {
    const name = topic.data?.title ?? (topic.isError ? "A topic that cannot be read" : undefined);
    return { kind: "topic", name, reference: topic.data?.shortId ?? topicId };
  }
  if (isArticle) {
    const name = article.data?.title ?? (article.isError ? "An article that is gone" : undefined);
    return { kind: "article", name, reference: articleId };
  }
  return {
    kind: folderId === undefined ? "workspace" : "folder",
    name: folderId === undefined ? "The workspace" : "A folder",
    reference: folderId,
  };
}

/** The titles of workflows by their ids. A workflow that is not listed has its id as title. */
export function useWorkflowTitle(workspaceId: string): (workflowId: string) => string {
  const { data } = useQuery(trpc.workflows.list.queryOptions({ workspaceId }, { staleTime: namesMs }));
  return (workflowId) => data?.workflows.find(({ id }) => id === workflowId)?.title ?? workflowId;
}
