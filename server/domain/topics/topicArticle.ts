/**
 * Links a topic to its article, reads its outline and draft, and moves the topic when the article changes.
 *
 * A commit of the article may advance the topic; deleting the article permanently unlinks it. The article owns the
 * texts. The topic machine decides the status.
 */
import type { ArticleFile } from "../../../api/schema/article.ts";
import { AppError, notFound } from "../../../api/schema/error.ts";
import type { TopicEvent } from "../../../machines/topic.ts";
import type { ActorRuntime, Alongside, Timeless } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage, Stored } from "../../platform/storage/port.ts";
import type { ArticleCommitted, ArticleListeners, ArticleWriter } from "../articles/port.ts";
import { type ArticleRecord, articleRecord } from "../articles/records.ts";
import type { Call } from "../call/call.ts";
import { principalOf } from "../call/principal.ts";
import { commitTogether, foldMoves, joinParts } from "../call/together.ts";
import { workspaceRecord } from "../identity/workspaces/records.ts";
import type { FindTopic } from "./findTopic.ts";
import { type TopicRecord, topicRecord } from "./records.ts";
import { refuseMember } from "./refuseMember.ts";
import { topicKind } from "./topicKind.ts";

export interface EnsuredArticle {
  readonly articleId: string;
  /** True if the article was created by this call. */
  readonly created: boolean;
  /** True if the article was linked to the topic by this call. */
  readonly linked: boolean;
}

export interface StageText {
  readonly topicId: string;
  readonly articleId: string;
  readonly text: string;
}

export interface TopicArticles extends Pick<ArticleListeners, "articleCommitted" | "articleRemoved"> {
  ensure(call: Call, workspaceId: string, reference: string, articleId: string | undefined): Promise<EnsuredArticle>;
  /** The file's text in the article's newest commit that contains it. Throws `not_found` if there is none. */
  read(workspaceId: string, reference: string, file: ArticleFile): Promise<StageText>;
}

export interface TopicArticlesOptions {
  readonly storage: Pick<Storage, "records">;
  readonly actors: Pick<ActorRuntime, "move">;
  readonly find: FindTopic;
  readonly articles: Pick<ArticleWriter, "prepareArticle" | "prepareLink" | "committedText">;
}

const stages = [
  ["outline.md", "outline.committed"],
  ["content.md", "draft.committed"],
] as const;

export function createTopicArticles({ storage, actors, find, articles }: TopicArticlesOptions): TopicArticles {
  async function require(workspaceId: string, reference: string): Promise<Stored<TopicRecord>> {
    const topic = await find(workspaceId, reference);
    if (topic === undefined) throw notFound();
    return topic;
  }

  async function ownArticle(articleId: string): Promise<EnsuredArticle> {
    const article = (await storage.records.get(articleRecord, articleId))?.value;
    if (article !== undefined && article.deletedAtMs === undefined) return { articleId, created: false, linked: false };
    throw new AppError(
      "invalid_transition",
      "The topic's article is in the trash. Restore it, or delete it permanently to link another one.",
      {
        currentState: "article_deleted",
        allowed: ["articles.undelete"],
      },
    );
  }

  async function requireArticle(workspaceId: string, articleId: string): Promise<Stored<ArticleRecord>> {
    const article = await storage.records.get(articleRecord, articleId);
    if (article !== undefined && article.value.workspaceId === workspaceId && article.value.deletedAtMs === undefined) return article;
    throw refuseMember("articleId", "must be an article of the workspace that is not in the trash");
  }

  /** The article, created if none is named, and the change that links it to the topic. */
  async function toLink(call: Call, topic: Stored<TopicRecord>, wanted: string | undefined) {
    const { workspaceId, fields } = topic.value.context;
    const topicId = topic.value.id;
    if (wanted !== undefined) {
      const change = articles.prepareLink(await requireArticle(workspaceId, wanted), topicId);
      if (change === undefined) throw new AppError("already_exists", "The article is linked to another topic.");
      return { articleId: wanted, created: false, change };
    }
    const workspace = await storage.records.get(workspaceRecord, workspaceId);
    if (workspace === undefined) throw notFound();
    const { username, kind } = principalOf(call);
    const author = { username, kind: kind === "key" ? "key" : "user" } as const;
    const made = await articles.prepareArticle({ workspace: workspace.value, title: fields.title, topicId, author, ids: call.ids });
    return { ...made, created: true };
  }

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
    ensure: (call, workspaceId, reference, wanted) =>
      commitTogether(partitionOfId(workspaceId), call.commit.bind(call), async () => {
        const topic = await require(workspaceId, reference);
        const { articleId: own } = topic.value.context;
        const by = principalOf(call).username;
        const move = (articleId: string) => actors.move(topicKind, topic, { type: "article.link", articleId, by });
        if (own !== undefined && (wanted ?? own) === own) {
          // Move the topic even if nothing would change, so that an archived topic always refuses this request.
          move(own);
          return { parts: [], value: await ownArticle(own) };
        }
        if (own !== undefined) throw new AppError("already_exists", `The topic already has an article, ${own}.`);
        const { articleId, created, change } = await toLink(call, topic, wanted);
        return { parts: [change, move(articleId)], value: { articleId, created, linked: true } };
      }),

    async read(workspaceId, reference, file) {
      const topic = await require(workspaceId, reference);
      const { articleId } = topic.value.context;
      const found = articleId === undefined ? undefined : await articles.committedText(articleId, file);
      if (articleId === undefined || found === undefined) throw notFound();
      return { topicId: topic.value.id, articleId, text: found.text };
    },

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
