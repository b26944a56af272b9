/**
 * Room holds one open document: the queue of its changes, and the sockets that read it.
 *
 * Each update is judged, queued, appended to the log, applied and relayed, in this order. While one batch is being
 * appended, the next one is gathered. A batch is one revision. Therefore the document and its readers see durable
 * updates only. The one exception is a server edit: it changes the document first, and reads wait until it is durable.
 * When an append fails, the stored state is unknown: the room ends, and the next use loads the document from the log.
 *
 * The room must not know credentials, hosts or storage.
 */

import type { Logger } from "pino";
import * as Y from "yjs";
import type { Author } from "../../api/schema/article.ts";
import { AppError, notFound } from "../../api/schema/error.ts";
import { Connection } from "../connection/connection.ts";
import { applyBatch, groupBySpeaker, type QueuedUpdate } from "../document/applyBatch.ts";
import { DocumentSize } from "../document/documentSize.ts";
import { encodeIntegrated, encodeWhole } from "../document/encodeDocument.ts";
import { type ClockRange, inspectUpdate } from "../document/inspectUpdate.ts";
import { encodedBytes, openDocument, tailBytes, upTo } from "../document/openDocument.ts";
import { runServerEdit } from "../document/serverEdit.ts";
import { Admission, type AdmissionRequest, type Refusal, type Verdict } from "../document/updateAdmission.ts";
import type { Clock, ConnectionIdentity, LoadedDocument, Peer, RoomLimits, RoomMetrics, UpdateLog, WriteGuard } from "../ports.ts";
import { createPresence, type OutgoingEntry, type Presence } from "../presence/presence.ts";
import type { PresenceNews } from "../presence/remotePresence.ts";
import { emptyFrame, writeAwareness, writeUpdate } from "../protocol.ts";
import { ResyncScheduler } from "./resyncScheduler.ts";
import { RoomQueue } from "./roomQueue.ts";
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
  readonly onPresence: (news: PresenceNews) => void;
  /** Called when the room may have become idle or busy: a socket joined or left, or the queue or a snapshot finished. */
  readonly onActivity: () => void;
  readonly onConnectionClosed: (connection: Connection) => void;
  /** Called once, when the room ends. The room must not be used afterwards. */
  readonly onEnded: () => void;
}

/** The room ended before the operation began. Nothing was changed, so the caller may retry in a new room. */
export class RoomEnded extends Error {
  override readonly name = "RoomEnded";
}

interface Submission extends QueuedUpdate<Connection> {
  readonly author: Author;
  readonly settle: Settle<number> | undefined;
}

interface Settle<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

/** The fence of the lease that guards an edit is out of date. The edit was not stored, and a later edit under it cannot be. */
export class WriteFenced extends Error {
  override readonly name = "WriteFenced";
}

interface EditRequest {
  readonly author: Author;
  readonly clientId: number | undefined;
  /** Skip the edit if the document already has content of `clientId`: the client id serves as the idempotency key. */
  readonly once: boolean;
  readonly guard: WriteGuard | undefined;
  /** Store the edit only if no other node wrote after the revision that it saw; otherwise revert it and run it again. */
  readonly isExact: boolean;
  readonly change: (document: Y.Doc, revision: number) => unknown;
  readonly settle: Settle<EditResult>;
}

export interface EditResult {
  readonly revision: number;
  readonly changed: boolean;
  readonly repeated: boolean;
  readonly value?: unknown;
}

/** An edit that is applied to the document but not yet appended to the log. */
interface BegunEdit extends EditRequest {
  readonly update: Uint8Array;
  readonly value: unknown;
}

/**
 * Interval of keep-alive frames. A stock client closes a connection on which it receives nothing for 30 s. It expects
 * to receive its own presence, which this server does not send back.
 */
const lifeSignMs = 20_000;
const maxKeptAnswers = 4;
const maxKeptAnswerBytes = 2 * 1024 * 1024;

export class Room {
  readonly articleId: string;
  readonly presence: Presence<Connection>;
  readonly connections = new Set<Connection>();
  private readonly options: RoomOptions;
  private readonly queue: RoomQueue<Submission, EditRequest, BegunEdit>;
  private readonly resyncs: ResyncScheduler;
  private document: Y.Doc;
  private size: DocumentSize;
  private admission: Admission<Connection>;
  private revision: number;
  private isEnded = false;
  private cancelLifeSign: (() => void) | undefined;
  private heldBytes = 0;
  private submissions = 0;
  /** Newest revision of the log that another node, or a look-up of the log's tail, reported. */
  private heardRevision = 0;
  private readonly snapshots: SnapshotScheduler;
  /** Recent sync step 2 answers by state vector: many clients with the same state may reconnect at once. */
  private readonly answers = new Map<string, Uint8Array>();

  constructor(options: RoomOptions) {
    const { clock, limits, loaded } = options;
    this.options = options;
    this.articleId = options.articleId;
    this.presence = createPresence<Connection>({ clock, limits, deliver: deliverPresence, tell: options.onPresence });
    this.queue = new RoomQueue({
      first: () => (this.heardRevision > this.revision ? this.catchUp() : undefined),
      begin: (request) => this.beginEdit(request),
      // A conditional edit is appended alone, because a failed condition would reject the whole batch.
      isAlone,
      write: (batch, begun) => this.append(batch, begun),
      failed: (error) => this.fail(error),
      rested: () => options.onActivity(),
    });
    this.resyncs = new ResyncScheduler({
      clock,
      whenSettled: (run) => this.whenSettled(run),
      stateVector: () => Y.encodeStateVector(this.document),
    });
    this.snapshots = new SnapshotScheduler(
      { batches: loaded.tail.length, bytes: tailBytes(loaded) },
      () => this.saveSnapshot(),
      () => options.onActivity(),
    );
    this.revision = loaded.revision;
    this.document = openDocument(loaded);
    this.size = new DocumentSize(this.document, encodedBytes(loaded));
    this.admission = this.createAdmission();
  }

  get isOpen(): boolean {
    return !this.isEnded;
  }

  /** True when the room has no connection, no queued work and no snapshot in progress. */
  get isIdle(): boolean {
    return this.connections.size === 0 && this.queue.isSettled && !this.snapshots.isSaving;
  }

  /** True when the log has batches that the last snapshot does not contain. */
  get isUnsaved(): boolean {
    return this.snapshots.isBehind;
  }

  join(peer: Peer, identity: ConnectionIdentity, extensions: boolean): Connection {
    const { clock, limits, onConnectionClosed } = this.options;
    const connection = new Connection({ room: this, peer, identity, extensions, clock, limits, onClosed: onConnectionClosed });
    this.connections.add(connection);
    this.presence.join(connection);
    this.options.onActivity();
    this.resync(connection);
    this.cancelLifeSign ??= clock.after(lifeSignMs, () => this.giveLifeSign());
    return connection;
  }

  private giveLifeSign(): void {
    for (const connection of this.connections) connection.deliver(emptyFrame);
    const isNeeded = this.connections.size > 0;
    this.cancelLifeSign = isNeeded ? this.options.clock.after(lifeSignMs, () => this.giveLifeSign()) : undefined;
  }

  leave(connection: Connection): void {
    this.connections.delete(connection);
    if (this.connections.size === 0) this.answers.clear();
    this.resyncs.forget(connection);
    this.presence.leave(connection);
    this.options.onActivity();
  }

  /**
   * Sends sync step 1 to a writer, whatever the size of the state vector: this is the only way to get its offline work.
   * The room does not wait for a batch in progress, because updates that the writer sends before its answer may build on
   * the missing offline work. It waits only while the document shows a server edit that is not durable.
   */
  resync(connection: Connection): void {
    const send = () => {
      if (connection.mayResync) connection.sendSyncStep1(Y.encodeStateVector(this.document));
    };
    if (this.queue.showsUnwritten) this.whenSettled(send);
    else send();
  }

  /** Judges an update synchronously. An admitted update is durable when a later `whenSettled` callback runs. */
  submit(
    question: AdmissionRequest<Connection>,
    author: Author,
    settle?: Settle<number>,
  ): Verdict<Connection> | { readonly kind: "overflow" } {
    const bytes = question.update.bytes.length;
    if (this.admission.queuedBytes + this.heldBytes + bytes > this.options.limits["room.queue"]) return { kind: "overflow" };
    this.submissions += 1;
    const verdict = this.admission.judge(question);
    if (verdict.kind === "admitted" || verdict.kind === "known") {
      for (const owner of verdict.owners) this.resyncs.requestResync(owner, question.speaker);
      if (verdict.awaitsNodes && question.speaker !== undefined) this.resyncs.awaitOtherNodes(question.speaker);
    }
    if (verdict.kind === "admitted") {
      const { update } = verdict;
      const { speaker, isAnswer } = question;
      // A client that sends no presence is identified by the client id under which it writes.
      const [section] = update.sections;
      if (!isAnswer && speaker !== undefined && update.sections.length === 1 && section !== undefined) {
        this.presence.claim(speaker, section.clientId);
      }
      this.queue.push({ author, speaker, update: update.bytes, isEarly: verdict.isEarly, settle });
    }
    return verdict;
  }

  /** Records clocks of an update that was refused before `submit`, so that updates that build on them are refused too. */
  refuse(claims: readonly ClockRange[], speaker: Connection | undefined): void {
    this.admission.refuse(claims, speaker);
  }

  countRefusal(code: string): void {
    this.options.metrics?.updateRefused(code);
  }

  /** Adds bytes that wait in a connection to the room's total. Returns false when the total exceeds `room.queue`. */
  hold(bytes: number): boolean {
    this.heldBytes += bytes;
    return this.admission.queuedBytes + this.heldBytes <= this.options.limits["room.queue"];
  }

  release(bytes: number): void {
    this.heldBytes -= bytes;
  }

  edit(request: EditRequest): void {
    if (this.isEnded) request.settle.reject(new RoomEnded());
    else this.queue.edit(request);
  }

  /**
   * Calls `run` when everything received before this call is durable and the document shows only durable content. If
   * this is already true, `run` is called synchronously. If the room ends first, `abandon` is called instead.
   */
  whenSettled(run: (revision: number) => void, abandon?: () => void): void {
    this.queue.look(() => run(this.revision), abandon);
  }

  /** Gives `look` the document and its revision. Call it only inside `whenSettled`. */
  view<T>(look: (document: Y.Doc, revision: number) => T): T {
    return look(this.document, this.revision);
  }

  /** Encodes what a client with this state vector lacks (sync step 2). Call it only inside `whenSettled`. */
  encodeAnswer(stateVector: Uint8Array): Uint8Array {
    const key = Buffer.from(stateVector).toString("latin1");
    const known = this.answers.get(key);
    if (known !== undefined) return known;
    const answer = encodeIntegrated(this.document, stateVector);
    if (this.answers.size >= maxKeptAnswers) this.answers.clear();
    if (answer.length <= maxKeptAnswerBytes) this.answers.set(key, answer);
    return answer;
  }

  /** Reads the log's newest revision. Work queued after this resolves sees everything that other nodes appended up to it. */
  async freshen(): Promise<void> {
    this.heard(await this.options.updateLog.tail(this.articleId));
  }

  /** Notes that the log has grown to `revision`, and schedules reading the batches of other nodes. */
  heard(revision: number): void {
    this.heardRevision = Math.max(this.heardRevision, revision);
    if (this.heardRevision > this.revision) this.queue.schedule();
  }

  /** Saves a snapshot, so that the next load does not replay the log. */
  save(): Promise<void> {
    return this.snapshots.save();
  }

  /** Closes every socket and rejects all queued work that has not begun with `error`. */
  end(code: number, reason: string, error: unknown = new RoomEnded()): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.options.onEnded();
    for (const connection of [...this.connections]) connection.close(code, reason);
    this.cancelLifeSign?.();
    this.presence.stop();
    this.resyncs.stop();
    const reject = ({ settle }: { readonly settle: Settle<never> | undefined }) => settle?.reject(error);
    this.queue.end(reject, reject);
    this.document.destroy();
  }

  private createAdmission(): Admission<Connection> {
    const ownerOf = (clientId: number) => {
      const owner = this.presence.ownerOf(clientId);
      return owner?.isWriter ? owner : undefined;
    };
    const maySpeakFor = ({ identity: { author } }: Connection, owner: Connection) =>
      author.username === owner.identity.author.username && author.kind === owner.identity.author.kind;
    const isElsewhere = (clientId: number, speaker: Connection | undefined) =>
      this.presence.isElsewhere(clientId, speaker?.identity.author);
    const { document, size: measure } = this;
    return new Admission<Connection>({ document, size: measure, limits: this.options.limits, ownerOf, maySpeakFor, isElsewhere });
  }

  private beginEdit(request: EditRequest): BegunEdit | Promise<void> | undefined {
    const { document, revision } = this;
    const outcome = runServerEdit(document, request.clientId, request.once, () => request.change(document, revision));
    switch (outcome.kind) {
      case "repeated":
        request.settle.resolve({ revision, changed: false, repeated: true });
        return undefined;
      case "unchanged":
        request.settle.resolve({ revision, changed: false, repeated: false, value: outcome.value });
        return undefined;
      case "failed":
        request.settle.reject(outcome.error);
        return outcome.isDirty ? this.revert() : undefined;
      case "changed": {
        const refusal = this.judgeEdit(outcome.update);
        if (refusal === undefined) return { ...request, update: outcome.update, value: outcome.value };
        request.settle.reject(new AppError(refusal.code, refusal.detail));
        return this.revert();
      }
    }
  }

  /** Judges an edit that is already applied. The rules of content and size are those of client updates. */
  private judgeEdit(update: Uint8Array): Refusal | undefined {
    const inspected = inspectUpdate(update, this.options.limits);
    if (inspected.kind === "refused") return { code: "content_not_accepted", detail: inspected.detail };
    return this.admission.judgeApplied(inspected.update);
  }

  /** Replaces the document by its durable state, because an edit that was not stored has put it ahead of the log. */
  private async revert(): Promise<void> {
    const { submissions } = this;
    const loaded = await this.options.updateLog.load(this.articleId);
    if (this.isEnded) return;
    const before = upTo(loaded, this.revision);
    if (before === undefined || submissions !== this.submissions || this.queue.hasGathered) {
      // Updates that arrived meanwhile were judged against the discarded document, so all clients must reconnect.
      this.end(1012, "the document was reloaded");
      return;
    }
    this.document.destroy();
    this.document = openDocument(before);
    this.size = new DocumentSize(this.document, encodedBytes(before));
    this.admission = this.createAdmission();
    // Batches that other nodes wrote since then are read and relayed by the usual catch-up.
    this.heard(loaded.revision);
  }

  private async append(gathered: readonly Submission[], edit: BegunEdit | undefined): Promise<void> {
    const { clock, metrics, updateLog } = this.options;
    const alone = edit !== undefined && isAlone(edit);
    if (!alone) this.admission.batchStarted();
    // The log must have the order in which the batch is applied here; otherwise a reloaded document could differ.
    const batch = groupBySpeaker(gathered);
    const updates = batch.map(({ author, update }) => ({ author, update }));
    if (edit !== undefined) updates.unshift({ author: edit.author, update: edit.update });
    const startedMs = clock.now();
    const rejectAll = (error: unknown) => {
      for (const { settle } of batch) settle?.reject(error);
      edit?.settle.reject(error);
    };
    try {
      const result = await updateLog.append(this.articleId, updates, edit?.guard, edit?.isExact ? this.revision : undefined);
      if (result.kind === "behind" && edit !== undefined) {
        await this.revert();
        this.edit(edit);
        return;
      }
      if (result.kind === "fenced") {
        rejectAll(new WriteFenced("the lease of this work has moved on"));
        await this.revert();
        return;
      }
      if (result.kind !== "appended") {
        rejectAll(notFound());
        this.end(4409, "the article was deleted", notFound());
        return;
      }
      // Another node wrote in between. Its batches are applied first; otherwise this room's revision would include
      // batches that its document lacks.
      if (result.revision > this.revision + 1) await this.catchUp(result.revision);
      if (this.isEnded) throw new RoomEnded();
      metrics?.batchAppended(updates.length, clock.now() - startedMs);
      this.settle(batch, edit, Math.max(result.revision, this.revision));
      this.options.onAppended(result.revision);
    } catch (error) {
      rejectAll(error);
      throw error;
    }
  }

  /** Applies and relays a batch that is durable now, and acknowledges it to its writers. */
  private settle(batch: readonly Submission[], edit: BegunEdit | undefined, revision: number): void {
    this.apply(batch, edit?.update);
    if (edit === undefined || !isAlone(edit)) this.admission.batchApplied();
    this.revision = revision;
    edit?.settle.resolve({ revision, changed: true, repeated: false, value: edit.value });
    const speakers = new Set<Connection>();
    let bytes = edit?.update.length ?? 0;
    for (const { speaker, settle, update } of batch) {
      settle?.resolve(revision);
      if (speaker !== undefined) speakers.add(speaker);
      bytes += update.length;
    }
    for (const speaker of speakers) {
      speaker.acknowledge(revision);
      this.resyncs.noteWrite(speaker);
    }
    this.resyncs.run();
    this.snapshots.grow(bytes, this.size.encodedBytes);
  }

  private apply(batch: readonly QueuedUpdate<Connection>[], already?: Uint8Array): void {
    this.answers.clear();
    const { toOthers, toSpeakers } = applyBatch(this.document, batch, already);
    const frames = new Map<Uint8Array, Uint8Array>();
    let relayed = 0;
    for (const connection of this.connections) {
      const update = toSpeakers.has(connection) ? toSpeakers.get(connection) : toOthers;
      if (update === undefined) continue;
      const frame = frames.get(update) ?? writeUpdate(update);
      frames.set(update, frame);
      connection.deliver(frame);
      relayed += 1;
    }
    if (relayed > 0) this.options.metrics?.framesRelayed(relayed);
  }

  /** Reads and applies batches that other nodes appended. `own` is the revision of this room's own batch, which is skipped. */
  private async catchUp(own?: number): Promise<void> {
    const { updateLog } = this.options;
    const read = await updateLog.readAfter(this.articleId, this.revision);
    let { revision } = this;
    let updates: readonly { readonly update: Uint8Array }[];
    if (read.gap) {
      const { state, tail, revision: loaded } = await updateLog.load(this.articleId);
      updates = [...(state === undefined ? [] : [{ update: state }]), ...tail.flatMap((batch) => batch.updates)];
      revision = loaded;
    } else {
      updates = read.batches.filter((batch) => batch.revision !== own).flatMap((batch) => batch.updates);
      revision = read.batches.at(-1)?.revision ?? revision;
    }
    if (this.isEnded) return;
    this.apply(updates.map(({ update }) => ({ update, isEarly: true })));
    // The text size of remote updates is unknown, so the whole update counts as text until the next full measurement.
    for (const { update } of updates) this.size.grow({ bytes: update, textBytes: update.length });
    this.revision = Math.max(this.revision, revision);
    // A revision that was announced but could not be read is dropped here; the next announcement or poll reports it again.
    this.heardRevision = Math.min(this.heardRevision, this.revision);
    this.resyncs.noteCaughtUp();
  }

  private async saveSnapshot(): Promise<void> {
    const { log, updateLog } = this.options;
    try {
      await new Promise<void>((resolve, reject) => {
        this.whenSettled((revision) => {
          const state = encodeWhole(this.document);
          if (state === undefined) {
            resolve();
            return;
          }
          this.size.encodedIs(state.length, this.admission.queuedBytes);
          updateLog.saveState(this.articleId, revision, state).then(resolve, reject);
        }, resolve);
      });
    } catch (error) {
      // No data is lost: the log still has every update, and the next due snapshot tries again.
      log?.warn({ err: error, articleId: this.articleId }, "a document's state could not be kept");
    }
  }

  private fail(error: unknown): void {
    this.options.log?.error({ err: error, articleId: this.articleId }, "a room is closed: its log cannot be written or read");
    this.end(1013, "changes cannot be stored now");
  }
}

function isAlone({ guard, isExact }: BegunEdit): boolean {
  return guard !== undefined || isExact;
}

function deliverPresence(entries: readonly OutgoingEntry[], to: readonly Connection[]): void {
  const frame = writeAwareness(entries);
  for (const connection of to) connection.deliver(frame);
}
