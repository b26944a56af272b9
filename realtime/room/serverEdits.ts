/**
 * ServerEdits runs the edits of the server on a room's document, and reverts the document when an edit is not stored.
 *
 * An edit changes the document before its update is appended. Nobody may read the document until then, which the queue of
 * the room ensures. To revert, the durable state is loaded from the log again. Updates that arrive until then wait, so no
 * socket is closed (RT115).
 */
import { AppError } from "../../api/schema/error.ts";
import type { LiveDocument } from "../document/liveDocument.ts";
import { upTo } from "../document/loadedDocument.ts";
import type { UpdateLog } from "../ports.ts";
import { type BegunEdit, type EditRequest, isAlone } from "./changes.ts";
import type { RoomMember } from "./member.ts";

export interface ServerEditsOptions {
  readonly articleId: string;
  readonly updateLog: UpdateLog;
  readonly document: LiveDocument<RoomMember>;
  readonly isEnded: () => boolean;
  /** Called with the log's newest revision, which `revert` has read. */
  readonly onRevision: (revision: number) => void;
  /** Ends the room, because its document cannot be reverted. */
  readonly end: () => void;
}

export class ServerEdits {
  private readonly options: ServerEditsOptions;

  constructor(options: ServerEditsOptions) {
    this.options = options;
  }

  /**
   * Runs an edit. Returns it when its update must be appended, undefined when nothing has to be stored, and a promise while
   * the document is being reverted.
   */
  begin(request: EditRequest): BegunEdit | Promise<void> | undefined {
    const { document } = this.options;
    const { completion } = request;
    const { revision } = document;
    const outcome = document.edit(request.clientId, request.once, request.change);
    switch (outcome.kind) {
      case "repeated":
        completion.resolve({ revision, changed: false, repeated: true });
        return undefined;
      case "unchanged":
        completion.resolve({ revision, changed: false, repeated: false, value: outcome.value });
        return undefined;
      case "failed":
        completion.reject(outcome.error);
        return outcome.isDirty ? this.revert() : undefined;
      case "refused":
        completion.reject(new AppError(outcome.refusal.code, outcome.refusal.detail));
        return this.revert();
      case "changed":
        // An edit that is appended alone is reverted if its condition fails.
        if (isAlone(request)) document.holdUpdates();
        return { ...request, update: outcome.update, value: outcome.value };
    }
  }

  /** Replaces the document by its durable state, because an edit that was not stored has put it ahead of the log. */
  async revert(): Promise<void> {
    const { articleId, updateLog, document, isEnded, onRevision, end } = this.options;
    document.holdUpdates();
    const loaded = await updateLog.load(articleId);
    if (isEnded()) return;
    const durable = upTo(loaded, document.revision);
    if (durable === undefined) {
      // Another node has stored a newer state, or the store lost batches.
      end();
      return;
    }
    document.revertTo(durable);
    // Batches that other nodes wrote since then are read and relayed by the usual catch-up.
    onRevision(loaded.revision);
  }
}
