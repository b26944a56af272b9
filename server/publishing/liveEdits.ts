/**
 * How a Live page hears of a durable edit.
 *
 * The commit of an edit arms one row for its article, if it is not armed. Its worker sends `article.edited` to the
 * link in the commit that removes the row: an edit before that commit is read by the synchronization that follows
 * it, an edit after it arms the row anew. While a synchronization is due anyway the row waits for its time, so
 * somebody typing costs a write or two a second and not one for each keystroke.
 */

import { AppError } from "../../api/schema/error.ts";
import { syncPauseMs } from "../../machines/publicLink.ts";
import type { ActorRuntime, DueOutcome, DueWorker } from "../actors/port.ts";
import { CommitConflict } from "../actors/port.ts";
import type { ArmAtEdit } from "../articles/port.ts";
import { documentLog } from "../articles/records.ts";
import { partitionOfId } from "../ids.ts";
import type { ClaimedRow, DueWrite, Partition, Storage } from "../storage/port.ts";
import type { PublicLinkKind } from "./publicLinkKind.ts";
import { syncStatusOf } from "./publicLinkView.ts";
import { type PublicLinkRecord, publicLinkRecord } from "./records.ts";

export const editedRowKind = "publicLink.edited";

export function armEdited(articleId: string, dueAtMs: number): DueWrite {
  return { op: "arm", row: { id: `${editedRowKind}/${articleId}`, kind: editedRowKind, dueAtMs, payload: { articleId }, attempts: 0 } };
}

export interface ArmAtEditOptions {
  /** `DuePump.wake`. */
  readonly wake: (partition: Partition, dueAtMs: number) => void;
}

/** This node knows of its own edits, so they need not be found: the queue is looked at once in a pause for each article. */
export function createArmAtEdit({ wake }: ArmAtEditOptions): ArmAtEdit {
  /** When an article's row is looked at next, or was last. */
  const looksMs = new Map<string, number>();

  function look(articleId: string, nowMs: number): void {
    const lastMs = looksMs.get(articleId) ?? Number.NEGATIVE_INFINITY;
    // A look that is still to come finds this edit's row too.
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
    publicLink?.mode === "live" ? { due: [armEdited(articleId, nowMs)], started: () => look(articleId, nowMs) } : { due: [] };
}

/** When the row has to look again, because the edit will be read by a synchronization that is still to begin. */
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
  readonly kind: PublicLinkKind;
}

export function createLiveEdits({ storage, actors, kind }: LiveEditsOptions): DueWorker {
  /** Only while the link is as it was seen: whatever makes it follow edits again then reads or arms this one. */
  async function forget({ partition, id, fence }: ClaimedRow, articleId: string, revision: number | "absent"): Promise<DueOutcome> {
    const result = await storage.commit({
      partition,
      due: [{ op: "acknowledge", id, fence }],
      require: [{ kind: "revision", type: publicLinkRecord, key: articleId, revision }],
    });
    return result.ok || result.conflict.kind === "due" ? { kind: "settled" } : { kind: "retry", atMs: storage.now() };
  }

  return async (row) => {
    const { articleId } = row.payload as { readonly articleId: string };
    const link = await storage.records.get(publicLinkRecord, articleId);
    const status = link === undefined ? undefined : syncStatusOf(link.value);
    // A failed synchronization begins again when somebody asks for it; then it reads this edit too.
    if (link === undefined || status === undefined || status === "failed") return forget(row, articleId, link?.revision ?? "absent");
    const untilMs = toWaitUntilMs(link.value, storage.now());
    if (untilMs !== undefined) return { kind: "retry", atMs: untilMs };
    const revision = await storage.log.tail(partitionOfId(articleId), documentLog(articleId));
    const due: DueWrite = { op: "acknowledge", id: row.id, fence: row.fence };
    try {
      await actors.send(kind, articleId, { type: "article.edited", revision }, { alongside: () => ({ due: [due] }) });
    } catch (reason) {
      // Somebody else has the row by now, or the link was taken down or switched: look at it again.
      if (reason instanceof CommitConflict && reason.conflict.kind === "due") return { kind: "settled" };
      if (reason instanceof AppError && reason.code === "invalid_transition") return { kind: "retry", atMs: storage.now() };
      throw reason;
    }
    return { kind: "settled" };
  };
}
