/**
 * AcceptCommits makes the commit that follows an accepted suggestion.
 *
 * The commit of the acceptance schedules a due row, leased to the process that makes it. This process makes the article's
 * commit at once, which removes the row. If the process dies first, the row falls due and any process makes the commit. The
 * fence of the row decides which of two processes commits, so there is one commit for one acceptance.
 */
import type { Logger } from "pino";
import { AppError } from "../../../api/schema/error.ts";
import { type DueWorker, defineDueKind } from "../../platform/actors/duePort.ts";
import { type ActorRuntime, CommitConflict, type UnitOfWork } from "../../platform/actors/port.ts";
import { type IdSource, partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { ArticleWriter } from "../articles/port.ts";

export interface AcceptCommit {
  readonly articleId: string;
  readonly commitId: string;
  readonly message: string;
  /** Username of the account that accepted the suggestion. */
  readonly committer: string;
  readonly traceparent?: string;
}

const commitRows = defineDueKind<AcceptCommit>("review.commit");
/** Fence of a due row that no other process has claimed. */
const firstFence = 1;

export interface AcceptCommits {
  /** Adds the due row to the unit of the acceptance. */
  schedule(unit: UnitOfWork, commit: AcceptCommit): void;
  /** Makes the commit after the acceptance is stored. On failure, the due row does it later. */
  complete(commit: AcceptCommit): Promise<void>;
  /** Kind of due row → its worker, for the due pump. */
  readonly workers: Readonly<Record<string, DueWorker>>;
}

export interface AcceptCommitsOptions {
  readonly storage: Pick<Storage, "commit" | "now">;
  readonly actors: Pick<ActorRuntime, "commitUnit">;
  readonly articles: Pick<ArticleWriter, "commit">;
  readonly ids: IdSource;
  readonly leaseMs: number;
  readonly log: Logger;
}

function rowId({ commitId }: AcceptCommit): string {
  return `${commitRows.name}/${commitId}`;
}

export function createAcceptCommits({ storage, actors, articles, ids, leaseMs, log }: AcceptCommitsOptions): AcceptCommits {
  async function commit(order: AcceptCommit, fence: number): Promise<void> {
    const { articleId, commitId, message, committer, traceparent } = order;
    try {
      await actors.commitUnit({ operation: "review.commit", partition: partitionOfId(articleId), committer: storage }, async (unit) => {
        unit.due({ op: "acknowledge", id: rowId(order), fence });
        const prepared = await articles.commit(unit, { articleId, commitId, kind: "commit", message, committer, ids, traceparent });
        if (prepared.kind !== "behind") return;
        throw new AppError("unavailable", "This node has not yet read the newest edits of the article; retry shortly.", { retryAfter: 1 });
      });
    } catch (reason) {
      // Another process has claimed the row and makes the commit.
      if (!(reason instanceof CommitConflict && reason.conflict.kind === "due")) throw reason;
    }
  }

  return {
    schedule(unit, order) {
      unit.due({ op: "schedule", row: commitRows.row({ id: rowId(order), dueAtMs: storage.now() + leaseMs, payload: order }) });
    },
    async complete(order) {
      try {
        await commit(order, firstFence);
      } catch (err) {
        log.warn({ err, articleId: order.articleId }, "an accepted suggestion is not committed yet; its due row will run again");
      }
    },
    workers: {
      [commitRows.name]: commitRows.worker(async ({ payload, fence }) => {
        await commit(payload, fence);
        return { kind: "settled" };
      }),
    },
  };
}
