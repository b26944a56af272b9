/**
 * Adds the changes of topics to commits of articles.
 *
 * A commit of the article may advance the topic; deleting the article permanently unlinks it. The topic machine decides
 * the status.
 */
import type { TopicEvent } from "../../../machines/topic.ts";
import type { ActorRuntime, Alongside, Timeless } from "../../platform/actors/port.ts";
import type { Storage, Stored } from "../../platform/storage/port.ts";
import type { ArticleCommitted, ArticleListeners } from "../articles/port.ts";
import { foldMoves, joinParts } from "../call/together.ts";
import { type TopicRecord, topicRecord } from "./records.ts";
import { topicKind } from "./topicKind.ts";

export interface TopicListenersOptions {
  readonly storage: Pick<Storage, "records">;
  readonly actors: Pick<ActorRuntime, "move">;
}

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

export function createTopicListeners({
  storage,
  actors,
}: TopicListenersOptions): Pick<ArticleListeners, "articleCommitted" | "articleRemoved"> {
  /** The topic, if the article is linked to it. */
  async function linked(articleId: string, topicId: string): Promise<Stored<TopicRecord> | undefined> {
    const topic = await storage.records.get(topicRecord, topicId);
    return topic?.value.context.articleId === articleId ? topic : undefined;
  }

  function moves(topic: Stored<TopicRecord>, events: readonly Timeless<TopicEvent>[]): Alongside {
    const toMove = (event: Timeless<TopicEvent>) => (from: Stored<TopicRecord>) => actors.move(topicKind, from, event);
    return joinParts(foldMoves([], topicRecord, topic, events.map(toMove)));
  }

  return {
    async articleCommitted(event) {
      const events = toStageEvents(event);
      const topic = events.length === 0 ? undefined : await linked(event.articleId, event.topicId);
      return topic === undefined ? {} : moves(topic, events);
    },

    async articleRemoved({ articleId, topicId, by }) {
      const topic = await linked(articleId, topicId);
      return topic === undefined ? {} : moves(topic, [{ type: "article.unlink", by }]);
    },
  };
}
