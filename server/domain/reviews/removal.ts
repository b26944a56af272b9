/**
 * Removes the reviews of an article that was deleted for good, in pieces.
 *
 * The commit that deletes the article makes its reviews unreachable and schedules a due row, which survives a crash. No
 * review can be created afterwards, because its commit requires the article.
 */
import { type ClaimedDueRow, type DueOutcome, type DueWorker, defineDueKind } from "../../platform/actors/duePort.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { ArticleListeners } from "../articles/port.ts";
import { reviewLists, reviewRecord } from "./records.ts";

interface ArticlePayload {
  readonly articleId: string;
}

const purgeRows = defineDueKind<ArticlePayload>("review.purge");
const reviewsAtOnce = 100;

export interface RemovalListenerOptions {
  readonly storage: Pick<Storage, "now">;
  /** Schedules a poll of the partition's due queue at `dueAtMs`. */
  readonly wake: (partition: number, dueAtMs: number) => void;
}

export function createRemovalListener({ storage, wake }: RemovalListenerOptions): Pick<ArticleListeners, "articlePurged"> {
  return {
    async articlePurged(unit, { articleId }) {
      const dueAtMs = storage.now();
      unit.due({ op: "schedule", row: purgeRows.row({ id: `${purgeRows.name}/${articleId}`, dueAtMs, payload: { articleId } }) });
      unit.afterCommit(() => wake(unit.partition, dueAtMs));
    },
  };
}

/** Kind of due row → its worker, for the due pump. */
export function createRemoval(storage: Pick<Storage, "records" | "index" | "commit" | "now">): Readonly<Record<string, DueWorker>> {
  async function remove({ partition, payload }: ClaimedDueRow<ArticlePayload>, signal: AbortSignal): Promise<DueOutcome> {
    while (!signal.aborted) {
      const rows = await storage.index.scan({ partition, prefix: reviewLists.ofArticle(payload.articleId), limit: reviewsAtOnce });
      if (rows.length === 0) return { kind: "done" };
      const reviews = await storage.records.getMany(
        reviewRecord,
        rows.map(({ target }) => target),
      );
      const records = reviews.flatMap((stored) =>
        stored === undefined ? [] : [{ op: "delete", type: reviewRecord, replacing: stored } as const],
      );
      await storage.commit({ partition, records });
    }
    return { kind: "retry", atMs: storage.now() };
  }

  return { [purgeRows.name]: purgeRows.worker(remove) };
}
