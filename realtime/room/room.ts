/**
 * Room holds one open document: the queue of its changes, and the members that read and write it.
 *
 * Each update passes five stages in this order, and none of them calls back: a connection decodes it, `submit` admits it,
 * the queue gathers it, BatchWriter appends it, BatchPublisher applies it and sends it out (`pipeline.ts`). While one batch is being
 * appended, the next one is gathered. A batch is one revision. Therefore the document and its readers see durable updates
 * only. The one exception is a server edit: it changes the document first, and reads wait until it is durable.
 * When an append fails, the stored state is unknown: the room ends, and the next use loads the document from the log.
 *
 * The room must not know credentials, hosts or storage.
 */

import type { Logger } from "pino";
import type * as Y from "yjs";
import type { Author } from "../../api/schema/article.ts";
import type { ClockRange } from "../document/inspectUpdate.ts";
import { LiveDocument } from "../document/liveDocument.ts";
import { tailBytes } from "../document/openDocument.ts";
import type { ClientIdOwners, UpdateRequest, Verdict } from "../document/verdict.ts";
import type { Clock, LoadedDocument, RoomLimits, RoomMetrics, UpdateLog } from "../ports.ts";
import { Presence } from "../presence/presence.ts";
import type { NodePresence } from "../presence/remotePresence.ts";
import { isSameAuthor } from "../presence/user.ts";
import { type Completion, type EditRequest, RoomEnded } from "./changes.ts";
import { FanOut } from "./fanOut.ts";
import type { RoomMember } from "./member.ts";
import { createPipeline, type Pipeline } from "./pipeline.ts";
import { ResyncScheduler } from "./resyncScheduler.ts";
import { SnapshotScheduler } from "./snapshotScheduler.ts";

export interface RoomOptions {
  readonly articleId: string;
  readonly loaded: LoadedDocument;
  readonly updateLog: UpdateLog;
  readonly clock: Clock;
  readonly limits: RoomLimits;
  readonly metrics: RoomMetrics | undefined;
  readonly log: Logger | undefined;
  /** Called when a batch is durable, so that other nodes can read it. */
  readonly onAppended: (revision: number) => void;
  /** Called when the presence in this room changed, so that other nodes can show it. */
  readonly onPresence: (presence: NodePresence) => void;
  /** Called when the room may have become idle or busy: a member joined or left, or the queue or a snapshot finished. */
  readonly onActivity: () => void;
  /** Called once, when the room ends. The room must not be used afterwards. */
  readonly onEnded: () => void;
}

export class Room {
  readonly articleId: string;
  readonly presence: Presence<RoomMember>;
  private readonly options: RoomOptions;
  private readonly document: LiveDocument<RoomMember>;
  private readonly queue: Pipeline["queue"];
  private readonly follower: Pipeline["follower"];
  private readonly fanOut: FanOut<RoomMember>;
  private readonly resyncs: ResyncScheduler<RoomMember>;
  private readonly snapshots: SnapshotScheduler;
  private isEnded = false;
  /** Bytes of frames that wait in connections. They count against `room.queue`, as admitted updates do. */
  private heldBytes = 0;

  constructor(options: RoomOptions) {
    const { articleId, clock, limits, loaded, metrics, updateLog } = options;
    this.options = options;
    this.articleId = articleId;
    const fanOut = new FanOut<RoomMember>({ clock, metrics });
    this.fanOut = fanOut;
    this.presence = new Presence<RoomMember>({
      clock,
      limits,
      members: fanOut.members,
      deliver: (entries, to) => fanOut.sendPresence(entries, to),
      broadcast: options.onPresence,
    });
    const document = new LiveDocument<RoomMember>({ loaded, limits, clientIds: clientIdOwners(this.presence) });
    this.document = document;
    this.resyncs = new ResyncScheduler({
      clock,
      whenSettled: (run) => this.whenSettled(run),
      stateVector: () => document.stateVector(),
    });
    this.snapshots = new SnapshotScheduler(
      { batches: loaded.tail.length, bytes: tailBytes(loaded) },
      () => this.saveSnapshot(),
      () => options.onActivity(),
    );
    const { queue, follower } = createPipeline({
      articleId,
      updateLog,
      clock,
      metrics,
      document,
      fanOut,
      resyncs: this.resyncs,
      snapshots: this.snapshots,
      isEnded: () => this.isEnded,
      onAppended: options.onAppended,
      onEmptied: options.onActivity,
      onFailed: (error) => this.fail(error),
      end: (code, reason, error) => this.end(code, reason, error),
    });
    this.queue = queue;
    this.follower = follower;
  }

  get isOpen(): boolean {
    return !this.isEnded;
  }

  get members(): ReadonlySet<RoomMember> {
    return this.fanOut.members;
  }

  /** True when the room has no member, no queued work and no snapshot in progress. */
  get isIdle(): boolean {
    return this.members.size === 0 && this.queue.isSettled && !this.snapshots.isSaving;
  }

  /** True when the log has batches that the last snapshot does not contain. */
  get isUnsaved(): boolean {
    return this.snapshots.isBehind;
  }

  join(member: RoomMember): void {
    this.fanOut.add(member);
    this.presence.join(member);
    this.options.onActivity();
    this.resync(member);
    this.fanOut.keepAlive();
  }

  leave(member: RoomMember): void {
    this.fanOut.delete(member);
    if (this.members.size === 0) this.document.forgetAnswers();
    this.resyncs.forget(member);
    this.presence.leave(member);
    this.options.onActivity();
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
    if (this.queue.showsUnwritten) this.whenSettled(send);
    else send();
  }

  /**
   * Judges an update synchronously and queues it if it is admitted. An admitted update is durable when a later
   * `whenSettled` callback runs. "overflow": the queue is full, so the update was not judged.
   */
  submit(
    request: UpdateRequest<RoomMember>,
    author: Author,
    completion?: Completion<number>,
  ): Verdict<RoomMember> | { readonly kind: "overflow" } {
    if (this.waitingBytes + request.update.bytes.length > this.options.limits["room.queue"]) return { kind: "overflow" };
    const verdict = this.document.judge(request);
    const { sender } = request;
    if (verdict.kind === "admitted" || verdict.kind === "known") {
      for (const owner of verdict.owners) this.resyncs.requestResync(owner, sender);
      if (verdict.awaitsOtherNodes && sender !== undefined) this.resyncs.awaitOtherNodes(sender);
    }
    if (verdict.kind === "admitted") {
      const { update, mayBePending } = verdict;
      // A client that sends no presence is identified by the client id under which it writes.
      const [section] = update.sections;
      if (!request.isSyncStep2 && sender !== undefined && update.sections.length === 1 && section !== undefined) {
        this.presence.claim(sender, section.clientId);
      }
      this.queue.push({ author, sender, update: update.bytes, mayBePending, completion });
    }
    return verdict;
  }

  /** Records clocks of an update that was refused before `submit`, so that updates that build on them are refused too. */
  refuse(clocks: readonly ClockRange[], sender: RoomMember | undefined): void {
    this.document.refuse(clocks, sender);
  }

  countRefusal(code: string): void {
    this.options.metrics?.updateRefused(code);
  }

  /** Adds bytes that wait in a connection to the room's total. Returns false when the total exceeds `room.queue`. */
  hold(bytes: number): boolean {
    this.heldBytes += bytes;
    return this.waitingBytes <= this.options.limits["room.queue"];
  }

  release(bytes: number): void {
    this.heldBytes -= bytes;
  }

  edit(request: EditRequest): void {
    if (this.isEnded) request.completion.reject(new RoomEnded());
    else this.queue.edit(request);
  }

  /**
   * Calls `run` when everything received before this call is durable and the document shows only durable content. If
   * this is already true, `run` is called synchronously. If the room ends first, `abandon` is called instead.
   */
  whenSettled(run: (revision: number) => void, abandon?: () => void): void {
    this.queue.read(() => run(this.document.revision), abandon);
  }

  /** Passes the document and its revision to `read`. Call it only inside `whenSettled`. */
  read<T>(read: (document: Y.Doc, revision: number) => T): T {
    return this.document.read(read);
  }

  /** Encodes what a client with this state vector lacks (sync step 2). Call it only inside `whenSettled`. */
  encodeAnswer(stateVector: Uint8Array): Uint8Array {
    return this.document.encodeAnswer(stateVector);
  }

  /** Reads the log's newest revision. Work queued after this resolves sees everything that other nodes appended up to it. */
  async refresh(): Promise<void> {
    await this.follower.refresh();
    this.scheduleCatchUp();
  }

  /** Notes that the log has grown to `revision`, and schedules reading the batches of other nodes. */
  noteRevision(revision: number): void {
    this.follower.note(revision);
    this.scheduleCatchUp();
  }

  /** Saves a snapshot, so that the next load does not replay the log. */
  save(): Promise<void> {
    return this.snapshots.save();
  }

  /** Closes every connection and rejects all queued work that has not begun with `error`. */
  end(code: number, reason: string, error: unknown = new RoomEnded()): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.options.onEnded();
    for (const member of [...this.members]) member.close(code, reason);
    this.fanOut.stop();
    this.presence.stop();
    this.resyncs.stop();
    const reject = ({ completion }: { readonly completion: Completion<never> | undefined }) => completion?.reject(error);
    this.queue.end(reject, reject);
    this.document.destroy();
  }

  private get waitingBytes(): number {
    return this.document.queuedBytes + this.heldBytes;
  }

  private scheduleCatchUp(): void {
    if (this.follower.isBehind) this.queue.schedule();
  }

  private async saveSnapshot(): Promise<void> {
    const { articleId, log, updateLog } = this.options;
    try {
      await new Promise<void>((resolve, reject) => {
        this.whenSettled((revision) => {
          const snapshot = this.document.encodeSnapshot();
          if (snapshot === undefined) resolve();
          else updateLog.saveState(articleId, revision, snapshot).then(resolve, reject);
        }, resolve);
      });
    } catch (error) {
      // No data is lost: the log still has every update, and the next due snapshot tries again.
      log?.warn({ err: error, articleId }, "the snapshot of a document could not be saved");
    }
  }

  private fail(error: unknown): void {
    this.options.log?.error({ err: error, articleId: this.articleId }, "a room is closed: its log cannot be written or read");
    this.end(1013, "changes cannot be stored now");
  }
}

function clientIdOwners(presence: Presence<RoomMember>): ClientIdOwners<RoomMember> {
  return {
    ownerOf(clientId) {
      const owner = presence.ownerOf(clientId);
      return owner?.isWriter ? owner : undefined;
    },
    mayWriteFor: (sender, owner) => isSameAuthor(sender.identity.author, owner.identity.author),
    isOnOtherNode: (clientId, sender) => presence.isOnOtherNode(clientId, sender?.identity.author),
  };
}
