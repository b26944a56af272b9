/**
 * Automatic checkpoints: the workers of the two due rows that an edit sets going (see checkpointRows.ts).
 *
 * The rows make the commit, not a node's timer: after a crash any node goes on where they stand, and the fence of
 * the row decides which of two nodes commits. When the typing paused is read from the log, so that keystrokes write
 * nothing for it.
 */
import type { DueOutcome, DueWorker } from "../actors/port.ts";
import type { IdSource } from "../ids.ts";
import type { ClaimedRow, Storage } from "../storage/port.ts";
import {
  type CheckpointCommitPayload,
  type CheckpointPayload,
  checkpointCommitKind,
  checkpointCommitRow,
  checkpointKind,
} from "./checkpointRows.ts";
import type { CommitWriter } from "./commitWriter.ts";
import type { DocumentReader } from "./documentReader.ts";
import { articleRecord } from "./records.ts";

export interface CheckpointOptions {
  readonly storage: Pick<Storage, "commit" | "now">;
  readonly reader: DocumentReader;
  readonly commitWriter: Pick<CommitWriter, "write">;
  readonly ids: IdSource;
  readonly checkpointQuietMs: number;
  readonly checkpointMaxMs: number;
  /** Looks at the due queue once something in it is due. */
  readonly wake: (partition: number, dueAtMs: number) => void;
}

const message = "Automatic checkpoint";
const catchUpMs = 250;

/** Kind of due row → its worker, for the due pump. */
export function createCheckpointWorkers(options: CheckpointOptions): Readonly<Record<string, DueWorker>> {
  const { storage, reader, commitWriter, ids, checkpointQuietMs, checkpointMaxMs, wake } = options;

  async function settle(row: ClaimedRow): Promise<DueOutcome> {
    const { articleId, firstEditAtMs } = row.payload as CheckpointPayload;
    const { partition, id, fence } = row;
    const tail = await reader.tail(articleId);
    let lastEditAtMs = firstEditAtMs;
    if (tail > 0) for await (const newest of reader.headers(articleId, tail - 1, tail)) lastEditAtMs = newest.atMs;
    const nowMs = storage.now();
    const dueAtMs = Math.min(lastEditAtMs + checkpointQuietMs, firstEditAtMs + checkpointMaxMs);
    if (nowMs < dueAtMs) {
      await storage.commit({ partition, due: [{ op: "postpone", id, fence, dueAtMs, attempts: 0 }] });
      return { kind: "settled" };
    }
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

  async function commit(row: ClaimedRow): Promise<DueOutcome> {
    const { articleId, commitId } = row.payload as CheckpointCommitPayload;
    const { partition, id, fence } = row;
    const acknowledge = { op: "acknowledge", id, fence } as const;
    for (;;) {
      const outcome = await commitWriter.write({
        articleId,
        commitId,
        kind: "checkpoint",
        message,
        automatic: true,
        ids,
        due: [acknowledge],
        notBefore: await reader.tail(articleId),
        commit: (batch) => storage.commit(batch),
      });
      if (outcome.kind === "deleted") return { kind: "done" };
      if (outcome.kind === "behind") return { kind: "retry", atMs: storage.now() + catchUpMs };
      if (outcome.kind !== "unchanged") return { kind: "settled" };
      // The edits cancelled out: their authors are owed no mention in the next commit.
      const { article, revision } = outcome;
      const value = { ...article.value, checkedRevision: Math.max(article.value.checkedRevision, revision) };
      const records =
        value.checkedRevision === article.value.checkedRevision
          ? []
          : [{ op: "put", type: articleRecord, value, replacing: article } as const];
      const result = await storage.commit({ partition, records, due: [acknowledge] });
      if (result.ok || result.conflict.kind === "due") return { kind: "settled" };
    }
  }

  return { [checkpointKind]: settle, [checkpointCommitKind]: commit };
}
