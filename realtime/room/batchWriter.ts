/**
 * BatchWriter appends the batches of a room to the log, one at a time, and passes each durable batch on.
 *
 * If another node wrote in between, its batches are applied first. Otherwise this room's revision would include batches
 * that its document lacks. If the append fails, the stored state is unknown: `write` rejects, and the room must end.
 * A durable batch is never refused, even if the room cannot show it any more: its caller would store it twice (RT104).
 */
import { notFound } from "../../api/schema/error.ts";
import { groupBySender } from "../document/applyBatch.ts";
import type { LiveDocument } from "../document/liveDocument.ts";
import type { Clock, RoomMetrics, UpdateLog } from "../ports.ts";
import { type BegunEdit, isAlone, type Submission, WriteFenced } from "./changes.ts";
import type { RoomMember } from "./member.ts";

export interface BatchWriterOptions {
  readonly articleId: string;
  readonly updateLog: UpdateLog;
  readonly clock: Clock;
  readonly metrics: RoomMetrics | undefined;
  readonly document: LiveDocument<RoomMember>;
  readonly isEnded: () => boolean;
  /** Applies what other nodes appended before this room's own batch of `ownRevision`. */
  readonly catchUp: (ownRevision: number) => Promise<void>;
  /** Receives each batch when it is durable. `revision` is that of the document with the batch. */
  readonly onDurable: (batch: readonly Submission[], edit: BegunEdit | undefined, revision: number) => void;
  /** Called with the revision of the batch in the log, after `onDurable`, also if the room has ended. */
  readonly onAppended: (revision: number) => void;
  /** Reverts the document, because an edit that it shows was not stored. */
  readonly revert: () => Promise<void>;
  /** Runs an edit again whose revision was overtaken. */
  readonly retry: (edit: BegunEdit) => void;
  /** Ends the room, because the article was deleted. */
  readonly endDeleted: () => void;
}

export class BatchWriter {
  private readonly options: BatchWriterOptions;

  constructor(options: BatchWriterOptions) {
    this.options = options;
  }

  async write(gathered: readonly Submission[], edit: BegunEdit | undefined): Promise<void> {
    const { articleId, clock, document, metrics, updateLog } = this.options;
    if (edit === undefined || !isAlone(edit)) document.batchStarted();
    // The log must have the order in which the batch is applied here; otherwise a reloaded document could differ.
    const batch = groupBySender(gathered);
    const updates = batch.map(({ author, update }) => ({ author, update }));
    if (edit !== undefined) updates.unshift({ author: edit.author, update: edit.update });
    const startedMs = clock.now();
    const rejectAll = (error: unknown) => {
      for (const { completion } of batch) completion?.reject(error);
      edit?.completion.reject(error);
    };
    const confirmAll = (revision: number) => {
      for (const { completion } of batch) completion?.resolve(revision);
      edit?.completion.resolve({ revision, changed: true, repeated: false, value: edit.value });
    };
    let durableRevision: number | undefined;
    try {
      const after = edit?.isExact ? document.revision : undefined;
      const result = await updateLog.append(articleId, updates, edit?.guard, after, edit?.joined);
      if (result.kind === "behind" && edit !== undefined) {
        await this.options.revert();
        this.options.retry(edit);
        return;
      }
      if (result.kind === "fenced") {
        rejectAll(new WriteFenced("another process holds the lease of this work, or the work was dropped"));
        await this.options.revert();
        return;
      }
      if (result.kind === "refused") {
        rejectAll(result.error);
        await this.options.revert();
        return;
      }
      if (result.kind !== "appended") {
        rejectAll(notFound());
        this.options.endDeleted();
        return;
      }
      durableRevision = result.revision;
      if (durableRevision > document.revision + 1) await this.options.catchUp(durableRevision);
      if (this.options.isEnded()) confirmAll(durableRevision);
      else {
        metrics?.batchAppended(updates.length, clock.now() - startedMs);
        this.options.onDurable(batch, edit, Math.max(durableRevision, document.revision));
      }
      this.options.onAppended(durableRevision);
    } catch (error) {
      if (durableRevision === undefined) rejectAll(error);
      else confirmAll(durableRevision);
      throw error;
    }
  }
}
