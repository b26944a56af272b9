/**
 * UpdateAdmission decides whether one inspected update may be queued. It checks that the update has new content, that the
 * sender may write under its client ids, that it builds on nothing refused, and that the document's limits allow it.
 *
 * It judges against the durable document plus the updates that were admitted and are not yet applied. It changes only its
 * own records. Appending, applying and answering belong to the room.
 */
import * as Y from "yjs";
import type { ArticleFile } from "../../api/schema/article.ts";
import type { RoomLimits } from "../ports.ts";
import { cutContentOfOthers } from "./cutContentOfOthers.ts";
import { cutKnownContent } from "./cutKnownContent.ts";
import type { DocumentSize } from "./documentSize.ts";
import type { ClockRange, InspectedUpdate, Section } from "./inspectUpdate.ts";
import type { PlainUpdate } from "./plainUpdate.ts";
import { RefusedClocks } from "./refusedClocks.ts";
import { type ClientIdOwners, type Refusal, refused, type UpdateRequest, type Verdict } from "./verdict.ts";

/** Minimum bytes counted for a pending update. Yjs merges it with all others, so many small ones cost more than their bytes. */
const minPendingBytes = 1024;
/** An update that got the verdict "wait" this often is judged finally, without the updates that are still queued. */
const maxWaits = 8;

interface Queued {
  /** Clock of each client id after the queued updates are applied. */
  clocks: Map<number, number>;
  textBytes: number;
  bytes: number;
}

const nothingQueued = (): Queued => ({ clocks: new Map(), textBytes: 0, bytes: 0 });

const tooManyClientIds = (limits: RoomLimits) =>
  refused("content_too_large", `A document may hold text of at most ${limits["document.clientIds"]} client ids.`);
const documentTooLarge = (limits: RoomLimits) =>
  refused("content_too_large", `A document may have at most ${limits["document.bytes"]} bytes in Yjs encoding.`);
const fileTooLarge = (file: ArticleFile, limits: RoomLimits) =>
  refused("content_too_large", `${file} may have at most ${limits["article.file"]} bytes of UTF-8 text.`);

export interface UpdateAdmissionOptions<Sender> {
  /** Clock of each client id in the durable document. LiveDocument updates it when a batch is applied. */
  readonly clocks: ReadonlyMap<number, number>;
  /** Client id under which the server itself writes. */
  readonly serverClientId: () => number;
  /** Returns the durable document. It may have to be built, so it is asked for only where the clocks do not suffice. */
  readonly build: () => Y.Doc;
  /** Bytes of stored updates that wait for missing content. */
  readonly pendingBytes: () => number;
  readonly size: DocumentSize;
  readonly limits: RoomLimits;
  readonly clientIds: ClientIdOwners<Sender>;
}

export class UpdateAdmission<Sender> {
  private readonly options: UpdateAdmissionOptions<Sender>;
  private readonly clocks: ReadonlyMap<number, number>;
  private readonly size: DocumentSize;
  private readonly limits: RoomLimits;
  private readonly clientIds: ClientIdOwners<Sender>;
  private refusedClocks = new RefusedClocks();
  /** Updates of the batch that is being gathered, and of the batch that is being appended. */
  private gathering = nothingQueued();
  private inFlight = nothingQueued();
  private pendingBytes: number;

  constructor(options: UpdateAdmissionOptions<Sender>) {
    this.options = options;
    this.clocks = options.clocks;
    this.size = options.size;
    this.limits = options.limits;
    this.clientIds = options.clientIds;
    this.pendingBytes = options.pendingBytes();
  }

  /** Bytes of updates that are admitted and not yet applied. */
  get queuedBytes(): number {
    return this.gathering.bytes + this.inFlight.bytes;
  }

  get hasRefusedClocks(): boolean {
    return !this.refusedClocks.isEmpty;
  }

  /** Must be called when the gathered batch is being appended. Later updates belong to the next batch. */
  batchStarted(): void {
    this.inFlight = this.gathering;
    this.gathering = nothingQueued();
  }

  /** Clock of each client id that the batch contains, as it will be when the batch is applied. */
  get startedClocks(): ReadonlyMap<number, number> {
    return this.inFlight.clocks;
  }

  batchApplied(): void {
    this.inFlight = nothingQueued();
    const pending = this.options.pendingBytes();
    this.pendingBytes = pending === 0 ? 0 : Math.max(pending, this.pendingBytes);
  }

  /** Takes over what `before` admitted and refused on the same durable document. No batch may be in progress. */
  takeOver(before: UpdateAdmission<Sender>): void {
    this.gathering = before.gathering;
    this.refusedClocks = before.refusedClocks;
    this.pendingBytes = Math.max(this.pendingBytes, before.pendingBytes);
    this.size.growBy(this.gathering.bytes, this.gathering.textBytes);
  }

  judge(request: UpdateRequest<Sender>): Verdict<Sender> {
    if (this.usesServerClocks(request.update)) {
      return refused("content_not_accepted", `The client id ${this.options.serverClientId()} is the server's own.`);
    }
    const own = cutContentOfOthers(request, this.clientIds, (clientId) => this.knownClock(clientId), this.limits);
    if (own.kind === "refused") return own;
    const { owners, awaitsOtherNodes } = own;
    const isNew = (section: Section) => section.to > this.knownClock(section.clientId);
    if (!own.update.sections.some(isNew)) {
      const deletions = this.judgeDeletions(own.update, request);
      if (deletions === "known") return { kind: "known", owners, awaitsOtherNodes };
      if (deletions === "wait") return { kind: "wait" };
    }
    const update = cutKnownContent(own.update, (clientId) => this.knownClock(clientId), this.limits);
    const added = update.sections.filter(isNew);
    // Missing content is judged last, because that check also counts the update's bytes as pending.
    const missing = this.findMissing(update, added);
    const verdict =
      this.judgeClientIds(added) ??
      this.judgeSize(update, request, added) ??
      (missing.length > 0 ? this.judgeMissing(missing, request) : undefined);
    if (verdict === undefined) {
      this.admit(update);
      return { kind: "admitted", update, mayBePending: missing.length > 0, owners, awaitsOtherNodes };
    }
    if (verdict.kind === "refused") this.refuse(added, request.sender);
    return verdict;
  }

  /**
   * Admits an ordinary keystroke of the sender's own client id. Returns false, and changes nothing, when `judge` has to
   * decide: when the sender does not own the client id, when content is missing or known, or when a limit may be reached.
   */
  admitPlain(plain: PlainUpdate, sender: Sender): boolean {
    const { clientId, from, to, textBytes, bytes } = plain;
    const { limits, size } = this;
    if (!this.isKnown(plain.deletedId, plain.deletedTo)) return false;
    if (clientId === -1) {
      if (this.isDeleted({ clientId: plain.deletedId, from: plain.deletedFrom, to: plain.deletedTo })) return false;
    } else {
      if (clientId === this.options.serverClientId() || this.clientIds.ownerOf(clientId) !== sender) return false;
      if (from === 0 || from !== this.knownClock(clientId)) return false;
      if (!this.isKnown(plain.leftId, plain.leftClock + 1) || !this.isKnown(plain.rightId, plain.rightClock + 1)) return false;
      if (!size.staysBelow(bytes.length, limits["document.bytes"], textBytes, limits["article.file"])) return false;
      this.gathering.clocks.set(clientId, to);
    }
    this.gathering.bytes += bytes.length;
    this.gathering.textBytes += textBytes;
    size.growBy(bytes.length, textBytes);
    return true;
  }

  /** Counts and judges an update that a server edit has already applied to the document. */
  judgeApplied(update: InspectedUpdate): Refusal | undefined {
    const { limits, size } = this;
    size.growBy(update.bytes.length, update.textBytes);
    if (update.textBytes === 0) return undefined;
    if (this.clocks.size > limits["document.clientIds"]) return tooManyClientIds(limits).refusal;
    if (!size.documentHas(0, this.queuedBytes, limits["document.bytes"])) return documentTooLarge(limits).refusal;
    const maxBytes = limits["article.file"];
    if (size.filesHave(0, this.queuedTextBytes, maxBytes)) return undefined;
    const file = size.overfilled(maxBytes - this.queuedTextBytes);
    return file === undefined ? undefined : fileTooLarge(file, limits).refusal;
  }

  /** Records refused clocks, so that updates that build on them are refused too. */
  refuse(clocks: readonly ClockRange[], sender: Sender | undefined): void {
    for (const range of clocks) {
      const owner = this.clientIds.ownerOf(range.clientId);
      // A refused update must not block the owner of a client id that a different sender used.
      if (owner === undefined || owner === sender) this.refusedClocks.add(range);
    }
  }

  private get queuedTextBytes(): number {
    return this.gathering.textBytes + this.inFlight.textBytes;
  }

  /** Clock up to which the content of a client id is durable or queued. */
  private knownClock(clientId: number): number {
    const queued = Math.max(this.gathering.clocks.get(clientId) ?? 0, this.inFlight.clocks.get(clientId) ?? 0);
    return Math.max(queued, this.clocks.get(clientId) ?? 0);
  }

  /** True when the clocks below `to` are durable or queued, and when there is no such part (client id -1). */
  private isKnown(clientId: number, to: number): boolean {
    return clientId === -1 || to <= this.knownClock(clientId);
  }

  /** Clock of the client id after the section is applied: content behind an unfilled gap does not count. */
  private clockAfter(section: Section): number {
    const known = this.knownClock(section.clientId);
    if (section.from > known) return known;
    for (const skip of section.skips) if (skip.to > known) return Math.max(known, Math.min(skip.from, section.to));
    return Math.max(known, section.to);
  }

  /**
   * True when an update claims or builds on clocks of the server's own client id that the server has not written yet. No
   * honest client can know them. If it were kept as pending, readers would integrate it as soon as the server writes those
   * clocks, but the server itself only with the next update, so their documents would differ.
   */
  private usesServerClocks({ sections, deletes, buildsOn }: InspectedUpdate): boolean {
    const serverClientId = this.options.serverClientId();
    const known = this.knownClock(serverClientId);
    const isAhead = ({ clientId, to }: ClockRange) => clientId === serverClientId && to > known;
    return sections.some(isAhead) || deletes.some(isAhead) || (buildsOn.get(serverClientId) ?? -1) >= known;
  }

  private judgeDeletions(update: InspectedUpdate, { isSyncStep2, waits }: UpdateRequest<Sender>): "new" | "known" | "wait" {
    if (update.deletes.every((range) => this.isDeleted(range))) return "known";
    // A sync step 2 repeats every deletion that the client knows. Deletions that are only queued are no reason to store it.
    return isSyncStep2 && this.queuedBytes > 0 && waits < maxWaits ? "wait" : "new";
  }

  private isDeleted({ clientId, from, to }: ClockRange): boolean {
    if (to > (this.clocks.get(clientId) ?? 0)) return false;
    const structs = this.options.build().store.clients.get(clientId);
    if (structs === undefined) return false;
    for (let at = Y.findIndexSS(structs, from); at < structs.length; at += 1) {
      const struct = structs[at];
      if (struct === undefined || struct.id.clock >= to) return true;
      if (!struct.deleted) return false;
    }
    return true;
  }

  private findMissing(update: InspectedUpdate, added: readonly Section[]): readonly ClockRange[] {
    const clocks = new Map(added.map((section) => [section.clientId, this.clockAfter(section)]));
    const missing: ClockRange[] = [];
    const need = (clientId: number, to: number) => {
      const from = clocks.get(clientId) ?? this.knownClock(clientId);
      if (to > from) missing.push({ clientId, from, to });
    };
    for (const section of added) need(section.clientId, section.to);
    if (added.length > 0) for (const [clientId, clock] of update.buildsOn) need(clientId, clock + 1);
    for (const range of update.deletes) need(range.clientId, range.to);
    return missing;
  }

  private judgeMissing(
    missing: readonly ClockRange[],
    { afterRefusal, owesSyncStep2, update }: UpdateRequest<Sender>,
  ): Verdict<Sender> | undefined {
    if (afterRefusal || missing.some((range) => this.refusedClocks.overlap(range))) {
      return refused("content_not_accepted", "The update builds on one that was refused. Copy the text, then reload the document.");
    }
    const bytes = Math.max(update.bytes.length, minPendingBytes);
    if (this.pendingBytes + bytes > this.limits["document.pending"]) {
      if (owesSyncStep2) return { kind: "deferred" };
      return refused("content_not_accepted", "The update builds on text that never came, and too much of that is kept already.");
    }
    this.pendingBytes += bytes;
    return undefined;
  }

  private judgeClientIds(added: readonly Section[]): Verdict<Sender> | undefined {
    const isNew = (clientId: number) => !this.clocks.has(clientId);
    const newIds = added.reduce((count, { clientId }) => count + (this.knownClock(clientId) === 0 ? 1 : 0), 0);
    if (newIds === 0) return undefined;
    let count = this.clocks.size + newIds;
    for (const clientId of this.inFlight.clocks.keys()) if (isNew(clientId)) count += 1;
    for (const clientId of this.gathering.clocks.keys()) if (isNew(clientId) && !this.inFlight.clocks.has(clientId)) count += 1;
    return count > this.limits["document.clientIds"] ? tooManyClientIds(this.limits) : undefined;
  }

  private judgeSize(update: InspectedUpdate, { waits }: UpdateRequest<Sender>, added: readonly Section[]): Verdict<Sender> | undefined {
    if (added.length === 0) return undefined;
    const { size, limits } = this;
    if (!size.documentHas(update.bytes.length, this.queuedBytes, limits["document.bytes"])) return documentTooLarge(limits);
    const { queuedTextBytes } = this;
    const maxBytes = limits["article.file"];
    if (update.textBytes === 0 || size.filesHave(update.textBytes, queuedTextBytes, maxBytes)) return undefined;
    if (this.queuedBytes > 0 && waits < maxWaits) return { kind: "wait" };
    const file = size.overfilledBy(update, maxBytes - queuedTextBytes);
    return file === undefined ? undefined : fileTooLarge(file, limits);
  }

  private admit(update: InspectedUpdate): void {
    for (const section of update.sections) this.gathering.clocks.set(section.clientId, this.clockAfter(section));
    this.gathering.bytes += update.bytes.length;
    this.gathering.textBytes += update.textBytes;
    this.size.growBy(update.bytes.length, update.textBytes);
  }
}
