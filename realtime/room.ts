/**
 * One open document: the queue through which every change goes, and the sockets that read it.
 *
 * Decide → queue → append → apply → relay. One batch is being appended while the next gathers; a batch is one
 * revision. So nothing is in the document, and nothing reaches a reader, that is not durable, with one exception:
 * a server edit runs on the document first, and until it is durable everything that would look waits.
 * When an append fails nobody knows what is stored: the room ends, and the next use loads it anew.
 *
 * It knows no credentials, no hosts and no storage.
 */

import type { Logger } from "pino";
import * as Y from "yjs";
import type { Author } from "../api/schema/article.ts";
import { AppError, notFound } from "../api/schema/error.ts";
import { Admission, type Question, type Refusal, type Verdict } from "./admission.ts";
import { AskQueue } from "./askQueue.ts";
import { Connection } from "./connection.ts";
import { DocumentMeasure } from "./documentMeasure.ts";
import { encodeIntegrated, encodeWhole } from "./encodeDocument.ts";
import { type ClockRange, inspectUpdate } from "./inspectUpdate.ts";
import { encodedBytes, openDocument, tailBytes, upTo } from "./openDocument.ts";
import type { Clock, ConnectionIdentity, LoadedDocument, Peer, RoomLimits, RoomMetrics, UpdateLog, WriteGuard } from "./ports.ts";
import { createPresence, type OutgoingEntry, type Presence } from "./presence.ts";
import { emptyFrame, writeAwareness, writeUpdate } from "./protocol.ts";
import { applyBatch, groupBySpeaker, type Said } from "./relay.ts";
import type { PresenceNews } from "./remotePresence.ts";
import { RoomQueue } from "./roomQueue.ts";
import { runServerEdit } from "./serverEdit.ts";
import { StateKeeper } from "./stateKeeper.ts";

export interface RoomOptions {
  readonly articleId: string;
  readonly loaded: LoadedDocument;
  readonly updateLog: UpdateLog;
  readonly clock: Clock;
  readonly limits: RoomLimits;
  readonly metrics: RoomMetrics | undefined;
  readonly log: Logger | undefined;
  /** A batch became durable: other nodes may read it. */
  readonly onAppended: (revision: number) => void;
  /** Something changed about who is here: other nodes show it too. */
  readonly onPresence: (news: PresenceNews) => void;
  /** Nobody is left and nothing is going on, or somebody came. */
  readonly onActivity: () => void;
  readonly onConnectionClosed: (connection: Connection) => void;
  /** The room must not be used any more. */
  readonly onEnded: () => void;
}

/** The room ended before the operation began: nothing happened, and it may be tried in a new room. */
export class RoomEnded extends Error {
  override readonly name = "RoomEnded";
}

interface Submission extends Said<Connection> {
  readonly author: Author;
  readonly settle: Settle<number> | undefined;
}

interface Settle<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

/** The lease of the work that an edit belongs to has moved on: it was not stored, and no other of that work will be. */
export class WriteFenced extends Error {
  override readonly name = "WriteFenced";
}

interface EditRequest {
  readonly author: Author;
  readonly clientId: number | undefined;
  /** A document that knows `clientId` has had it. */
  readonly once: boolean;
  readonly guard: WriteGuard | undefined;
  /** What it found must still be all there is when it is stored: it is begun anew where another node wrote in between. */
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

/** An edit that stands in the document and not yet in the log. */
interface BegunEdit extends EditRequest {
  readonly update: Uint8Array;
  readonly value: unknown;
}

/** A stock client that hears nothing for 30 s takes the connection for dead; it counts on hearing its own presence. */
const lifeSignMs = 20_000;
const maxKeptAnswers = 4;
const maxKeptAnswerBytes = 2 * 1024 * 1024;

export class Room {
  readonly articleId: string;
  readonly presence: Presence<Connection>;
  readonly connections = new Set<Connection>();
  private readonly options: RoomOptions;
  private readonly queue: RoomQueue<Submission, EditRequest, BegunEdit>;
  private readonly asks: AskQueue;
  private document: Y.Doc;
  private measure: DocumentMeasure;
  private admission: Admission<Connection>;
  private revision: number;
  private isEnded = false;
  private cancelLifeSign: (() => void) | undefined;
  private heldBytes = 0;
  private submissions = 0;
  /** Another node says that the log is this long. */
  private heardRevision = 0;
  private readonly states: StateKeeper;
  /** The last answers to sync-step-1, for the many clients that come back at once. */
  private readonly answers = new Map<string, Uint8Array>();

  constructor(options: RoomOptions) {
    const { clock, limits, loaded } = options;
    this.options = options;
    this.articleId = options.articleId;
    this.presence = createPresence<Connection>({ clock, limits, deliver: deliverPresence, tell: options.onPresence });
    this.queue = new RoomQueue({
      first: () => (this.heardRevision > this.revision ? this.catchUp() : undefined),
      begin: (request) => this.beginEdit(request),
      // A condition that fails must fail nobody else's changes.
      isAlone,
      write: (batch, begun) => this.append(batch, begun),
      failed: (error) => this.fail(error),
      rested: () => options.onActivity(),
    });
    this.asks = new AskQueue({
      clock,
      whenSettled: (run) => this.whenSettled(run),
      stateVector: () => Y.encodeStateVector(this.document),
    });
    this.states = new StateKeeper(
      { batches: loaded.tail.length, bytes: tailBytes(loaded) },
      () => this.keepState(),
      () => options.onActivity(),
    );
    this.revision = loaded.revision;
    this.document = openDocument(loaded);
    this.measure = new DocumentMeasure(this.document, encodedBytes(loaded));
    this.admission = this.createAdmission();
  }

  get isOpen(): boolean {
    return !this.isEnded;
  }

  /** Nobody is here and nothing is under way. */
  get isIdle(): boolean {
    return this.connections.size === 0 && this.queue.isSettled && !this.states.isSaving;
  }

  /** The log holds more than the stored state. */
  get isUnsaved(): boolean {
    return this.states.isBehind;
  }

  join(peer: Peer, identity: ConnectionIdentity, extensions: boolean): Connection {
    const { clock, limits, onConnectionClosed } = this.options;
    const connection = new Connection({ room: this, peer, identity, extensions, clock, limits, onClosed: onConnectionClosed });
    this.connections.add(connection);
    this.presence.join(connection);
    this.options.onActivity();
    this.ask(connection);
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
    this.asks.forget(connection);
    this.presence.leave(connection);
    this.options.onActivity();
  }

  /**
   * Asks a writer what the server lacks, however large the question is: what it wrote offline comes this way only. A
   * batch under way is not waited for: whatever the writer says before it has answered builds on what is missing.
   */
  ask(connection: Connection): void {
    const send = () => {
      if (connection.mayBeAsked) connection.sendQuestion(Y.encodeStateVector(this.document));
    };
    if (this.queue.showsUnwritten) this.whenSettled(send);
    else send();
  }

  /** Decides at once; what is admitted is durable when a `whenSettled` asked for afterwards runs. */
  submit(question: Question<Connection>, author: Author, settle?: Settle<number>): Verdict<Connection> | { readonly kind: "overflow" } {
    const bytes = question.update.bytes.length;
    if (this.admission.queuedBytes + this.heldBytes + bytes > this.options.limits["room.queue"]) return { kind: "overflow" };
    this.submissions += 1;
    const verdict = this.admission.judge(question);
    if (verdict.kind === "admitted" || verdict.kind === "known") {
      for (const owner of verdict.owners) this.asks.doubt(owner, question.speaker);
    }
    if (verdict.kind === "admitted") {
      const { update } = verdict;
      const { speaker, isAnswer } = question;
      // Clients that show no presence are known by what they write.
      const [section] = update.sections;
      if (!isAnswer && speaker !== undefined && update.sections.length === 1 && section !== undefined) {
        this.presence.claim(speaker, section.clientId);
      }
      this.queue.push({ author, speaker, update: update.bytes, isEarly: verdict.isEarly, settle });
    }
    return verdict;
  }

  /** What was refused before it was judged: nothing that builds on it will be kept. */
  refuse(claims: readonly ClockRange[], speaker: Connection | undefined): void {
    this.admission.refuse(claims, speaker);
  }

  countRefusal(code: string): void {
    this.options.metrics?.updateRefused(code);
  }

  /** Books bytes that wait in a socket; false when the room holds too much. */
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
   * Runs when everything received before is durable and the document shows nothing that is not; at once when
   * that is so now. `abandon` is called instead when the room ends first.
   */
  whenSettled(run: (revision: number) => void, abandon?: () => void): void {
    this.queue.look(() => run(this.revision), abandon);
  }

  /** Only from `whenSettled`. */
  view<T>(look: (document: Y.Doc, revision: number) => T): T {
    return look(this.document, this.revision);
  }

  /** Only from `whenSettled`: what a client with this state vector lacks. */
  encodeAnswer(stateVector: Uint8Array): Uint8Array {
    const key = Buffer.from(stateVector).toString("latin1");
    const known = this.answers.get(key);
    if (known !== undefined) return known;
    const answer = encodeIntegrated(this.document, stateVector);
    if (this.answers.size >= maxKeptAnswers) this.answers.clear();
    if (answer.length <= maxKeptAnswerBytes) this.answers.set(key, answer);
    return answer;
  }

  /** Looks how long the log is: what other nodes appended comes before anything that is asked for from now on. */
  async freshen(): Promise<void> {
    this.heard(await this.options.updateLog.tail(this.articleId));
  }

  /** Another node appended up to here. */
  heard(revision: number): void {
    this.heardRevision = Math.max(this.heardRevision, revision);
    if (this.heardRevision > this.revision) this.queue.schedule();
  }

  /** Keeps the whole state, so that the next load need not replay the log. */
  save(): Promise<void> {
    return this.states.save();
  }

  /** Closes every socket and gives back whatever was not begun. */
  end(code: number, reason: string, error: unknown = new RoomEnded()): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.options.onEnded();
    for (const connection of [...this.connections]) connection.close(code, reason);
    this.cancelLifeSign?.();
    this.presence.stop();
    this.asks.stop();
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
    const { document, measure } = this;
    return new Admission<Connection>({ document, measure, limits: this.options.limits, ownerOf, maySpeakFor, isElsewhere });
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
        return outcome.isDirty ? this.takeBack() : undefined;
      case "changed": {
        const refusal = this.judgeEdit(outcome.update);
        if (refusal === undefined) return { ...request, update: outcome.update, value: outcome.value };
        request.settle.reject(new AppError(refusal.code, refusal.detail));
        return this.takeBack();
      }
    }
  }

  /** The edit stands in the document already; what it may hold and how large it may be is the same for everybody. */
  private judgeEdit(update: Uint8Array): Refusal | undefined {
    const inspected = inspectUpdate(update, this.options.limits);
    if (inspected.kind === "refused") return { code: "content_not_accepted", detail: inspected.detail };
    return this.admission.judgeApplied(inspected.update);
  }

  /** Loads the document as it is durable, in place of one that is ahead of the log. */
  private async takeBack(): Promise<void> {
    const { submissions } = this;
    const loaded = await this.options.updateLog.load(this.articleId);
    if (this.isEnded) return;
    const before = upTo(loaded, this.revision);
    if (before === undefined || submissions !== this.submissions || this.queue.hasGathered) {
      // What came meanwhile was judged by the document that goes: let everybody come again.
      this.end(1012, "the document was reloaded");
      return;
    }
    this.document.destroy();
    this.document = openDocument(before);
    this.measure = new DocumentMeasure(this.document, encodedBytes(before));
    this.admission = this.createAdmission();
    // What other nodes wrote since reaches the readers as it always does.
    this.heard(loaded.revision);
  }

  private async append(gathered: readonly Submission[], edit: BegunEdit | undefined): Promise<void> {
    const { clock, metrics, updateLog } = this.options;
    const alone = edit !== undefined && isAlone(edit);
    if (!alone) this.admission.batchStarted();
    // In the order in which it will be applied, or a document that is loaded anew could be another one.
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
        await this.takeBack();
        this.edit(edit);
        return;
      }
      if (result.kind === "fenced") {
        rejectAll(new WriteFenced("the lease of this work has moved on"));
        await this.takeBack();
        return;
      }
      if (result.kind !== "appended") {
        rejectAll(notFound());
        this.end(4409, "the article was deleted", notFound());
        return;
      }
      // Another node wrote in between: its batches come first, or the revision would promise what is not here.
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

  /** The batch is durable. */
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
      this.asks.wrote(speaker);
    }
    this.asks.run();
    this.states.grow(bytes, this.measure.encodedBytes);
  }

  private apply(batch: readonly Said<Connection>[], already?: Uint8Array): void {
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

  /** Reads what other nodes appended; `own` is a batch of ours among them, which stands in memory. */
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
    // How much of it is text is not known; measuring anew finds out when it matters.
    for (const { update } of updates) this.measure.grow({ bytes: update, textBytes: update.length });
    this.revision = Math.max(this.revision, revision);
    // What was announced and cannot be read yet is announced by the next batch.
    this.heardRevision = Math.min(this.heardRevision, this.revision);
  }

  private async keepState(): Promise<void> {
    const { log, updateLog } = this.options;
    try {
      await new Promise<void>((resolve, reject) => {
        this.whenSettled((revision) => {
          const state = encodeWhole(this.document);
          if (state === undefined) {
            resolve();
            return;
          }
          this.measure.encodedIs(state.length, this.admission.queuedBytes);
          updateLog.saveState(this.articleId, revision, state).then(resolve, reject);
        }, resolve);
      });
    } catch (error) {
      // Nothing is lost: the log still holds everything, and the next state that is due tries again.
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
