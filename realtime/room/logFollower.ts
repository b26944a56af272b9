/**
 * LogFollower reads the batches that other nodes appended to a document's log, and applies them.
 *
 * Another node announces a new revision over the bus, which may lose the announcement. Rooms therefore also read the log's
 * newest revision themselves. The batches are read by position, so an announcement never carries content.
 */
import type { Author } from "../../api/schema/article.ts";
import type { AppliedBatch } from "../document/applyBatch.ts";
import type { LiveDocument } from "../document/liveDocument.ts";
import { updatesOf } from "../document/loadedDocument.ts";
import type { UpdateLog } from "../ports.ts";
import type { RoomMember } from "./member.ts";

export interface LogFollowerOptions {
  readonly articleId: string;
  readonly updateLog: UpdateLog;
  readonly document: LiveDocument<RoomMember>;
  readonly isEnded: () => boolean;
  /** Called when batches of other nodes are applied, with the author of each change as far as they are known. */
  readonly onCaughtUp: (applied: AppliedBatch<RoomMember>, changes: readonly { readonly author: Author }[]) => void;
}

export class LogFollower {
  private readonly options: LogFollowerOptions;
  /** Newest revision of the log that another node announced or the room read. */
  private newestRevision = 0;

  constructor(options: LogFollowerOptions) {
    this.options = options;
  }

  /** True when the log is known to have batches that the document lacks. */
  get isBehind(): boolean {
    return this.newestRevision > this.options.document.revision;
  }

  /** Notes that the log has grown to `revision`. */
  note(revision: number): void {
    this.newestRevision = Math.max(this.newestRevision, revision);
  }

  /** Reads and applies the missing batches. `ownRevision` is that of this room's own batch, which is skipped. */
  async catchUp(ownRevision?: number): Promise<void> {
    const { document, isEnded, onCaughtUp } = this.options;
    const { updates, changes, revision } = await this.readMissing(document.revision, ownRevision);
    if (isEnded()) return;
    const applied = document.applyRemote(updates, revision);
    // A revision that was announced but could not be read is dropped here; the next announcement or poll reports it again.
    this.newestRevision = Math.min(this.newestRevision, document.revision);
    onCaughtUp(applied, changes);
  }

  /** The updates of the missing batches. If the log no longer has all of them, the snapshot is read instead. */
  private async readMissing(from: number, ownRevision: number | undefined) {
    const { articleId, updateLog } = this.options;
    const read = await updateLog.readAfter(articleId, from);
    if (!read.gap) {
      const batches = read.batches.filter((batch) => batch.revision !== ownRevision);
      const changes = batches.flatMap((batch) => batch.updates);
      return { updates: updatesOf({ tail: batches }), changes, revision: read.batches.at(-1)?.revision ?? from };
    }
    const loaded = await updateLog.load(articleId);
    const { state, revision } = loaded;
    return { updates: state === undefined ? updatesOf(loaded) : [state, ...updatesOf(loaded)], changes: [], revision };
  }
}
