/**
 * createPipeline connects the stages of a room's changes: gather (RoomQueue), append (BatchWriter), then apply and send
 * (BatchPublisher). Batches of other nodes enter at the last stage (LogFollower), and a server edit that is not stored is
 * reverted (ServerEdits).
 */
import type { Author } from "../../api/schema/article.ts";
import { notFound } from "../../api/schema/error.ts";
import type { LiveDocument } from "../document/liveDocument.ts";
import type { Clock, RoomMetrics, UpdateLog } from "../ports.ts";
import { BatchPublisher } from "./batchPublisher.ts";
import { BatchWriter } from "./batchWriter.ts";
import { type BegunEdit, type EditRequest, isAlone, RoomEnded, type Submission } from "./changes.ts";
import type { FanOut } from "./fanOut.ts";
import { LogFollower } from "./logFollower.ts";
import type { RoomMember } from "./member.ts";
import type { ResyncScheduler } from "./resyncScheduler.ts";
import { RoomQueue } from "./roomQueue.ts";
import { ServerEdits } from "./serverEdits.ts";
import type { SnapshotScheduler } from "./snapshotScheduler.ts";

export interface PipelineOptions {
  readonly articleId: string;
  readonly updateLog: UpdateLog;
  readonly clock: Clock;
  readonly metrics: RoomMetrics | undefined;
  readonly document: LiveDocument<RoomMember>;
  readonly fanOut: FanOut<RoomMember>;
  readonly resyncs: ResyncScheduler<RoomMember>;
  readonly snapshots: SnapshotScheduler;
  readonly isEnded: () => boolean;
  /** Called when a batch is durable, applied and sent. */
  readonly onAppended: (revision: number) => void;
  /** Called when changes of any node are applied, with the author of each as far as they are known. */
  readonly onApplied: (revision: number, changes: readonly { readonly author: Author }[]) => void;
  readonly onEmptied: () => void;
  /** Called when the log cannot be written or read, or after a bug. The room must end. */
  readonly onFailed: (error: unknown) => void;
  readonly end: (code: number, reason: string, error?: unknown) => void;
}

export interface Pipeline {
  readonly queue: RoomQueue<Submission, EditRequest, BegunEdit>;
  readonly follower: LogFollower;
}

export function createPipeline(options: PipelineOptions): Pipeline {
  const { articleId, updateLog, clock, metrics, document, fanOut, resyncs, snapshots, isEnded, onApplied, end } = options;
  const publisher = new BatchPublisher({ document, fanOut, resyncs, snapshots, onApplied });
  const follower = new LogFollower({
    articleId,
    updateLog,
    document,
    isEnded,
    onCaughtUp(applied, changes) {
      fanOut.sendBatch(applied);
      resyncs.noteCaughtUp();
      onApplied(document.revision, changes);
    },
  });
  const edits = new ServerEdits({
    articleId,
    updateLog,
    document,
    isEnded,
    onRevision: (revision) => follower.note(revision),
    end: () => end(1012, "the document was reloaded"),
  });
  const writer = new BatchWriter({
    articleId,
    updateLog,
    clock,
    metrics,
    document,
    isEnded,
    catchUp: (ownRevision) => follower.catchUp(ownRevision),
    onDurable: (batch, edit, revision) => publisher.publish(batch, edit, revision),
    onAppended: options.onAppended,
    revert: () => edits.revert(),
    retry: (edit) => (isEnded() ? edit.completion.reject(new RoomEnded()) : queue.edit(edit)),
    endDeleted: () => end(4409, "the article was deleted", notFound()),
  });
  const queue: Pipeline["queue"] = new RoomQueue({
    first: () => (follower.isBehind ? follower.catchUp() : undefined),
    begin: (request) => edits.begin(request),
    isAlone,
    write: (batch, begun) => writer.write(batch, begun),
    failed: options.onFailed,
    emptied: options.onEmptied,
  });
  return { queue, follower };
}
