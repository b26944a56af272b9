/**
 * Defines the two due rows of an automatic checkpoint.
 *
 * An edit arms `checkpoint/<article>` unless the row exists. When the author pauses, one commit replaces that row by
 * `checkpoint.commit/<commit>`; only then is the text read and committed. So each edit is either part of the text that was
 * read, or it came later and armed the first row again. With a single row, an edit between reading the text and removing
 * the row would arm nothing, and no checkpoint would include it until the next edit.
 */
import type { DueRow, DueWrite, Json } from "../../platform/storage/port.ts";

export const checkpointKind = "checkpoint";
export const checkpointCommitKind = "checkpoint.commit";

export interface CheckpointPayload {
  readonly [key: string]: Json;
  readonly articleId: string;
  /** Store time of the first edit since the text was last read. */
  readonly firstEditAtMs: number;
}

export interface CheckpointCommitPayload {
  readonly [key: string]: Json;
  readonly articleId: string;
  readonly commitId: string;
}

function checkpointId(articleId: string): string {
  return `checkpoint/${articleId}`;
}

export function checkpointRow(articleId: string, firstEditAtMs: number, dueAtMs: number): DueRow {
  const payload: CheckpointPayload = { articleId, firstEditAtMs };
  return { id: checkpointId(articleId), kind: checkpointKind, dueAtMs, attempts: 0, payload };
}

/** The row id contains the commit id, so that a paused node cannot mistake this row for an older one that it still holds. */
export function checkpointCommitRow(articleId: string, commitId: string, dueAtMs: number): DueRow {
  const payload: CheckpointCommitPayload = { articleId, commitId };
  return { id: `checkpoint.commit/${commitId}`, kind: checkpointCommitKind, dueAtMs, attempts: 0, payload };
}

/** Cancels the checkpoint of an article that is deleted for good. */
export function cancelCheckpoint(articleId: string): DueWrite {
  return { op: "cancel", id: checkpointId(articleId) };
}
