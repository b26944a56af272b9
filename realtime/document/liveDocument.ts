/**
 * LiveDocument is the document of one open room: its Yjs content with its revision, its size and its admission.
 *
 * All four belong to one loaded state, so `replace` exchanges them together. The rest of the room uses a document only
 * through this class: whether and when a Y.Doc is in memory is decided here.
 * A server edit puts the document ahead of the log until its update is appended. The room keeps readers away meanwhile.
 */
import * as Y from "yjs";
import type { LoadedDocument, RoomLimits } from "../ports.ts";
import { type AppliedBatch, applyBatch, type BatchedUpdate } from "./applyBatch.ts";
import { DocumentSize } from "./documentSize.ts";
import { encodeIntegrated, encodeWhole } from "./encodeDocument.ts";
import { type ClockRange, inspectUpdate } from "./inspectUpdate.ts";
import { encodedBytes, openDocument } from "./openDocument.ts";
import { type EditOutcome, runServerEdit } from "./serverEdit.ts";
import { UpdateAdmission } from "./updateAdmission.ts";
import type { ClientIdOwners, Refusal, UpdateRequest, Verdict } from "./verdict.ts";

/** Sync step 2 answers are kept for clients that reconnect at once with the same state. The size includes the state vector (RT81). */
const maxKeptAnswers = 4;
const maxKeptAnswerBytes = 2 * 1024 * 1024;

/** An edit whose update was `refused` has changed the document all the same and must be reverted. */
export type JudgedEdit = EditOutcome<unknown> | { readonly kind: "refused"; readonly refusal: Refusal };

export interface LiveDocumentOptions<Sender> {
  readonly loaded: LoadedDocument;
  readonly limits: RoomLimits;
  readonly clientIds: ClientIdOwners<Sender>;
}

export class LiveDocument<Sender> {
  private readonly limits: RoomLimits;
  private readonly clientIds: ClientIdOwners<Sender>;
  private content: Y.Doc;
  private size: DocumentSize;
  private admission: UpdateAdmission<Sender>;
  private currentRevision: number;
  private judged = 0;
  /** Recent answers by state vector. */
  private readonly answers = new Map<string, Uint8Array>();

  constructor({ loaded, limits, clientIds }: LiveDocumentOptions<Sender>) {
    this.limits = limits;
    this.clientIds = clientIds;
    this.content = openDocument(loaded);
    this.size = new DocumentSize(this.content, encodedBytes(loaded));
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

  /** Number of updates judged so far. An update that was judged meanwhile is not valid after `replace`. */
  get judgedUpdates(): number {
    return this.judged;
  }

  judge(request: UpdateRequest<Sender>): Verdict<Sender> {
    this.judged += 1;
    return this.admission.judge(request);
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
    const applied = this.apply(batch, editUpdate);
    this.admission.batchApplied();
    this.currentRevision = revision;
    return applied;
  }

  /** Takes over the update of a server edit that was appended alone. The document contains it already. */
  applyEdit(editUpdate: Uint8Array, revision: number): AppliedBatch<Sender> {
    this.currentRevision = revision;
    return this.apply([], editUpdate);
  }

  /** Applies updates that other nodes appended. They may build on each other in any order. */
  applyRemote(updates: readonly Uint8Array[], revision: number): AppliedBatch<Sender> {
    const applied = this.apply(updates.map((update) => ({ update, mayBePending: true })));
    // The text size of remote updates is unknown, so the whole update counts as text until the next full measurement.
    for (const update of updates) this.size.grow({ bytes: update, textBytes: update.length });
    this.currentRevision = Math.max(this.currentRevision, revision);
    return applied;
  }

  /**
   * Runs a change by the server in one transaction and judges it by the rules for client updates. After "changed",
   * "refused" and a dirty "failed" the document is ahead of the log. `once`: skip the change if the document already has
   * content of `clientId`.
   */
  edit(clientId: number | undefined, once: boolean, change: (document: Y.Doc, revision: number) => unknown): JudgedEdit {
    const outcome = runServerEdit(this.content, clientId, once, () => change(this.content, this.currentRevision));
    if (outcome.kind !== "changed") return outcome;
    const inspected = inspectUpdate(outcome.update, this.limits);
    if (inspected.kind === "refused") {
      return { kind: "refused", refusal: { code: "content_not_accepted", detail: inspected.detail } };
    }
    const refusal = this.admission.judgeApplied(inspected.update);
    return refusal === undefined ? outcome : { kind: "refused", refusal };
  }

  /** Replaces the document by another loaded state. Updates that were admitted and not applied are forgotten. */
  replace(loaded: LoadedDocument): void {
    this.content.destroy();
    this.content = openDocument(loaded);
    this.size = new DocumentSize(this.content, encodedBytes(loaded));
    this.admission = this.createAdmission();
    this.currentRevision = loaded.revision;
  }

  read<T>(read: (document: Y.Doc, revision: number) => T): T {
    return read(this.content, this.currentRevision);
  }

  stateVector(): Uint8Array {
    return Y.encodeStateVector(this.content);
  }

  /** Encodes what a client with this state vector lacks (sync step 2). */
  encodeAnswer(stateVector: Uint8Array): Uint8Array {
    if (stateVector.length > maxKeptAnswerBytes) return encodeIntegrated(this.content, stateVector);
    const key = Buffer.from(stateVector).toString("latin1");
    const known = this.answers.get(key);
    if (known !== undefined) return known;
    const answer = encodeIntegrated(this.content, stateVector);
    if (this.answers.size >= maxKeptAnswers) this.answers.clear();
    if (stateVector.length + answer.length <= maxKeptAnswerBytes) this.answers.set(key, answer);
    return answer;
  }

  forgetAnswers(): void {
    this.answers.clear();
  }

  /** Encodes the whole document as a snapshot. Undefined while pending updates cannot be separated from it. */
  encodeSnapshot(): Uint8Array | undefined {
    const state = encodeWhole(this.content);
    if (state !== undefined) this.size.encodedIs(state.length, this.admission.queuedBytes);
    return state;
  }

  destroy(): void {
    this.content.destroy();
  }

  private apply(batch: readonly BatchedUpdate<Sender>[], editUpdate?: Uint8Array): AppliedBatch<Sender> {
    this.answers.clear();
    return applyBatch(this.content, batch, editUpdate);
  }

  private createAdmission(): UpdateAdmission<Sender> {
    const { content: document, size, limits, clientIds } = this;
    return new UpdateAdmission<Sender>({ document, size, limits, clientIds });
  }
}
