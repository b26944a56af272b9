/**
 * ArticleEvents appends to the event log of an article, `articleEvents/<articleId>`, in the commit of the cause.
 *
 * An entry is one JSON text: the event without its `id`, which is its position in the log. The log is in the article's
 * partition and is removed with the article. The same commit arms the row that trims the log; after the commit the bus
 * wakes the streams of the article.
 */
import type { Limits } from "../../../api/limits.ts";
import type { ArticleEventData, KeptArticleEvent } from "../../../api/schema/articleEvent.ts";
import { trimRow } from "../../platform/actors/trimRows.ts";
import type { DueWrite, LogEntry, Storage } from "../../platform/storage/port.ts";
import { present } from "../call/present.ts";
import type { ArticleEvents, ArticleUpdatedData } from "./port.ts";
import type { ArticleRecord, CommitRecord } from "./records.ts";

/** The log may exceed its maximum number of entries before the entries reach their maximum age. */
export const articleTrimEveryMs = 24 * 60 * 60 * 1000;
/** The log of an article that is deleted for good is kept so long that its readers can receive the last event. */
const dropAfterMs = 60_000;

const nothing = new Uint8Array();

/** Name of the event log of an article; it is in the partition of the article. */
export function articleEventLog(articleId: string): string {
  return `articleEvents/${articleId}`;
}

export function isArticleEventLog(log: string): boolean {
  return log.startsWith("articleEvents/");
}

export function decodeArticleEvent({ position, bytes }: LogEntry): KeptArticleEvent {
  return { id: String(position), ...JSON.parse(Buffer.from(bytes).toString("utf8")) } as KeptArticleEvent;
}

export interface ArticleEventsOptions {
  readonly storage: Pick<Storage, "now" | "bus">;
  readonly limits: Pick<Limits, "keep.events">;
}

export function createArticleEvents({ storage, limits }: ArticleEventsOptions): ArticleEvents {
  return {
    add(unit, { articleId, workspaceId, topicId, event, actor, data }) {
      const nowMs = storage.now();
      const log = articleEventLog(articleId);
      const createdAt = new Date(nowMs).toISOString();
      const entry = { event, createdAt, workspaceId, articleId, ...present({ topicId }), actor, data };
      unit.log({ op: "append", log, entries: [Buffer.from(JSON.stringify(entry))] });
      unit.due({ op: "arm", row: trimRow(log, nowMs + Math.min(limits["keep.events"], articleTrimEveryMs)) });
      unit.afterCommit(() => storage.bus.publish(log, nothing));
    },
  };
}

/** The due row that removes the log of an article, for the commit that deletes the article for good. */
export function dropArticleEvents(articleId: string, nowMs: number): DueWrite {
  return { op: "schedule", row: trimRow(articleEventLog(articleId), nowMs + dropAfterMs) };
}

/** Name of the event of a commit. */
export function toCommitEvent({ kind }: Pick<CommitRecord, "kind">): "document.committed" | "document.checkpointed" | "document.restored" {
  if (kind === "checkpoint") return "document.checkpointed";
  return kind === "restore" ? "document.restored" : "document.committed";
}

/** Data of the event of a commit. `article` is the article as the commit leaves it, `data` that of its webhook event. */
export function toCommitEventData(
  article: Pick<ArticleRecord, "wordCount">,
  { message, name }: Pick<CommitRecord, "message" | "name">,
  data: ArticleUpdatedData,
): ArticleEventData["document.committed"] {
  const { commitId, kind, revision, previousRevision, contentHash, files, authors, runId, diffUrl } = data;
  return {
    commitId,
    kind,
    message,
    ...present({ name }),
    revision,
    previousRevision,
    contentHash,
    wordCount: article.wordCount,
    files: [...files],
    authors: [...authors],
    ...present({ runId }),
    diffUrl,
  };
}
