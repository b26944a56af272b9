/**
 * Links a topic to its article and reads its outline and draft.
 *
 * The article owns the texts. The topic machine decides the status.
 */
import type { ArticleFile } from "../../../api/schema/article.ts";
import { AppError, notFound } from "../../../api/schema/error.ts";
import type { ActorRuntime, UnitOfWork } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage, Stored } from "../../platform/storage/port.ts";
import type { ArticleWriter } from "../articles/port.ts";
import { type ArticleRecord, articleRecord } from "../articles/records.ts";
import type { Call } from "../call/call.ts";
import { principalOf } from "../call/principal.ts";
import { workspaceRecord } from "../identity/workspaces/records.ts";
import type { FindTopic } from "./findTopic.ts";
import type { TopicRecord } from "./records.ts";
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

export interface TopicArticles {
  ensure(call: Call, workspaceId: string, reference: string, articleId: string | undefined): Promise<EnsuredArticle>;
  /** The file's text in the article's newest commit that contains it. Throws `not_found` if there is none. */
  read(workspaceId: string, reference: string, file: ArticleFile): Promise<StageText>;
}

export interface TopicArticlesOptions {
  readonly storage: Pick<Storage, "records">;
  readonly actors: Pick<ActorRuntime, "commitUnit" | "refusal">;
  readonly find: FindTopic;
  readonly articles: Pick<ArticleWriter, "create" | "link" | "committedText">;
}

export function createTopicArticles({ storage, actors, find, articles }: TopicArticlesOptions): TopicArticles {
  async function require(workspaceId: string, reference: string, unit?: UnitOfWork): Promise<Stored<TopicRecord>> {
    const topic = await find(workspaceId, reference, unit);
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

  /** Links the article to the topic, on the side of the article. Creates the article if none is named. */
  async function link(unit: UnitOfWork, call: Call, topic: TopicRecord, wanted: string | undefined): Promise<EnsuredArticle> {
    const { workspaceId, fields } = topic.context;
    const topicId = topic.id;
    if (wanted !== undefined) {
      const isLinked = articles.link(unit, await requireArticle(workspaceId, wanted), topicId);
      if (!isLinked) throw new AppError("already_exists", "The article is linked to another topic.");
      return { articleId: wanted, created: false, linked: true };
    }
    const workspace = await storage.records.get(workspaceRecord, workspaceId);
    if (workspace === undefined) throw notFound();
    const { username, kind } = principalOf(call);
    const author = { username, kind: kind === "key" ? "key" : "user" } as const;
    const input = { workspace: workspace.value, title: fields.title, topicId, author, ids: call.ids };
    return { articleId: await articles.create(unit, input), created: true, linked: true };
  }

  return {
    ensure: (call, workspaceId, reference, wanted) =>
      actors.commitUnit({ operation: "topic.article", partition: partitionOfId(workspaceId), committer: call }, async (unit) => {
        const topic = (await require(workspaceId, reference, unit)).value;
        const { articleId: own } = topic.context;
        const by = principalOf(call).username;
        if (own !== undefined && (wanted ?? own) === own) {
          // An archived topic refuses this request, even if nothing would change.
          const refusal = actors.refusal(topicKind, topic, { type: "article.link", articleId: own, by });
          if (refusal !== undefined) throw refusal;
          return ownArticle(own);
        }
        if (own !== undefined) throw new AppError("already_exists", `The topic already has an article, ${own}.`);
        const ensured = await link(unit, call, topic, wanted);
        await unit.send(topicKind, topic.id, { type: "article.link", articleId: ensured.articleId, by });
        return ensured;
      }),

    async read(workspaceId, reference, file) {
      const topic = await require(workspaceId, reference);
      const { articleId } = topic.value.context;
      const found = articleId === undefined ? undefined : await articles.committedText(articleId, file);
      if (articleId === undefined || found === undefined) throw notFound();
      return { topicId: topic.value.id, articleId, text: found.text };
    },
  };
}
