/**
 * Room is one open document: its members, their presence, and, while the document is in use, an AwakeRoom with its content.
 *
 * A room that is quiet sleeps: it keeps its members and its revision only. The next use loads the document from the log
 * again. Frames and requests that arrive meanwhile wait until it is loaded. When an append fails, the stored state is unknown: the room ends, and the next
 * use loads the document in a new room.
 *
 * The room must not know credentials, hosts or storage.
 */
import type { Logger } from "pino";
import type * as Y from "yjs";
import type { Author } from "../../api/schema/article.ts";
import type { ClockRange } from "../document/inspectUpdate.ts";
import type { SyncAnswer } from "../document/keptDocument.ts";
import { upTo } from "../document/loadedDocument.ts";
import type { PlainUpdate } from "../document/plainUpdate.ts";
import type { ClientIdOwners, UpdateRequest, Verdict } from "../document/verdict.ts";
import type { Clock, FrameBroadcast, LoadedDocument, RoomLimits, RoomMetrics, UpdateLog } from "../ports.ts";
import { type OutgoingEntry, Presence } from "../presence/presence.ts";
import type { NodePresence } from "../presence/remotePresence.ts";
import { isSameAuthor } from "../presence/user.ts";
import { writeAwareness } from "../protocol.ts";
import { AwakeRoom } from "./awakeRoom.ts";
import { type Completion, type EditRequest, RoomEnded } from "./changes.ts";
import { FanOut } from "./fanOut.ts";
import type { RoomMember } from "./member.ts";
import type { ServerClientIds } from "./serverClientIds.ts";

/** What all rooms of a node share. The functions get the room to which something happened. */
export interface RoomSetting {
  readonly updateLog: UpdateLog;
  readonly broadcast: FrameBroadcast;
  readonly serverClientIds: ServerClientIds;
  readonly clock: Clock;
  readonly limits: RoomLimits;
  readonly metrics: RoomMetrics | undefined;
  readonly log: Logger | undefined;
  /** Called when a batch is durable, so that other nodes can read it. */
  readonly onAppended: (room: Room, revision: number) => void;
  /** Called when changes of any node are applied to a room's document, with the author of each as far as they are known. */
  readonly onApplied: (room: Room, revision: number, changes: readonly { readonly author: Author }[]) => void;
  /** Called when members joined or left a room on any node. */
  readonly onMembers: (room: Room) => void;
  /** True while the document is watched: then its room stays open. */
  readonly isWatched: (room: Room) => boolean;
  /** Called when the presence in a room changed, so that other nodes can show it. */
  readonly onPresence: (room: Room, presence: NodePresence) => void;
  /** Called when a room may have become idle or busy: a member joined or left, or the queue or a snapshot finished. */
  readonly onActivity: (room: Room) => void;
  /** Called once, when a room ends. It must not be used afterwards. */
  readonly onEnded: (room: Room) => void;
}

/** Work that waits until the room is awake. */
interface Waiting {
  readonly run: (awake: AwakeRoom) => void;
  readonly abandon: (() => void) | undefined;
}

export class Room {
  readonly articleId: string;
  readonly presence: Presence<RoomMember>;
  private readonly setting: RoomSetting;
  private readonly fanOut: FanOut<RoomMember>;
  /** Undefined while the room sleeps. */
  private awake: AwakeRoom | undefined;
  /** Undefined unless the room is waking up. */
  private waiting: Waiting[] | undefined;
  /** Revision up to which the members have the document, while the room sleeps. */
  private sleepingRevision = 0;
  private isEnded = false;
  /** Bytes of frames that wait in connections. They count against `room.queue`, as admitted updates do. */
  private heldBytes = 0;

  constructor(articleId: string, setting: RoomSetting, loaded: LoadedDocument) {
    this.articleId = articleId;
    this.setting = setting;
    this.fanOut = new FanOut<RoomMember>(articleId, setting);
    this.presence = new Presence<RoomMember>(this, setting);
    this.awake = this.createAwake(loaded);
  }

  /** Sends presence entries to some of the members. */
  sendPresence(entries: readonly OutgoingEntry[], to: readonly RoomMember[]): void {
    this.fanOut.sendPresence(entries, to);
  }

  /** Sends presence that the member asked for. */
  answerPresence(entries: readonly OutgoingEntry[], to: RoomMember): void {
    to.deliverAnswer(writeAwareness(entries));
  }

  /** Sends presence to the other nodes. */
  broadcastPresence(presence: NodePresence): void {
    this.setting.onPresence(this, presence);
  }

  /** Notes that members joined or left on any node. */
  membersChanged(): void {
    this.setting.onMembers(this);
  }

  get isOpen(): boolean {
    return !this.isEnded;
  }

  get isAwake(): boolean {
    return this.awake !== undefined || this.waiting !== undefined;
  }

  get members(): ReadonlySet<RoomMember> {
    return this.fanOut.members;
  }

  /** True when the room has no member, is not watched, and has no queued work and no snapshot in progress. */
  get isIdle(): boolean {
    return this.members.size === 0 && !this.setting.isWatched(this) && this.waiting === undefined && this.awake?.isSettled !== false;
  }

  join(member: RoomMember): void {
    this.fanOut.add(member);
    this.presence.join();
    this.setting.onActivity(this);
    this.resync(member);
    this.fanOut.keepAlive();
  }

  leave(member: RoomMember): void {
    this.fanOut.delete(member);
    this.awake?.forget(member, this.members.size === 0);
    this.presence.leave(member);
    this.setting.onActivity(this);
  }

  /** Sends sync step 1 to a writer. */
  resync(member: RoomMember): void {
    this.whenAwake({ run: (awake) => awake.resync(member), abandon: undefined });
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
    if (this.waitingBytes + request.update.bytes.length > this.setting.limits["room.queue"]) return { kind: "overflow" };
    if (this.awake === undefined) {
      this.wake();
      return { kind: "wait" };
    }
    const verdict = this.awake.submit(request, author, completion);
    // A client that sends no presence is identified by the client id under which it writes.
    if (verdict.kind === "admitted" && request.sender !== undefined && !request.isSyncStep2 && verdict.update.sections.length === 1) {
      for (const { clientId } of verdict.update.sections) this.presence.claim(request.sender, clientId);
    }
    return verdict;
  }

  /**
   * Queues an ordinary keystroke of a writer, as `submit` would. Returns false, and changes nothing, when the update has to
   * be inspected and judged.
   */
  submitPlain(plain: PlainUpdate, sender: RoomMember): boolean {
    if (this.awake === undefined || this.waitingBytes + plain.bytes.length > this.setting.limits["room.queue"]) return false;
    return this.awake.submitPlain(plain, sender);
  }

  /** Records clocks of an update that was refused before `submit`, so that updates that build on them are refused too. */
  refuse(clocks: readonly ClockRange[], sender: RoomMember | undefined): void {
    this.whenAwake({ run: ({ document }) => document.refuse(clocks, sender), abandon: undefined });
  }

  countRefusal(code: string): void {
    this.setting.metrics?.updateRefused(code);
  }

  /** Adds bytes that wait in a connection to the room's total. Returns false when the total exceeds `room.queue`. */
  hold(bytes: number): boolean {
    this.heldBytes += bytes;
    return this.waitingBytes <= this.setting.limits["room.queue"];
  }

  release(bytes: number): void {
    this.heldBytes -= bytes;
  }

  edit(request: EditRequest): void {
    const reject = () => request.completion.reject(new RoomEnded());
    this.whenAwake({ run: ({ queue }) => queue.edit(request), abandon: reject });
  }

  /**
   * Calls `run` when everything received before this call is durable and the document shows only durable content. If
   * this is already true, `run` is called synchronously. If the room ends first, `abandon` is called instead.
   */
  whenSettled(run: (revision: number) => void, abandon?: () => void): void {
    this.whenAwake({ run: ({ queue, document }) => queue.read(() => run(document.revision), abandon), abandon });
  }

  /** Calls `run` when everything received before this call is durable, without waking a room that sleeps. */
  whenDurable(run: () => void): void {
    if (this.isAwake) this.whenSettled(run, run);
    else run();
  }

  /** Passes the document and its revision to `read`. Call it only inside `whenSettled`. */
  read<T>(read: (document: Y.Doc, revision: number) => T): T {
    return this.document.read(read);
  }

  /** Encodes what a client with this state vector lacks. Call it only inside `whenSettled`. */
  encodeAnswer(stateVector: Uint8Array): SyncAnswer {
    return this.document.encodeAnswer(stateVector);
  }

  /** Reads the log's newest revision. Work queued after this resolves sees everything that other nodes appended up to it. */
  async refresh(): Promise<void> {
    const { updateLog } = this.setting;
    if (updateLog.isShared) this.noteRevision(await updateLog.tail(this.articleId));
  }

  /** Notes that the log has grown to `revision`, and schedules reading the batches of other nodes. */
  noteRevision(revision: number): void {
    if (this.awake !== undefined) {
      this.awake.noteRevision(revision);
    } else if (revision > this.sleepingRevision) {
      this.whenAwake({ run: (awake) => awake.noteRevision(revision), abandon: undefined });
    }
  }

  /** Saves a snapshot if a load would have to replay many updates. */
  async save(): Promise<void> {
    await this.awake?.saveIfWorth();
  }

  /** Must be called once a second while the room is awake: a room that is quiet goes to sleep. */
  tick(): void {
    if (this.awake?.tick() !== true || this.heldBytes > 0) return;
    this.sleepingRevision = this.awake.document.revision;
    this.rememberClientId(this.awake);
    this.awake.stop();
    this.awake = undefined;
  }

  /** Closes every connection and rejects all queued work that has not begun with `error`. */
  end(code: number, reason: string, error: unknown = new RoomEnded()): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.setting.onEnded(this);
    for (const member of [...this.members]) member.close(code, reason);
    this.fanOut.stop();
    this.presence.stop();
    const { awake, waiting } = this;
    if (awake !== undefined) this.rememberClientId(awake);
    const reject = ({ completion }: { readonly completion: Completion<never> | undefined }) => completion?.reject(error);
    awake?.queue.end(reject, reject);
    awake?.stop();
    this.waiting = undefined;
    for (const { abandon } of waiting ?? []) abandon?.();
  }

  /** Lets the next load continue the server's client id, unless an append with this id has an unknown outcome. */
  private rememberClientId({ queue, document }: AwakeRoom): void {
    const { serverClientId } = document;
    if (queue.isSettled && serverClientId !== undefined) this.setting.serverClientIds.put(this.articleId, serverClientId);
  }

  private get document(): AwakeRoom["document"] {
    if (this.awake === undefined) throw new Error("the document of a room that sleeps was used");
    return this.awake.document;
  }

  private get waitingBytes(): number {
    return (this.awake?.document.queuedBytes ?? 0) + this.heldBytes;
  }

  /** Runs work with the document: at once, or when the room is awake. The order of all work is kept. */
  private whenAwake(work: Waiting): void {
    if (this.isEnded) work.abandon?.();
    else if (this.awake !== undefined) {
      this.awake.use();
      work.run(this.awake);
    } else {
      this.wake();
      this.waiting?.push(work);
    }
  }

  private wake(): void {
    if (this.waiting !== undefined || this.isEnded) return;
    this.waiting = [];
    this.setting.onActivity(this);
    this.load().catch((error: unknown) => this.fail(error));
  }

  private async load(): Promise<void> {
    const loaded = await this.setting.updateLog.load(this.articleId);
    if (this.isEnded) return;
    if (loaded.revision < this.sleepingRevision) {
      this.end(1012, "the document was reloaded");
      return;
    }
    // The members have the document up to the sleeping revision. What other nodes wrote since then reaches them by catching
    // up, or, if it is part of the loaded state, as a whole document.
    const known = upTo(loaded, this.sleepingRevision);
    const awake = this.createAwake(known ?? loaded);
    if (known === undefined) {
      awake.sendWhole();
      this.setting.onApplied(this, loaded.revision, []);
    }
    this.awake = awake;
    const waiting = this.waiting ?? [];
    this.waiting = undefined;
    this.noteRevision(loaded.revision);
    for (const { run } of waiting) run(awake);
  }

  private createAwake(loaded: LoadedDocument): AwakeRoom {
    const { updateLog, serverClientIds, clock, limits, metrics, log, onAppended, onApplied, onActivity } = this.setting;
    return new AwakeRoom({
      articleId: this.articleId,
      loaded,
      serverClientId: serverClientIds.take(this.articleId),
      updateLog,
      clock,
      limits,
      metrics,
      log,
      clientIds: clientIdOwners(this.presence),
      fanOut: this.fanOut,
      isEnded: () => this.isEnded,
      onAppended: (revision) => onAppended(this, revision),
      onApplied: (revision, changes) => onApplied(this, revision, changes),
      onActivity: () => onActivity(this),
      onFailed: (error) => this.fail(error),
      end: (code, reason, error) => this.end(code, reason, error),
    });
  }

  private fail(error: unknown): void {
    this.setting.log?.error({ err: error, articleId: this.articleId }, "a room is closed: its log cannot be written or read");
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
