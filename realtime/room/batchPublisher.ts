/**
 * BatchPublisher applies a durable batch to the document, sends it to the members and acknowledges it to its writers.
 *
 * It is the last stage of an update: nothing before it may show the update to anybody (RT2).
 */
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
}

export class BatchPublisher {
  private readonly options: BatchPublisherOptions;

  constructor(options: BatchPublisherOptions) {
    this.options = options;
  }

  publish(batch: readonly Submission[], edit: BegunEdit | undefined, revision: number): void {
    const { document, fanOut, resyncs, snapshots } = this.options;
    const applied =
      edit !== undefined && isAlone(edit)
        ? document.applyEdit(edit.update, revision)
        : document.applyStarted(batch, edit?.update, revision);
    fanOut.sendBatch(applied);
    edit?.completion.resolve({ revision, changed: true, repeated: false, value: edit.value });
    /** Each sender, and whether one of its updates may build on missing content. */
    const senders = new Map<RoomMember, boolean>();
    let bytes = edit?.update.length ?? 0;
    for (const { sender, completion, update, mayBePending } of batch) {
      completion?.resolve(revision);
      if (sender !== undefined) senders.set(sender, mayBePending || senders.get(sender) === true);
      bytes += update.length;
    }
    for (const [sender, mayBePending] of senders) {
      sender.acknowledge(revision);
      resyncs.noteWrite(sender, mayBePending);
    }
    resyncs.run();
    snapshots.grow(batch.length + (edit === undefined ? 0 : 1), bytes, document.encodedBytes);
  }
}
