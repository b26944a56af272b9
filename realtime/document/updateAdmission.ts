/**
 * Admission decides whether one inspected update may be queued. It checks that the update has new content, that the
 * speaker may write under its client ids, that it builds on nothing refused, and that the document's limits allow it.
 *
 * It judges against the durable document plus the updates that were admitted and are not yet applied. It changes only its
 * own records. Appending, applying and answering belong to the room.
 */
import * as Y from "yjs";
import type { ArticleFile } from "../../api/schema/article.ts";
import type { RoomLimits } from "../ports.ts";
import type { DocumentSize } from "./documentSize.ts";
import type { ClockRange, InspectedUpdate, Section } from "./inspectUpdate.ts";
import { trimUpdate } from "./trimUpdate.ts";

export interface Refusal {
  readonly code: "content_not_accepted" | "content_too_large" | "payload_too_large";
  readonly detail: string;
}

interface LeftToOwners<Speaker> {
  readonly owners: readonly Speaker[];
  readonly awaitsNodes: boolean;
}

export type Verdict<Speaker> =
  /**
   * Store `update`. `isEarly`: content that it builds on is still missing. `owners`: speakers whose content was cut out of
   * the update; they must be asked for it in a resync. `awaitsNodes`: content of owners on other nodes was cut out.
   */
  | ({ readonly kind: "admitted"; readonly update: InspectedUpdate; readonly isEarly: boolean } & LeftToOwners<Speaker>)
  /** Nothing is left to store: the content is durable, already queued, or must come from its owners. */
  | ({ readonly kind: "known" } & LeftToOwners<Speaker>)
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** Judge the update again when the queued updates have been applied. */
  | { readonly kind: "wait" }
  /**
   * The update is deferred: content that it builds on is missing, and too many pending bytes are kept already. The speaker
   * resends the update in the sync step 2 that it owes.
   */
  | { readonly kind: "left" };

export interface AdmissionRequest<Speaker> {
  readonly update: InspectedUpdate;
  /** Absent for an update that comes through the HTTP API. */
  readonly speaker?: Speaker | undefined;
  /** The update is a sync step 2: everything the client has, not a change that it just made. */
  readonly isAnswer: boolean;
  /** An earlier update of this speaker was refused. */
  readonly afterRefusal: boolean;
  /** The speaker has not answered sync step 1 yet. Its answer will contain the missing content and this update again. */
  readonly owesAnswer: boolean;
  /** How often this update got the verdict "wait". After `maxWaits` the verdict is final. */
  readonly waited: number;
}

/** Minimum bytes counted for a pending update. Yjs merges it with all others, so many small ones cost more than their bytes. */
const pendingWeight = 1024;
const maxWaits = 8;
const maxRefusedClients = 1024;

interface Queued {
  /** Clock of each client id after the queued updates are applied. */
  reach: Map<number, number>;
  textBytes: number;
  bytes: number;
}

const nothingQueued = (): Queued => ({ reach: new Map(), textBytes: 0, bytes: 0 });

const refused = (code: Refusal["code"], detail: string) => ({ kind: "refused", refusal: { code, detail } }) as const;

const tooManyClientIds = (limits: RoomLimits) =>
  refused("content_too_large", `A document may hold text of at most ${limits["document.clientIds"]} client ids.`);
const documentTooLarge = (limits: RoomLimits) =>
  refused("content_too_large", `A document may have at most ${limits["document.bytes"]} bytes in Yjs encoding.`);
const fileTooLarge = (file: ArticleFile, limits: RoomLimits) =>
  refused("content_too_large", `${file} may have at most ${limits["article.file"]} bytes of UTF-8 text.`);

export interface AdmissionOptions<Speaker> {
  readonly document: Y.Doc;
  readonly size: DocumentSize;
  readonly limits: RoomLimits;
  /** The connected speaker with write access that owns a client id. */
  readonly ownerOf: (clientId: number) => Speaker | undefined;
  /** True when both are the same author, so that `speaker` may write under the client ids of `owner`. */
  readonly maySpeakFor: (speaker: Speaker, owner: Speaker) => boolean;
  /** True when a socket of a different author on another node uses this client id. */
  readonly isElsewhere: (clientId: number, speaker: Speaker | undefined) => boolean;
}

export class Admission<Speaker> {
  private readonly document: Y.Doc;
  private readonly size: DocumentSize;
  private readonly limits: RoomLimits;
  private readonly ownerOf: (clientId: number) => Speaker | undefined;
  private readonly maySpeakFor: (speaker: Speaker, owner: Speaker) => boolean;
  private readonly isElsewhere: (clientId: number, speaker: Speaker | undefined) => boolean;
  private gathering = nothingQueued();
  private inFlight = nothingQueued();
  private pendingBytes: number;
  /** Refused clock range of each client id. An update that needs a missing clock in it is refused too. */
  private readonly refusedClocks = new Map<number, { from: number; to: number }>();

  constructor({ document, size: measure, limits, ownerOf, maySpeakFor, isElsewhere }: AdmissionOptions<Speaker>) {
    this.document = document;
    this.size = measure;
    this.limits = limits;
    this.ownerOf = ownerOf;
    this.maySpeakFor = maySpeakFor;
    this.isElsewhere = isElsewhere;
    this.pendingBytes = pendingBytesOf(document);
  }

  /** Bytes of updates that are admitted and not yet applied. */
  get queuedBytes(): number {
    return this.gathering.bytes + this.inFlight.bytes;
  }

  /** Must be called when the gathered batch is being appended. Later updates belong to the next batch. */
  batchStarted(): void {
    this.inFlight = this.gathering;
    this.gathering = nothingQueued();
  }

  batchApplied(): void {
    this.inFlight = nothingQueued();
    const pending = pendingBytesOf(this.document);
    this.pendingBytes = pending === 0 ? 0 : Math.max(pending, this.pendingBytes);
  }

  judge(question: AdmissionRequest<Speaker>): Verdict<Speaker> {
    if (this.foresees(question.update)) {
      return refused("content_not_accepted", `The client id ${this.document.clientID} is the server's own.`);
    }
    const owned = this.leaveToOwners(question);
    if (owned.kind === "refused") return owned;
    const { update, owners, awaitsNodes } = owned;
    const news = update.sections.filter((section) => section.to > this.known(section.clientId));
    if (news.length === 0) {
      const deletion = this.judgeDeletes(update, question);
      if (deletion === "known") return { kind: "known", owners, awaitsNodes };
      if (deletion === "wait") return { kind: "wait" };
    }
    // Missing content is judged last, because that check also counts the update's bytes as pending.
    const missing = this.findMissing(update, news);
    const verdict =
      this.judgeClientIds(news) ??
      this.judgeSize(update, question, news) ??
      (missing.length > 0 ? this.judgeMissing(missing, question) : undefined);
    if (verdict === undefined) {
      this.admit(update);
      return { kind: "admitted", update, isEarly: missing.length > 0, owners, awaitsNodes };
    }
    if (verdict.kind === "refused") this.refuse(news, question.speaker);
    return verdict;
  }

  private get queuedText(): number {
    return this.gathering.textBytes + this.inFlight.textBytes;
  }

  private known(clientId: number): number {
    const queued = Math.max(this.gathering.reach.get(clientId) ?? 0, this.inFlight.reach.get(clientId) ?? 0);
    return Math.max(queued, Y.getState(this.document.store, clientId));
  }

  /** Clock of the client id after the section is applied: content behind an unfilled gap does not count. */
  private reachWith(section: Section): number {
    const known = this.known(section.clientId);
    if (section.from > known) return known;
    for (const skip of section.skips) if (skip.to > known) return Math.max(known, Math.min(skip.from, section.to));
    return Math.max(known, section.to);
  }

  /**
   * Cuts new content under client ids of other live sockets out of the update. If it were stored, Yjs would ignore what
   * those sockets write next under the same clocks.
   * Such content can be legitimate (clients repair a loss together), so it is cut out and a resync of its owner is
   * requested. Clocks without text are legitimate only in a sync step 2, which contains everything the client has.
   * Sockets of one author may write for each other: an old socket may be dead without being closed, and its successor
   * must get everything that it sent stored. An owner on another node sends its content there, so the
   * speaker is asked again when this node has read it.
   */
  private leaveToOwners({ update, speaker, isAnswer }: AdmissionRequest<Speaker>) {
    const owners = new Map<number, Speaker | undefined>();
    let runs = false;
    const look = (range: ClockRange) => {
      const owner = this.ownerOf(range.clientId);
      if ((owner !== undefined && owner === speaker) || range.to <= this.known(range.clientId)) return false;
      if (owner === undefined && !this.isElsewhere(range.clientId, speaker)) return false;
      if (owner !== undefined && speaker !== undefined && this.maySpeakFor(speaker, owner)) return false;
      owners.set(range.clientId, owner);
      return true;
    };
    for (const section of update.sections) if (look(section)) runs ||= section.hasRuns;
    for (const range of update.deletes) look(range);
    if (owners.size === 0) return { kind: "left", update, owners: [], awaitsNodes: false } as const;
    if (speaker === undefined || (runs && !isAnswer)) {
      const [clientId] = owners.keys();
      return refused("content_not_accepted", `The client id ${clientId} belongs to another open socket.`);
    }
    const trimmed = trimUpdate(update, (clientId) => (owners.has(clientId) ? this.known(clientId) : undefined), this.limits);
    const here = [...new Set(owners.values())].filter((owner) => owner !== undefined);
    return { kind: "left", update: trimmed, owners: here, awaitsNodes: [...owners.values()].includes(undefined) } as const;
  }

  /**
   * True when an update claims or builds on clocks of the server's own client id that the server has not written yet. No
   * honest client can know them. If it were kept as pending, readers would integrate it as soon as the server writes those
   * clocks, but the server itself only with the next update, so their documents would differ.
   */
  private foresees({ sections, deletes, buildsOn }: InspectedUpdate): boolean {
    const { clientID } = this.document;
    const known = this.known(clientID);
    const isAhead = ({ clientId, to }: ClockRange) => clientId === clientID && to > known;
    return sections.some(isAhead) || deletes.some(isAhead) || (buildsOn.get(clientID) ?? -1) >= known;
  }

  private judgeDeletes(update: InspectedUpdate, { isAnswer, waited }: AdmissionRequest<Speaker>): "news" | "known" | "wait" {
    if (update.deletes.every((range) => this.isDeleted(range))) return "known";
    // A sync step 2 repeats every deletion that the client knows. Deletions that are only queued are no reason to store it.
    return isAnswer && this.queuedBytes > 0 && waited < maxWaits ? "wait" : "news";
  }

  private isDeleted({ clientId, from, to }: ClockRange): boolean {
    const structs = this.document.store.clients.get(clientId);
    if (structs === undefined || to > Y.getState(this.document.store, clientId)) return false;
    for (let at = Y.findIndexSS(structs, from); at < structs.length; at += 1) {
      const struct = structs[at];
      if (struct === undefined || struct.id.clock >= to) return true;
      if (!struct.deleted) return false;
    }
    return true;
  }

  private findMissing(update: InspectedUpdate, news: readonly Section[]): readonly ClockRange[] {
    const reach = new Map(news.map((section) => [section.clientId, this.reachWith(section)]));
    const missing: ClockRange[] = [];
    const need = (clientId: number, to: number) => {
      const from = reach.get(clientId) ?? this.known(clientId);
      if (to > from) missing.push({ clientId, from, to });
    };
    for (const section of news) need(section.clientId, section.to);
    if (news.length > 0) for (const [clientId, clock] of update.buildsOn) need(clientId, clock + 1);
    for (const range of update.deletes) need(range.clientId, range.to);
    return missing;
  }

  private judgeMissing(
    missing: readonly ClockRange[],
    { afterRefusal, owesAnswer, update }: AdmissionRequest<Speaker>,
  ): Verdict<Speaker> | undefined {
    const wasRefused = ({ clientId, from, to }: ClockRange) => {
      const range = this.refusedClocks.get(clientId);
      return range !== undefined && range.from < to && from < range.to;
    };
    if (afterRefusal || missing.some(wasRefused)) {
      return refused("content_not_accepted", "The update builds on one that was refused. Reload the document to go on.");
    }
    const weight = Math.max(update.bytes.length, pendingWeight);
    if (this.pendingBytes + weight > this.limits["document.pending"]) {
      if (owesAnswer) return { kind: "left" };
      return refused("content_not_accepted", "The update builds on text that never came, and too much of that is kept already.");
    }
    this.pendingBytes += weight;
    return undefined;
  }

  private judgeClientIds(news: readonly Section[]): Verdict<Speaker> | undefined {
    const isNew = (clientId: number) => !this.document.store.clients.has(clientId);
    const added = news.reduce((count, { clientId }) => count + (this.known(clientId) === 0 ? 1 : 0), 0);
    if (added === 0) return undefined;
    let count = this.document.store.clients.size + added;
    for (const clientId of this.inFlight.reach.keys()) if (isNew(clientId)) count += 1;
    for (const clientId of this.gathering.reach.keys()) if (isNew(clientId) && !this.inFlight.reach.has(clientId)) count += 1;
    return count > this.limits["document.clientIds"] ? tooManyClientIds(this.limits) : undefined;
  }

  private judgeSize(
    update: InspectedUpdate,
    { waited }: AdmissionRequest<Speaker>,
    news: readonly Section[],
  ): Verdict<Speaker> | undefined {
    if (news.length === 0) return undefined;
    const { size: measure, limits } = this;
    if (!measure.documentHas(update.bytes.length, this.queuedBytes, limits["document.bytes"])) {
      return documentTooLarge(limits);
    }
    const { queuedText } = this;
    const maxBytes = limits["article.file"];
    if (update.textBytes === 0 || measure.filesHave(update.textBytes, queuedText, maxBytes)) return undefined;
    if (this.queuedBytes > 0 && waited < maxWaits) return { kind: "wait" };
    const file = measure.overfilledBy(update, maxBytes - queuedText);
    return file === undefined ? undefined : fileTooLarge(file, limits);
  }

  private admit(update: InspectedUpdate): void {
    for (const section of update.sections) this.gathering.reach.set(section.clientId, this.reachWith(section));
    this.gathering.bytes += update.bytes.length;
    this.gathering.textBytes += update.textBytes;
    this.size.grow(update);
  }

  /** Counts and judges an update that a server edit has already applied to the document. */
  judgeApplied(update: InspectedUpdate): Refusal | undefined {
    const { document, limits, size: measure } = this;
    measure.grow(update);
    if (update.textBytes === 0) return undefined;
    if (document.store.clients.size > limits["document.clientIds"]) return tooManyClientIds(limits).refusal;
    if (!measure.documentHas(0, this.queuedBytes, limits["document.bytes"])) return documentTooLarge(limits).refusal;
    const maxBytes = limits["article.file"];
    if (measure.filesHave(0, this.queuedText, maxBytes)) return undefined;
    const file = measure.overfilled(maxBytes - this.queuedText);
    return file === undefined ? undefined : fileTooLarge(file, limits).refusal;
  }

  /** Records refused clocks, so that updates that build on them are refused too. */
  refuse(claims: readonly ClockRange[], speaker: Speaker | undefined): void {
    for (const { clientId, from, to } of claims) {
      const owner = this.ownerOf(clientId);
      // A refused update must not block the owner of a client id that a different speaker used.
      if (owner !== undefined && owner !== speaker) continue;
      const before = this.refusedClocks.get(clientId);
      this.refusedClocks.delete(clientId);
      this.refusedClocks.set(clientId, { from: Math.min(from, before?.from ?? from), to: Math.max(to, before?.to ?? to) });
      if (this.refusedClocks.size > maxRefusedClients) {
        const [oldest] = this.refusedClocks.keys();
        if (oldest !== undefined) this.refusedClocks.delete(oldest);
      }
    }
  }
}

function pendingBytesOf({ store }: Y.Doc): number {
  return (store.pendingStructs?.update.length ?? 0) + (store.pendingDs?.length ?? 0);
}
