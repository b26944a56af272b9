/**
 * AwakeRoom is the part of a room that exists while its document is in use: the document, the queue of its changes, and the
 * questions that the server still has to send.
 *
 * Each update passes these stages in order, and none of them calls back: a connection decodes it, `submit` admits it, the
 * queue gathers it, BatchWriter appends it, BatchPublisher applies it and sends it out (`pipeline.ts`). While one batch is
 * being appended, the next one is gathered. A batch is one revision. Therefore the document and its readers see durable
 * updates only. The one exception is a server edit: it changes the document first, and reads wait until it is durable.
 * A room that is quiet drops this part, because everything in it can be loaded from the log again.
 */
import type { Logger } from "pino";
import type { Author } from "../../api/schema/article.ts";
import { LiveDocument, type ServerClientId } from "../document/liveDocument.ts";
import { unsavedOf } from "../document/loadedDocument.ts";
import type { PlainUpdate } from "../document/plainUpdate.ts";
import type { ClientIdOwners, UpdateRequest, Verdict } from "../document/verdict.ts";
import type { Clock, LoadedDocument, RoomLimits, RoomMetrics, UpdateLog } from "../ports.ts";
import type { Completion } from "./changes.ts";
import type { FanOut } from "./fanOut.ts";
import type { RoomMember } from "./member.ts";
import { createPipeline, type Pipeline } from "./pipeline.ts";
import { ResyncScheduler } from "./resyncScheduler.ts";
import { SnapshotScheduler } from "./snapshotScheduler.ts";

export interface AwakeRoomOptions {
  readonly articleId: string;
  readonly loaded: LoadedDocument;
  /** The id under which this node wrote in the document before. */
  readonly serverClientId: ServerClientId | undefined;
  readonly updateLog: UpdateLog;
  readonly clock: Clock;
  readonly limits: RoomLimits;
  readonly metrics: RoomMetrics | undefined;
  readonly log: Logger | undefined;
  readonly clientIds: ClientIdOwners<RoomMember>;
  readonly fanOut: FanOut<RoomMember>;
  readonly isEnded: () => boolean;
  readonly onAppended: (revision: number) => void;
  /** Called when changes of any node are applied, with the author of each as far as they are known. */
  readonly onApplied: (revision: number, changes: readonly { readonly author: Author }[]) => void;
  /** Called when the queue or a snapshot finished. */
  readonly onActivity: () => void;
  /** Called when the log cannot be written or read, or after a bug. The room must end. */
  readonly onFailed: (error: unknown) => void;
  readonly end: (code: number, reason: string, error?: unknown) => void;
}

/** State vector of a reader that has nothing. */
const emptyVector = Uint8Array.of(0);

/** After this time without use a changed document is saved. */
const saveAfterQuietSeconds = 2;
/** A quiet document is dropped after this time, and a large one later, because loading it again costs more. */
const minAwakeSeconds = 5;
const awakeBytesPerSecond = 8192;

export class AwakeRoom {
  readonly document: LiveDocument<RoomMember>;
  readonly queue: Pipeline["queue"];
  private readonly follower: Pipeline["follower"];
  private readonly resyncs: ResyncScheduler<RoomMember>;
  private readonly options: Omit<AwakeRoomOptions, "loaded" | "serverClientId">;
  private readonly snapshots: SnapshotScheduler;
  private isUsed = true;
  private quietSeconds = 0;

  constructor(options: AwakeRoomOptions) {
    // The loaded bytes must not outlive the document that was made from them.
    const { loaded, serverClientId, ...kept } = options;
    this.options = kept;
    const { articleId, updateLog, clock, limits, metrics, clientIds, fanOut, isEnded, onAppended, onApplied, onActivity } = kept;
    const document = new LiveDocument<RoomMember>({ loaded, limits, clientIds, serverClientId });
    this.document = document;
    this.resyncs = new ResyncScheduler({
      clock,
      whenSettled: (run) => this.queue.read(run),
      stateVector: () => document.stateVector(),
    });
    this.snapshots = new SnapshotScheduler(unsavedOf(loaded), () => this.saveSnapshot(), onActivity);
    const { queue, follower } = createPipeline({
      articleId,
      updateLog,
      clock,
      metrics,
      document,
      fanOut,
      resyncs: this.resyncs,
      snapshots: this.snapshots,
      isEnded,
      onAppended,
      onApplied,
      onEmptied: onActivity,
      onFailed: options.onFailed,
      end: options.end,
    });
    this.queue = queue;
    this.follower = follower;
  }

  /** True when no work is queued and no snapshot is being saved. */
  get isSettled(): boolean {
    return this.queue.isSettled && !this.snapshots.isSaving;
  }

  /** Notes that the document is in use, so that it is not dropped. */
  use(): void {
    this.isUsed = true;
  }

  /** Judges an update and queues it if it is admitted. */
  submit(request: UpdateRequest<RoomMember>, author: Author, completion: Completion<number> | undefined): Verdict<RoomMember> {
    this.isUsed = true;
    const verdict = this.document.judge(request);
    const { sender } = request;
    if (verdict.kind === "admitted" || verdict.kind === "known") {
      for (const owner of verdict.owners) this.resyncs.requestResync(owner, sender);
      if (verdict.awaitsOtherNodes && sender !== undefined) this.resyncs.awaitOtherNodes(sender);
    }
    if (verdict.kind === "admitted") {
      const { update, mayBePending } = verdict;
      this.queue.push({ author, sender, update: update.bytes, mayBePending, completion });
    }
    return verdict;
  }

  /** Queues an ordinary keystroke. False: it must be inspected and submitted. */
  submitPlain(plain: PlainUpdate, sender: RoomMember): boolean {
    if (!this.document.admitPlain(plain, sender)) return false;
    this.isUsed = true;
    const { author } = sender.identity;
    this.queue.push({ author, sender, update: plain.bytes, mayBePending: false, completion: undefined });
    return true;
  }

  /**
   * Sends sync step 1 to a writer, whatever the size of the state vector: this is the only way to get its offline work.
   * The room does not wait for a batch in progress, because updates that the writer sends before its answer may build on
   * the missing offline work. It waits only while the document shows a server edit that is not durable.
   */
  resync(member: RoomMember): void {
    const send = () => {
      if (member.mayResync) member.sendSyncStep1(this.document.stateVector());
    };
    if (this.queue.showsUnwritten) this.queue.read(send);
    else send();
  }

  /** Sends the whole document to all members. Call it only when the document shows durable content only. */
  sendWhole(): void {
    const { state, update } = this.document.encodeAnswer(emptyVector);
    for (const part of [state, update]) this.options.fanOut.sendBatch({ toOthers: part, toSenders: new Map() });
  }

  /** Must be called when a member has left. */
  forget(member: RoomMember, isLast: boolean): void {
    this.resyncs.forget(member);
    if (isLast) this.document.forgetAnswers();
  }

  /** Notes that the log has grown to `revision`, and schedules reading the batches of other nodes. */
  noteRevision(revision: number): void {
    this.follower.note(revision);
    if (!this.follower.isBehind) return;
    this.isUsed = true;
    this.queue.schedule();
  }

  /** Saves a snapshot if a load would have to replay many updates. */
  async saveIfWorth(): Promise<void> {
    if (this.snapshots.isWorthSaving) await this.snapshots.save();
  }

  /** Must be called once a second. Returns true when the document has been quiet so long that it may be dropped. */
  tick(): boolean {
    this.quietSeconds = this.isUsed || !this.queue.isSettled ? 0 : this.quietSeconds + 1;
    this.isUsed = false;
    if (this.quietSeconds >= saveAfterQuietSeconds && !this.snapshots.isSaving) void this.saveIfWorth();
    const awakeSeconds = minAwakeSeconds + this.document.encodedBytes / awakeBytesPerSecond;
    return this.quietSeconds >= awakeSeconds && this.isSettled && this.resyncs.isIdle && !this.document.hasRefusedClocks;
  }

  stop(): void {
    this.resyncs.stop();
    this.document.destroy();
  }

  private async saveSnapshot(): Promise<void> {
    const { articleId, log, updateLog } = this.options;
    try {
      await new Promise<void>((resolve, reject) => {
        const save = () => {
          const snapshot = this.document.encodeSnapshot();
          if (snapshot === undefined) resolve();
          else updateLog.saveState(articleId, this.document.revision, snapshot.state, snapshot.stateVector).then(resolve, reject);
        };
        this.queue.read(save, resolve);
      });
    } catch (error) {
      // No data is lost: the log still has every update, and the next due snapshot tries again.
      log?.warn({ err: error, articleId }, "the snapshot of a document could not be saved");
    }
  }
}
