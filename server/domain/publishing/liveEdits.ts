/**
 * LiveEdits sends `article.edited` to the link of a Live page after each durable edit.
 *
 * The commit of an edit arms one row for its article, unless the row is armed. The row's worker sends the event in the
 * commit that removes the row: the synchronization that follows reads every edit before that commit, and an edit after
 * it arms the row again. While a synchronization is due, the row waits for it, so continuous typing costs one or two
 * writes a second and not one write for each keystroke.
 */

import { AppError } from "../../../api/schema/error.ts";
import { syncPauseMs } from "../../../machines/publicLink.ts";
import { type ClaimedDueRow, type DueOutcome, type DueWorker, defineDueKind } from "../../platform/actors/duePort.ts";
import type { ActorRuntime } from "../../platform/actors/port.ts";
import { CommitConflict } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { DueWrite, Partition, Storage } from "../../platform/storage/port.ts";
import type { ArmAtEdit } from "../articles/port.ts";
import { documentLog } from "../articles/records.ts";
import { publicLinkKind } from "./publicLinkKind.ts";
import { syncStatusOf } from "./publicLinkView.ts";
import { type PublicLinkRecord, publicLinkRecord } from "./records.ts";

interface EditedPayload {
  readonly articleId: string;
}

export const editedRows = defineDueKind<EditedPayload>("publicLink.edited");

export function armEdited(articleId: string, dueAtMs: number): DueWrite {
  return { op: "arm", row: editedRows.row({ id: `${editedRows.name}/${articleId}`, dueAtMs, payload: { articleId } }) };
}

export interface ArmAtEditOptions {
  /** `DuePump.wake`. */
  readonly wake: (partition: Partition, dueAtMs: number) => void;
}

/** Wakes the due queue after edits on this node, at most once in `syncPauseMs` for each article, so they need not wait for a poll. */
export function createArmAtEdit({ wake }: ArmAtEditOptions): ArmAtEdit {
  /** Article id → time of its next or last poll of the due queue (Unix milliseconds). */
  const looksMs = new Map<string, number>();

  function look(articleId: string, nowMs: number): void {
    const lastMs = looksMs.get(articleId) ?? Number.NEGATIVE_INFINITY;
    // The poll that is already scheduled finds the row of this edit too.
    if (lastMs > nowMs) return;
    const atMs = Math.max(nowMs, lastMs + syncPauseMs);
    looksMs.delete(articleId);
    looksMs.set(articleId, atMs);
    for (const [other, otherMs] of looksMs) {
      if (otherMs + syncPauseMs > nowMs) break;
      looksMs.delete(other);
    }
    wake(partitionOfId(articleId), atMs);
  }

  return ({ articleId, publicLink }, nowMs) =>
    publicLink?.state === "live" ? { due: [armEdited(articleId, nowMs)], started: () => look(articleId, nowMs) } : { due: [] };
}

/** The time to check the row again, when a synchronization that has not started yet will read the edit; otherwise undefined. */
function toWaitUntilMs({ context, ...link }: PublicLinkRecord, nowMs: number): number | undefined {
  const { sync } = context;
  switch (syncStatusOf(link)) {
    case "pending":
      return Math.max(nowMs, sync.startedAtMs) + syncPauseMs;
    case "syncing":
      return sync.stale ? Math.max(nowMs, sync.startedAtMs) + syncPauseMs : undefined;
    case "retrying":
      return Math.max(nowMs + syncPauseMs, sync.nextRetryAtMs ?? 0);
    default:
      return undefined;
  }
}

export interface LiveEditsOptions {
  readonly storage: Pick<Storage, "records" | "log" | "commit" | "now">;
  readonly actors: Pick<ActorRuntime, "send">;
}

export function createLiveEdits({ storage, actors }: LiveEditsOptions): DueWorker {
  /** Removes the row of an article that is not Live. The link must be unchanged, because a link that becomes Live needs the row. */
  async function forget(
    { partition, id, fence }: ClaimedDueRow<EditedPayload>,
    articleId: string,
    revision: number | "absent",
  ): Promise<DueOutcome> {
    const result = await storage.commit({
      partition,
      due: [{ op: "acknowledge", id, fence }],
      require: [{ kind: "revision", type: publicLinkRecord, key: articleId, revision }],
    });
    return result.ok || result.conflict.kind === "due" ? { kind: "settled" } : { kind: "retry", atMs: storage.now() };
  }

  return editedRows.worker(async (row) => {
    const { articleId } = row.payload;
    const link = await storage.records.get(publicLinkRecord, articleId);
    const status = link === undefined ? undefined : syncStatusOf(link.value);
    if (link === undefined || status === undefined) return forget(row, articleId, link?.revision ?? "absent");
    const untilMs = toWaitUntilMs(link.value, storage.now());
    if (untilMs !== undefined) return { kind: "retry", atMs: untilMs };
    const revision = await storage.log.tail(partitionOfId(articleId), documentLog(articleId));
    const due: DueWrite = { op: "acknowledge", id: row.id, fence: row.fence };
    try {
      await actors.send(publicLinkKind, articleId, { type: "article.edited", revision }, { gather: (unit) => unit.due(due) });
    } catch (reason) {
      // A due conflict means that another node holds the row. An invalid transition means that the link was unpublished or
      // changed its mode: check the row again.
      if (reason instanceof CommitConflict && reason.conflict.kind === "due") return { kind: "settled" };
      if (reason instanceof AppError && reason.code === "invalid_transition") return { kind: "retry", atMs: storage.now() };
      throw reason;
    }
    return { kind: "settled" };
  });
}
