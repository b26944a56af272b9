/**
 * The two due rows of an automatic checkpoint, and why there are two.
 *
 * An edit arms `checkpoint/<article>`, if it is not armed. When the typing has paused, that row is exchanged for
 * `checkpoint.commit/<commit>`, in one commit; only then is the text read and committed. So an edit is either in
 * the text that was read, or came later and armed the first row anew. With one row, an edit between reading the
 * text and removing the row would arm nothing and be forgotten until the next one.
 */
import type { DueRow, DueWrite, Json } from "../storage/port.ts";

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

/** Named for the commit it makes: no row that a paused node still believes to hold is ever taken for this one. */
export function checkpointCommitRow(articleId: string, commitId: string, dueAtMs: number): DueRow {
  const payload: CheckpointCommitPayload = { articleId, commitId };
  return { id: `checkpoint.commit/${commitId}`, kind: checkpointCommitKind, dueAtMs, attempts: 0, payload };
}

/** For an article that goes for good. */
export function cancelCheckpoint(articleId: string): DueWrite {
  return { op: "cancel", id: checkpointId(articleId) };
}
