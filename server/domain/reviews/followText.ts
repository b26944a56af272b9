/**
 * FollowText keeps stored anchors current: after each commit of an article it stores the places of the quotes of its reviews.
 *
 * Otherwise an anchor would be lost once its own characters and its first context are deleted. The commit
 * of the article schedules a due row; its worker reads the live text and writes only the anchors whose context, characters
 * or state have changed, in commits of bounded size. The worker is idempotent, because it compares with the stored anchors.
 */
import { type ClaimedDueRow, type DueOutcome, type DueWorker, defineDueKind } from "../../platform/actors/duePort.ts";
import type { ActorRuntime } from "../../platform/actors/port.ts";
import type { IndexKey, Storage } from "../../platform/storage/port.ts";
import type { ArticleListeners } from "../articles/port.ts";
import { articleRecord } from "../articles/records.ts";
import type { Anchors, FileAnchor } from "./anchors.ts";
import { isFollowed } from "./findReview.ts";
import { reviewCount, reviewLists, reviewRecord } from "./records.ts";
import { reviewKind } from "./reviewKind.ts";

interface ArticlePayload {
  readonly articleId: string;
}

const followRows = defineDueKind<ArticlePayload>("review.follow");
/** Reviews that are read, and at most written, at once. */
const pageSize = 200;

export interface FollowListenerOptions {
  readonly storage: Pick<Storage, "counts" | "now">;
  /** Schedules a poll of the partition's due queue at `dueAtMs`. */
  readonly wake: (partition: number, dueAtMs: number) => void;
}

/** Schedules the row in the commit of an article that has reviews. */
export function createFollowListener({ storage, wake }: FollowListenerOptions): Pick<ArticleListeners, "articleUpdated"> {
  return {
    async articleUpdated(unit, { data: { articleId } }) {
      const [count = 0] = await storage.counts.get(unit.partition, [reviewCount(articleId)]);
      if (count === 0) return;
      const dueAtMs = storage.now();
      unit.due({ op: "schedule", row: followRows.row({ id: `${followRows.name}/${articleId}`, dueAtMs, payload: { articleId } }) });
      unit.afterCommit(() => wake(unit.partition, dueAtMs));
    },
  };
}

export interface FollowTextOptions {
  readonly storage: Pick<Storage, "records" | "index" | "commit" | "now">;
  readonly actors: Pick<ActorRuntime, "commitUnit" | "refusal">;
  readonly anchors: Pick<Anchors, "follow">;
}

/** Kind of due row → its worker, for the due pump. */
export function createFollowText({ storage, actors, anchors }: FollowTextOptions): Readonly<Record<string, DueWorker>> {
  async function followPage(partition: number, articleId: string, workspaceId: string, reviewIds: readonly string[]): Promise<void> {
    const records = (await storage.records.getMany(reviewRecord, reviewIds)).flatMap((stored) =>
      stored === undefined ? [] : [stored.value],
    );
    const followed = records.filter(isFollowed);
    const wanted = followed.map(({ context }) => ({ file: context.file, anchor: context.anchor }) as FileAnchor);
    const moved = await anchors.follow(articleId, workspaceId, wanted);
    await actors.commitUnit({ operation: "review.follow", partition, committer: storage }, async (unit) => {
      for (const [at, anchor] of moved.entries()) {
        const id = followed[at]?.id;
        const current = id === undefined || anchor === undefined ? undefined : await unit.read(reviewKind, id);
        // A review that was deleted or accepted meanwhile is not followed any more.
        if (id === undefined || anchor === undefined || current === undefined) continue;
        const event = { type: "anchor.placed", anchor } as const;
        if (actors.refusal(reviewKind, current.value, event) === undefined) await unit.send(reviewKind, id, event);
      }
    });
  }

  async function follow({ partition, payload }: ClaimedDueRow<ArticlePayload>, signal: AbortSignal): Promise<DueOutcome> {
    const { articleId } = payload;
    const article = (await storage.records.get(articleRecord, articleId))?.value;
    if (article === undefined || article.deletedAtMs !== undefined) return { kind: "done" };
    for (let after: IndexKey | undefined; !signal.aborted; ) {
      const scan = { partition, prefix: reviewLists.ofArticle(articleId), limit: pageSize };
      const rows = await storage.index.scan(after === undefined ? scan : { ...scan, after });
      if (rows.length > 0) {
        const reviewIds = rows.map(({ target }) => target);
        await followPage(partition, articleId, article.workspaceId, reviewIds);
      }
      after = rows.at(-1)?.key;
      if (rows.length < pageSize) return { kind: "done" };
    }
    return { kind: "retry", atMs: storage.now() };
  }

  return { [followRows.name]: followRows.worker(follow) };
}
