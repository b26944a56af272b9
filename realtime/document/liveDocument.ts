/**
 * LiveDocument is the document of one open room: its Yjs content with its revision, its size and its admission.
 *
 * All four belong to one loaded state, so `replace` exchanges them together. The rest of the room uses a document only
 * through this class: whether and when a Y.Doc is in memory is decided here. A loaded document is kept as bytes
 * (`keptDocument.ts`) until the first use that needs its text: a read, a server edit, a deletion without an insertion, an
 * update that builds on missing content, or a batch of another node. Relaying plain updates needs only the clocks.
 * A server edit puts the document ahead of the log until its update is appended. Until then the room delays reads. If the edit
 * may be reverted, updates wait too: a verdict on text that is reverted would be wrong (RT115).
 */
import * as Y from "yjs";
import type { LoadedDocument, RoomLimits } from "../ports.ts";
import { type AppliedBatch, applyBatch, type BatchedUpdate, hasPending, relayBatch } from "./applyBatch.ts";
import { buildDocument } from "./buildDocument.ts";
import { DocumentSize } from "./documentSize.ts";
import { encodeIntegrated, encodeWhole } from "./encodeDocument.ts";
import { type ClockRange, inspectUpdate } from "./inspectUpdate.ts";
import { joinKeystrokes } from "./joinKeystrokes.ts";
import { KeptDocument, type SyncAnswer } from "./keptDocument.ts";
import { encodedBytes, updatesOf } from "./loadedDocument.ts";
import type { PlainUpdate } from "./plainUpdate.ts";
import { type EditOutcome, runServerEdit } from "./serverEdit.ts";
import { UpdateAdmission } from "./updateAdmission.ts";
import type { ClientIdOwners, Refusal, UpdateRequest, Verdict } from "./verdict.ts";

/** Sync step 2 answers are kept for clients that reconnect at once with the same state. The size includes the state vector (RT81). */
const maxKeptAnswers = 4;
const maxKeptAnswerBytes = 2 * 1024 * 1024;

/** An edit whose update was `refused` has changed the document all the same and must be reverted. */
export type JudgedEdit = EditOutcome<unknown> | { readonly kind: "refused"; readonly refusal: Refusal };

/** A snapshot to store. `stateVector` is absent while the state has pending updates. */
export interface Snapshot {
  readonly state: Uint8Array;
  readonly stateVector?: Uint8Array;
}

/** A client id under which the server wrote, and the clock of its durable content. */
export interface ServerClientId {
  readonly clientId: number;
  readonly clock: number;
}

const noClocks: ReadonlyMap<number, number> = new Map();

export interface LiveDocumentOptions<Sender> {
  readonly loaded: LoadedDocument;
  readonly limits: RoomLimits;
  readonly clientIds: ClientIdOwners<Sender>;
  /** The id to continue. It is not continued if the loaded document has another clock for it, or pending updates. */
  readonly serverClientId?: ServerClientId | undefined;
}

/** The content of a document: as bytes, or as a Y.Doc with the clock of each client id. */
type Content =
  | { readonly kind: "kept"; readonly kept: KeptDocument; readonly clocks: Map<number, number> }
  | { readonly kind: "built"; readonly document: Y.Doc; readonly clocks: Map<number, number> };

export class LiveDocument<Sender> {
  private readonly limits: RoomLimits;
  private readonly clientIds: ClientIdOwners<Sender>;
  private content: Content;
  private size: DocumentSize;
  private admission: UpdateAdmission<Sender>;
  private currentRevision: number;
  /** True while the document shows an edit that may be reverted. */
  private mayRevert = false;
  /** Client id under which the server writes. A Y.Doc gets it when it is built. */
  private ownClientId = Math.floor(Math.random() * 2 ** 32);
  /** Recent answers by state vector. */
  private readonly answers = new Map<string, Uint8Array>();

  constructor({ loaded, limits, clientIds, serverClientId }: LiveDocumentOptions<Sender>) {
    this.limits = limits;
    this.clientIds = clientIds;
    this.content = this.open(loaded);
    if (serverClientId !== undefined) this.continueAs(serverClientId);
    this.size = this.createSize(loaded);
    this.admission = this.createAdmission();
    this.currentRevision = loaded.revision;
  }

  /** Position of the last batch in the log that the document contains. */
  get revision(): number {
    return this.currentRevision;
  }

  /** Bytes of updates that are admitted and not yet applied. */
  get queuedBytes(): number {
    return this.admission.queuedBytes;
  }

  /** Upper bound of the encoded document, in bytes. */
  get encodedBytes(): number {
    return this.size.encodedBytes;
  }

  /** True when updates that build on a refused one would be refused too. This is forgotten with the LiveDocument. */
  get hasRefusedClocks(): boolean {
    return this.admission.hasRefusedClocks;
  }

  /** The id under which the server has written, if the document shows durable content only. Undefined if it has not written. */
  get serverClientId(): ServerClientId | undefined {
    const clientId = this.currentClientId;
    const clock = this.content.clocks.get(clientId) ?? 0;
    return clock === 0 ? undefined : { clientId, clock };
  }

  judge(request: UpdateRequest<Sender>): Verdict<Sender> {
    return this.mayRevert ? { kind: "wait" } : this.admission.judge(request);
  }

  /** Admits an ordinary keystroke of the sender's own client id. False: it must be inspected and judged. */
  admitPlain(plain: PlainUpdate, sender: Sender): boolean {
    return !this.mayRevert && this.admission.admitPlain(plain, sender);
  }

  /** Records clocks of an update that was refused before `judge`, so that updates that build on them are refused too. */
  refuse(clocks: readonly ClockRange[], sender: Sender | undefined): void {
    this.admission.refuse(clocks, sender);
  }

  /** Must be called when the admitted updates are being appended. Updates admitted later belong to the next batch. */
  batchStarted(): void {
    this.admission.batchStarted();
  }

  /** Applies the batch that `batchStarted` announced. `editUpdate` is the update of a server edit in the same batch. */
  applyStarted(batch: readonly BatchedUpdate<Sender>[], editUpdate: Uint8Array | undefined, revision: number): AppliedBatch<Sender> {
    const applied = this.apply(joinKeystrokes(batch), editUpdate, this.admission.startedClocks);
    this.admission.batchApplied();
    this.currentRevision = revision;
    return applied;
  }

  /** Takes over the update of a server edit that was appended alone. The document contains it already. */
  applyEdit(editUpdate: Uint8Array, revision: number): AppliedBatch<Sender> {
    this.currentRevision = revision;
    this.mayRevert = false;
    return this.apply([], editUpdate, noClocks);
  }

  /** Applies updates that other nodes appended. They may build on each other in any order. */
  applyRemote(updates: readonly Uint8Array[], revision: number): AppliedBatch<Sender> {
    const applied = this.apply(
      updates.map((update) => ({ update, mayBePending: true })),
      undefined,
      noClocks,
    );
    // The text size of remote updates is unknown, so the whole update counts as text until the next full measurement.
    for (const update of updates) this.size.growBy(update.length, update.length);
    this.currentRevision = Math.max(this.currentRevision, revision);
    return applied;
  }

  /**
   * Runs a change by the server in one transaction and judges it by the rules for client updates. After "changed",
   * "refused" and a dirty "failed" the document is ahead of the log. `once`: skip the change if the document already has
   * content of `clientId`.
   */
  edit(clientId: number | undefined, once: boolean, change: (document: Y.Doc, revision: number) => unknown): JudgedEdit {
    const document = this.build();
    const outcome = runServerEdit(document, clientId, once, () => change(document, this.currentRevision));
    if (outcome.kind !== "changed") return outcome;
    const editId = clientId ?? document.clientID;
    if (Y.getState(document.store, editId) > 0) this.content.clocks.set(editId, Y.getState(document.store, editId));
    const inspected = inspectUpdate(outcome.update, this.limits);
    if (inspected.kind === "refused") {
      return { kind: "refused", refusal: { code: "content_not_accepted", detail: inspected.detail } };
    }
    const refusal = this.admission.judgeApplied(inspected.update);
    return refusal === undefined ? outcome : { kind: "refused", refusal };
  }

  /** Lets updates wait, because the document shows an edit that may be reverted, until `applyEdit` or `revertTo`. */
  holdUpdates(): void {
    this.mayRevert = true;
  }

  /** Replaces the document by its durable state of the same revision. Updates that were admitted before the edit stay admitted. */
  revertTo(durable: LoadedDocument): void {
    this.ownClientId = this.currentClientId;
    this.destroy();
    this.answers.clear();
    this.content = this.open(durable);
    this.size = this.createSize(durable);
    const before = this.admission;
    this.admission = this.createAdmission();
    this.admission.takeOver(before);
    this.mayRevert = false;
  }

  read<T>(read: (document: Y.Doc, revision: number) => T): T {
    return read(this.build(), this.currentRevision);
  }

  stateVector(): Uint8Array {
    return Y.encodeStateVector(this.content.clocks);
  }

  /** Encodes what a client with this state vector lacks (sync step 2). */
  encodeAnswer(stateVector: Uint8Array): SyncAnswer {
    const isEmpty = stateVector.length === 1 && stateVector[0] === 0;
    if (isEmpty && this.content.kind === "kept") return this.content.kept.encode();
    const document = this.build();
    if (stateVector.length > maxKeptAnswerBytes) return { update: encodeIntegrated(document, stateVector) };
    const key = Buffer.from(stateVector).toString("latin1");
    const known = this.answers.get(key);
    if (known !== undefined) return { update: known };
    const update = encodeIntegrated(document, stateVector);
    if (this.answers.size >= maxKeptAnswers) this.answers.clear();
    if (stateVector.length + update.length <= maxKeptAnswerBytes) this.answers.set(key, update);
    return { update };
  }

  forgetAnswers(): void {
    this.answers.clear();
  }

  /**
   * Encodes the whole document as a snapshot. Undefined while pending updates cannot be separated from it. `stateVector` is
   * absent while updates are pending.
   */
  encodeSnapshot(): Snapshot | undefined {
    const document = this.build();
    const state = encodeWhole(document);
    if (state === undefined) return undefined;
    this.size.encodedIs(state.length, this.admission.queuedBytes);
    return hasPending(document) ? { state } : { state, stateVector: this.stateVector() };
  }

  destroy(): void {
    if (this.content.kind === "built") this.content.document.destroy();
  }

  private apply(
    batch: readonly BatchedUpdate<Sender>[],
    editUpdate: Uint8Array | undefined,
    clocks: ReadonlyMap<number, number>,
  ): AppliedBatch<Sender> {
    this.answers.clear();
    const mayBePending = batch.some((update) => update.mayBePending);
    if (this.content.kind === "kept" && !mayBePending && !this.content.kept.isFull) {
      for (const { update } of batch) this.content.kept.add(update);
      for (const [clientId, clock] of clocks) this.content.clocks.set(clientId, clock);
      return relayBatch(batch);
    }
    const document = this.build();
    const isExact = !mayBePending && !hasPending(document);
    const applied = applyBatch(document, batch, editUpdate);
    if (isExact) for (const [clientId, clock] of clocks) this.content.clocks.set(clientId, clock);
    else readClocks(document, this.content.clocks);
    return applied;
  }

  /** Yjs gives a Y.Doc a new id when an update of another writer has content under its id. */
  private get currentClientId(): number {
    return this.content.kind === "built" ? this.content.document.clientID : this.ownClientId;
  }

  private continueAs({ clientId, clock }: ServerClientId): void {
    if (this.content.clocks.get(clientId) !== clock) return;
    if (this.content.kind === "built") {
      if (hasPending(this.content.document)) return;
      this.content.document.clientID = clientId;
    }
    this.ownClientId = clientId;
  }

  private open(loaded: LoadedDocument): Content {
    const kept = KeptDocument.from(loaded, this.limits);
    if (kept !== undefined) return { kind: "kept", kept, clocks: kept.clocks };
    return this.toBuilt(buildDocument(loaded.state, updatesOf(loaded)), new Map());
  }

  /** Returns the Y.Doc, and builds it at the first call. */
  private build(): Y.Doc {
    if (this.content.kind === "built") return this.content.document;
    const { kept, clocks } = this.content;
    const document = kept.build();
    this.content = this.toBuilt(document, clocks);
    return document;
  }

  private toBuilt(document: Y.Doc, clocks: Map<number, number>): Content {
    document.clientID = this.ownClientId;
    readClocks(document, clocks);
    return { kind: "built", document, clocks };
  }

  private createSize(loaded: LoadedDocument): DocumentSize {
    return new DocumentSize(() => this.build(), encodedBytes(loaded));
  }

  private createAdmission(): UpdateAdmission<Sender> {
    const { size, limits, clientIds } = this;
    return new UpdateAdmission<Sender>({
      clocks: this.content.clocks,
      serverClientId: () => this.currentClientId,
      build: () => this.build(),
      pendingBytes: () => (this.content.kind === "built" ? pendingBytesOf(this.content.document) : 0),
      size,
      limits,
      clientIds,
    });
  }
}

function readClocks(document: Y.Doc, clocks: Map<number, number>): void {
  for (const clientId of document.store.clients.keys()) clocks.set(clientId, Y.getState(document.store, clientId));
}

function pendingBytesOf({ store }: Y.Doc): number {
  return (store.pendingStructs?.update.length ?? 0) + (store.pendingDs?.length ?? 0);
}
