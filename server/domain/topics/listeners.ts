/**
 * Adds the changes of topics to commits of articles.
 *
 * A commit of the article may advance the topic; deleting the article permanently unlinks it. The topic machine decides
 * the status.
 */
import type { TopicEvent } from "../../../machines/topic.ts";
import type { Timeless, UnitOfWork } from "../../platform/actors/port.ts";
import type { ArticleCommitted, ArticleListeners } from "../articles/port.ts";
import { topicKind } from "./topicKind.ts";

const stages = [
  ["outline.md", "outline.committed"],
  ["content.md", "draft.committed"],
] as const;

/**
 * Events of the topic for a commit. A commit of a run advances only the stage of the run's own file, because text of
 * other authors in other files may be unfinished. A checkpoint advances nothing.
 */
function toStageEvents({ kind, written, run, ...commit }: ArticleCommitted): readonly Timeless<TopicEvent>[] {
  const { articleId, commitId, revision, by } = commit;
  return stages
    .filter(([file]) => written.includes(file))
    .map(([file, type]) => {
      const isOwn = run?.file === undefined || run.file === file;
      return {
        type,
        articleId,
        commitId,
        revision,
        by,
        advances: kind !== "checkpoint" && isOwn,
        ...(run === undefined || !isOwn
          ? {}
          : { step: { runId: run.runId, stepName: run.stepName }, seoBriefRevision: run.seoBriefRevision }),
      };
    });
}

/** True if the topic exists and the article is linked to it. */
async function isLinked(unit: UnitOfWork, articleId: string, topicId: string): Promise<boolean> {
  return (await unit.read(topicKind, topicId))?.value.context.articleId === articleId;
}

export const topicListeners: Pick<ArticleListeners, "articleCommitted" | "articleRemoved"> = {
  async articleCommitted(unit, event) {
    const events = toStageEvents(event);
    if (events.length === 0 || !(await isLinked(unit, event.articleId, event.topicId))) return;
    for (const stageEvent of events) await unit.send(topicKind, event.topicId, stageEvent);
  },

  async articleRemoved(unit, { articleId, topicId, by }) {
    if (await isLinked(unit, articleId, topicId)) await unit.send(topicKind, topicId, { type: "article.unlink", by });
  },
};
