/**
 * Defines the two due rows of an automatic checkpoint.
 *
 * An edit arms `checkpoint/<article>` unless the row exists. When the author pauses, one commit replaces that row by
 * `checkpoint.commit/<commit>`; only then is the text read and committed. So each edit is either part of the text that was
 * read, or it came later and armed the first row again. With a single row, an edit between reading the text and removing
 * the row would arm nothing, and no checkpoint would include it until the next edit.
 */
import { defineDueKind } from "../../platform/actors/duePort.ts";
import type { DueRow, DueWrite } from "../../platform/storage/port.ts";

export interface CheckpointPayload {
  readonly articleId: string;
  /** Store time of the first edit since the text was last read. */
  readonly firstEditAtMs: number;
}

export interface CheckpointCommitPayload {
  readonly articleId: string;
  readonly commitId: string;
}

export const checkpointRows = defineDueKind<CheckpointPayload>("checkpoint");
export const checkpointCommitRows = defineDueKind<CheckpointCommitPayload>("checkpoint.commit");

/**
 * Milliseconds from the first edit to the first check of its checkpoint. That check marks the article as edited, so that
 * lists find uncommitted edits, and then waits for the pause.
 */
const firstCheckMs = 1000;

/** Due time of a checkpoint that a first edit arms. */
export function firstCheckAtMs(nowMs: number, quietMs: number): number {
  return nowMs + Math.min(firstCheckMs, quietMs);
}

export function checkpointId(articleId: string): string {
  return `${checkpointRows.name}/${articleId}`;
}

export function checkpointRow(articleId: string, firstEditAtMs: number, dueAtMs: number): DueRow {
  return checkpointRows.row({ id: checkpointId(articleId), dueAtMs, payload: { articleId, firstEditAtMs } });
}

/** The row id contains the commit id, so that a paused node cannot mistake this row for an older one that it still holds. */
export function checkpointCommitRow(articleId: string, commitId: string, dueAtMs: number): DueRow {
  return checkpointCommitRows.row({ id: `${checkpointCommitRows.name}/${commitId}`, dueAtMs, payload: { articleId, commitId } });
}

/** Cancels the checkpoint of an article that is deleted for good. */
export function cancelCheckpoint(articleId: string): DueWrite {
  return { op: "cancel", id: checkpointId(articleId) };
}
