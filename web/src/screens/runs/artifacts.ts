/** The results of a run's steps. */
import { skipToken, useQuery } from "@tanstack/react-query";
import type { ArticleFile } from "../../../../api/schema/article.ts";
import type { ArtifactKind } from "../../../../api/schema/run.ts";
import type { AgentEvent } from "../../../../client/index.ts";
import { trpc } from "../../app/data.ts";
import { api } from "../../session/session.ts";

/** What an artifact is: its step, its kind, its media type and its size. */
export function useArtifact(runId: string, artifactKey: string) {
  return useQuery(trpc.runs.artifact.queryOptions({ runId, artifactKey }, { staleTime: Number.POSITIVE_INFINITY }));
}

/** The text of an artifact. Artifacts never change. */
export function useArtifactText(runId: string, artifactKey: string) {
  return useQuery({
    queryKey: ["artifactText", runId, artifactKey],
    async queryFn({ signal }) {
      const answer = await api.fetch(`/runs/${encodeURIComponent(runId)}/artifacts/${encodeURIComponent(artifactKey)}`, { signal });
      return answer.text();
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The file of the article that has the text of an artifact. Artifacts of other kinds are in no file. */
export const fileOf: Readonly<Partial<Record<ArtifactKind, ArticleFile>>> = {
  outline: "outline.md",
  draft: "content.md",
  research: "research.md",
};

export interface ArtifactChange {
  readonly commitId: string;
  readonly file: ArticleFile;
}

/** The commit that put the last of these artifacts into the article, as the timeline knows it. */
export function findChange(events: readonly AgentEvent[], artifactKeys: readonly string[]): ArtifactChange | undefined {
  for (const { event, data } of events.toReversed()) {
    if (event !== "agent.artifact_created" || !artifactKeys.includes(data.artifactKey) || data.commitId === undefined) continue;
    const file = fileOf[data.kind];
    if (file !== undefined) return { commitId: data.commitId, file };
  }
  return undefined;
}

/** What a commit changed in one file. */
export function useChange(articleId: string | undefined, change: ArtifactChange | undefined) {
  const commit = useQuery(
    trpc.commits.get.queryOptions(articleId === undefined || change === undefined ? skipToken : { articleId, commitId: change.commitId }),
  );
  const diff = useQuery(
    trpc.commits.diff.queryOptions(
      articleId === undefined || change === undefined || commit.data === undefined
        ? skipToken
        : { articleId, from: commit.data.parentRevision ?? 0, to: commit.data.revision, file: change.file },
    ),
  );
  return { data: diff.data, error: commit.error ?? diff.error, isFirst: diff.data?.stats.removed === 0 };
}
