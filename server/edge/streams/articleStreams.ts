/**
 * ArticleStreams implements the streams of articles: the first position of a viewer, its events, signals, tokens and
 * snapshots.
 *
 * Events come from the event log of the article. Signals come from its document and are not kept; they are computed while
 * the article has viewers on this node. The stream ends when the article is moved to the trash or deleted, and continues
 * after its last token when the article returns. This module must not know HTTP.
 */
import type { ArticleSignal } from "../../../api/schema/articleEvent.ts";
import { notFound } from "../../../api/schema/error.ts";
import type { Activity, ArticleActivity } from "../../domain/articles/articleActivity.ts";
import { articleEventLog, decodeArticleEvent } from "../../domain/articles/articleEvents.ts";
import { articleRecord, documentLog, toArticle } from "../../domain/articles/records.ts";
import { present } from "../../domain/call/present.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { OpenedStream, OpenSource, StreamStart } from "./port.ts";
import { readPosition, type StreamLogs } from "./streamLogs.ts";

export interface ArticleStreamsOptions {
  readonly storage: Pick<Storage, "records" | "now">;
  readonly logs: StreamLogs;
  readonly activity: Pick<ArticleActivity, "watch">;
}

export interface ArticleStreams {
  readonly source: OpenSource;
  /** Throws `bad_request` if the resume token belongs to another stream. */
  open(articleId: string, start: StreamStart): Promise<OpenedStream>;
}

export function createArticleStreams({ storage, logs, activity }: ArticleStreamsOptions): ArticleStreams {
  async function find(articleId: string) {
    return (await storage.records.get(articleRecord, articleId))?.value;
  }

  async function snapshot(articleId: string) {
    // Read the tail first: an event between the two reads then appears twice (snapshot and stream) instead of never.
    const tail = await logs.tail(articleEventLog(articleId));
    const [article, revision] = await Promise.all([find(articleId), logs.tail(documentLog(articleId))]);
    if (article === undefined) throw notFound();
    return { snapshot: toArticle(article, revision) as unknown as Record<string, unknown>, tail };
  }

  async function isOver(articleId: string): Promise<boolean> {
    const article = await find(articleId);
    return article === undefined || article.deletedAtMs !== undefined;
  }

  /** Returns the signal of an activity; undefined if the article is deleted or cannot be read now. */
  async function toSignal(articleId: string, { event, actor, data }: Activity, nowMs: number): Promise<ArticleSignal | undefined> {
    const article = await find(articleId).catch(() => undefined);
    if (article === undefined || article.deletedAtMs !== undefined) return undefined;
    const { workspaceId, topicId } = article;
    const createdAt = new Date(nowMs).toISOString();
    return { event, createdAt, workspaceId, articleId, ...present({ topicId }), actor, data } as ArticleSignal;
  }

  return {
    source: (articleId) => ({
      log: articleEventLog(articleId),
      toItem(entry) {
        const event = decodeArticleEvent(entry);
        return { kind: "event", token: event.id, event };
      },
      toToken: String,
      snapshot: () => snapshot(articleId),
      isOver: () => isOver(articleId),
      watch(show) {
        let isEnded = false;
        /** Signals are shown in the order in which they occurred. */
        let last: Promise<void> = Promise.resolve();
        const unwatch = activity.watch(articleId, (found) => {
          const making = toSignal(articleId, found, storage.now());
          last = last.then(async () => {
            const event = await making;
            if (event !== undefined && !isEnded) show({ kind: "signal", event });
          });
        });
        return () => {
          isEnded = true;
          unwatch();
        };
      },
    }),

    async open(articleId, start) {
      const log = articleEventLog(articleId);
      const position = await logs.begin(log, start, { from: "now", toPosition });
      const isRead = start.lastEventId !== undefined && position === (await logs.tail(log));
      return { log, position, isOver: isRead && (await isOver(articleId)) };
    },
  };
}

function toPosition(token: string): number {
  return readPosition(token, "the id of one of its events, a decimal number");
}
