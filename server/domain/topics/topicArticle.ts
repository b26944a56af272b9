/**
 * Links a topic to its article and reads its outline and draft.
 *
 * The article owns the texts. The topic machine decides the status.
 */
import type { ArticleFile } from "../../../api/schema/article.ts";
import { AppError, notFound } from "../../../api/schema/error.ts";
import type { ActorRuntime } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage, Stored } from "../../platform/storage/port.ts";
import type { ArticleWriter } from "../articles/port.ts";
import { type ArticleRecord, articleRecord } from "../articles/records.ts";
import type { Call } from "../call/call.ts";
import { principalOf } from "../call/principal.ts";
import { commitTogether } from "../call/together.ts";
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
  readonly actors: Pick<ActorRuntime, "move">;
  readonly find: FindTopic;
  readonly articles: Pick<ArticleWriter, "prepareArticle" | "prepareLink" | "committedText">;
}

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
  };
}
