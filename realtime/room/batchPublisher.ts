/**
 * BatchPublisher applies a durable batch to the document, sends it to the members and acknowledges it to its writers.
 *
 * It is the last stage of an update: nothing before it may show the update to anybody (RT2).
 */
import type { Author } from "../../api/schema/article.ts";
import type { LiveDocument } from "../document/liveDocument.ts";
import { type BegunEdit, isAlone, type Submission } from "./changes.ts";
import type { FanOut } from "./fanOut.ts";
import type { RoomMember } from "./member.ts";
import type { ResyncScheduler } from "./resyncScheduler.ts";
import type { SnapshotScheduler } from "./snapshotScheduler.ts";

export interface BatchPublisherOptions {
  readonly document: LiveDocument<RoomMember>;
  readonly fanOut: FanOut<RoomMember>;
  readonly resyncs: ResyncScheduler<RoomMember>;
  readonly snapshots: SnapshotScheduler;
  /** Called with the author of each applied change. */
  readonly onApplied: (revision: number, changes: readonly { readonly author: Author }[]) => void;
}

export class BatchPublisher {
  private readonly options: BatchPublisherOptions;

  constructor(options: BatchPublisherOptions) {
    this.options = options;
  }

  publish(batch: readonly Submission[], edit: BegunEdit | undefined, revision: number): void {
    const { document, fanOut, resyncs, snapshots, onApplied } = this.options;
    const applied =
      edit !== undefined && isAlone(edit)
        ? document.applyEdit(edit.update, revision)
        : document.applyStarted(batch, edit?.update, revision);
    fanOut.sendBatch(applied);
    edit?.completion.resolve({ revision, changed: true, repeated: false, value: edit.value });
    let bytes = edit?.update.length ?? 0;
    let sender: RoomMember | undefined;
    let mayBePending = false;
    // The updates of one sender follow each other.
    for (const each of batch) {
      each.completion?.resolve(revision);
      if (each.sender !== sender) {
        this.acknowledge(sender, revision, mayBePending);
        sender = each.sender;
        mayBePending = false;
      }
      mayBePending ||= each.mayBePending;
      bytes += each.update.length;
    }
    this.acknowledge(sender, revision, mayBePending);
    resyncs.run();
    onApplied(revision, edit === undefined ? batch : [...batch, edit]);
    snapshots.grow(batch.length + (edit === undefined ? 0 : 1), bytes, document.encodedBytes);
  }

  /** `mayBePending`: an update of the sender in this batch may build on missing content. */
  private acknowledge(sender: RoomMember | undefined, revision: number, mayBePending: boolean): void {
    if (sender === undefined) return;
    sender.acknowledge(revision);
    this.options.resyncs.noteWrite(sender, mayBePending);
  }
}
