/**
 * Runs automatic checkpoints: the workers of the two due rows that follow an edit (see checkpointRows.ts).
 *
 * Checkpoints use durable due rows instead of timers in a process: after a crash any node continues from the row, and the
 * fence of the row decides which of two nodes commits. The time of the last edit is read from the log, so a keystroke
 * does not have to write it.
 */
import { isDeepStrictEqual } from "node:util";
import type { ClaimedDueRow, DueOutcome, DueWorker } from "../../platform/actors/duePort.ts";
import { type IdSource, partitionOfId } from "../../platform/storage/ids.ts";
import type { DueWrite, Storage } from "../../platform/storage/port.ts";
import { conflict, retryOnConflict } from "../../platform/storage/retryOnConflict.ts";
import {
  type CheckpointCommitPayload,
  type CheckpointPayload,
  checkpointCommitRow,
  checkpointCommitRows,
  checkpointId,
  checkpointRows,
} from "./checkpointRows.ts";
import type { CommitWriter } from "./commitWriter.ts";
import type { DocumentReader } from "./documentReader.ts";
import { type ArticleRecord, articleRecord } from "./records.ts";

export interface CheckpointOptions {
  readonly storage: Pick<Storage, "records" | "due" | "commit" | "now">;
  readonly reader: DocumentReader;
  readonly commitWriter: Pick<CommitWriter, "write">;
  readonly ids: IdSource;
  readonly checkpointQuietMs: number;
  readonly checkpointMaxMs: number;
  /** Schedules a poll of the partition's due queue at `dueAtMs`. */
  readonly wake: (partition: number, dueAtMs: number) => void;
}

const message = "Automatic checkpoint";
const catchUpMs = 250;

/** Kind of due row → its worker, for the due pump. */
export function createCheckpointWorkers(options: CheckpointOptions): Readonly<Record<string, DueWorker>> {
  const { storage, reader, commitWriter, ids, checkpointQuietMs, checkpointMaxMs, wake } = options;

  /** Marks the article, so that lists find its uncommitted edits. */
  function postpone(articleId: string, row: DueWrite): Promise<DueOutcome> {
    return retryOnConflict("checkpoint.postpone", async () => {
      const article = await storage.records.get(articleRecord, articleId);
      const records =
        article === undefined || article.value.deletedAtMs !== undefined || article.value.mayHaveEdits === true
          ? []
          : [{ op: "put", type: articleRecord, value: { ...article.value, mayHaveEdits: true }, replacing: article } as const];
      const result = await storage.commit({ partition: partitionOfId(articleId), records, due: [row] });
      return result.ok || result.conflict.kind === "due" ? { kind: "settled" } : conflict;
    });
  }

  async function settle({ partition, id, fence, payload }: ClaimedDueRow<CheckpointPayload>): Promise<DueOutcome> {
    const { articleId, firstEditAtMs } = payload;
    const tail = await reader.tail(articleId);
    let lastEditAtMs = firstEditAtMs;
    if (tail > 0) for await (const newest of reader.headers(articleId, tail - 1, tail)) lastEditAtMs = newest.atMs;
    const nowMs = storage.now();
    const dueAtMs = Math.min(lastEditAtMs + checkpointQuietMs, firstEditAtMs + checkpointMaxMs);
    if (nowMs < dueAtMs) return postpone(articleId, { op: "postpone", id, fence, dueAtMs, attempts: 0 });
    const exchanged = await storage.commit({
      partition,
      due: [
        { op: "acknowledge", id, fence },
        { op: "schedule", row: checkpointCommitRow(articleId, ids.next("cmt", partition), nowMs) },
      ],
    });
    if (exchanged.ok) wake(partition, nowMs);
    return { kind: "settled" };
  }

  async function commit({ partition, id, fence, payload }: ClaimedDueRow<CheckpointCommitPayload>): Promise<DueOutcome> {
    const { articleId, commitId } = payload;
    const acknowledge = { op: "acknowledge", id, fence } as const;
    return retryOnConflict("checkpoint.commit", async () => {
      // An edit after the exchange has armed the next checkpoint. The article keeps its mark for that one.
      const isLast = (await storage.due.get(partition, checkpointId(articleId))) === undefined;
      const outcome = await commitWriter.write({
        articleId,
        commitId,
        kind: "checkpoint",
        message,
        automatic: true,
        clearsMark: isLast,
        ids,
        due: [acknowledge],
        notBefore: await reader.tail(articleId),
        commit: (batch) => storage.commit(batch),
      });
      if (outcome.kind === "deleted") return { kind: "done" };
      if (outcome.kind === "behind") return { kind: "retry", atMs: storage.now() + catchUpMs };
      if (outcome.kind !== "unchanged") return { kind: "settled" };
      // The edits cancelled each other out. Advance `checkedRevision`, so that the next commit does not name their authors.
      const { article, revision, attribution } = outcome;
      const { mayHaveEdits, ...rest } = article.value;
      const value: ArticleRecord = {
        ...rest,
        ...(isLast || mayHaveEdits === undefined ? {} : { mayHaveEdits }),
        ...(attribution === undefined ? {} : { checkedRevision: revision, attribution }),
      };
      const records = isDeepStrictEqual(value, article.value)
        ? []
        : [{ op: "put", type: articleRecord, value, replacing: article } as const];
      const result = await storage.commit({ partition, records, due: [acknowledge] });
      return result.ok || result.conflict.kind === "due" ? { kind: "settled" } : conflict;
    });
  }

  return { [checkpointRows.name]: checkpointRows.worker(settle), [checkpointCommitRows.name]: checkpointCommitRows.worker(commit) };
}
