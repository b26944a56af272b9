/**
 * Decides about one inspected update before it is queued: is there anything new in it, may this speaker say it,
 * does it build on something refused, does the document have room for it.
 *
 * It sees the document as it is durable, and on top what was admitted since and is not yet applied. It changes
 * nothing but its own books: appending, applying and answering are the room's.
 */
import * as Y from "yjs";
import type { ArticleFile } from "../api/schema/article.ts";
import type { DocumentMeasure } from "./documentMeasure.ts";
import type { ClockRange, InspectedUpdate, Section } from "./inspectUpdate.ts";
import type { RoomLimits } from "./ports.ts";
import { trimUpdate } from "./trimUpdate.ts";

export interface Refusal {
  readonly code: "content_not_accepted" | "content_too_large" | "payload_too_large";
  readonly detail: string;
}

export type Verdict<Speaker> =
  /** `update` is what to store, `isEarly`: and what it builds on is not there yet; `owners` say for themselves what was left out. */
  | { readonly kind: "admitted"; readonly update: InspectedUpdate; readonly isEarly: boolean; readonly owners: readonly Speaker[] }
  /** Nothing of it is left to store: it is durable, on its way, or its owners' to say. */
  | { readonly kind: "known"; readonly owners: readonly Speaker[] }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** Ask again when what is queued has been applied. */
  | { readonly kind: "wait" }
  /** What it builds on is not here and too much waits already: the answer that its speaker owes says it again. */
  | { readonly kind: "left" };

export interface Question<Speaker> {
  readonly update: InspectedUpdate;
  /** Absent for what comes by request. */
  readonly speaker?: Speaker | undefined;
  /** The whole of what a client has, as against a change it just made. */
  readonly isAnswer: boolean;
  /** Something this speaker said before was refused. */
  readonly afterRefusal: boolean;
  /** The speaker has not yet said what it had before it came: what is missing is on its way, and this once more with it. */
  readonly owesAnswer: boolean;
  /** How often it was told to wait; in the end the answer must be final. */
  readonly waited: number;
}

/** Each pending update is merged with all others in Yjs, so many small ones cost more than their bytes. */
const pendingWeight = 1024;
const maxWaits = 8;
const maxRefusedClients = 1024;

interface Queued {
  /** Clock that each client will have reached. */
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
  readonly measure: DocumentMeasure;
  readonly limits: RoomLimits;
  /** The live, writing speaker that a client id belongs to. */
  readonly ownerOf: (clientId: number) => Speaker | undefined;
  /** They are the same author: what one of them has not said, the other may. */
  readonly maySpeakFor: (speaker: Speaker, owner: Speaker) => boolean;
  /** Somebody else's live socket on another node speaks under this client id. */
  readonly isElsewhere: (clientId: number, speaker: Speaker | undefined) => boolean;
}

export class Admission<Speaker> {
  private readonly document: Y.Doc;
  private readonly measure: DocumentMeasure;
  private readonly limits: RoomLimits;
  private readonly ownerOf: (clientId: number) => Speaker | undefined;
  private readonly maySpeakFor: (speaker: Speaker, owner: Speaker) => boolean;
  private readonly isElsewhere: (clientId: number, speaker: Speaker | undefined) => boolean;
  private gathering = nothingQueued();
  private inFlight = nothingQueued();
  private pendingBytes: number;
  /** Clocks that were refused and are still missing. */
  private readonly refusedClocks = new Map<number, { from: number; to: number }>();

  constructor({ document, measure, limits, ownerOf, maySpeakFor, isElsewhere }: AdmissionOptions<Speaker>) {
    this.document = document;
    this.measure = measure;
    this.limits = limits;
    this.ownerOf = ownerOf;
    this.maySpeakFor = maySpeakFor;
    this.isElsewhere = isElsewhere;
    this.pendingBytes = pendingBytesOf(document);
  }

  /** Bytes admitted and not yet durable. */
  get queuedBytes(): number {
    return this.gathering.bytes + this.inFlight.bytes;
  }

  /** What was gathered is being appended; what comes now belongs to the next batch. */
  batchStarted(): void {
    this.inFlight = this.gathering;
    this.gathering = nothingQueued();
  }

  batchApplied(): void {
    this.inFlight = nothingQueued();
    const pending = pendingBytesOf(this.document);
    this.pendingBytes = pending === 0 ? 0 : Math.max(pending, this.pendingBytes);
  }

  judge(question: Question<Speaker>): Verdict<Speaker> {
    if (this.foresees(question.update)) {
      return refused("content_not_accepted", `The client id ${this.document.clientID} is the server's own.`);
    }
    const owned = this.leaveToOwners(question);
    if (owned.kind === "refused") return owned;
    const { update, owners } = owned;
    const news = update.sections.filter((section) => section.to > this.known(section.clientId));
    if (news.length === 0) {
      const deletion = this.judgeDeletes(update, question);
      if (deletion === "known") return { kind: "known", owners };
      if (deletion === "wait") return { kind: "wait" };
    }
    // What is missing comes last: it is booked as pending once nothing else speaks against it.
    const missing = this.findMissing(update, news);
    const verdict =
      this.judgeClientIds(news) ??
      this.judgeSize(update, question, news) ??
      (missing.length > 0 ? this.judgeMissing(missing, question) : undefined);
    if (verdict === undefined) {
      this.admit(update);
      return { kind: "admitted", update, isEarly: missing.length > 0, owners };
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

  /** The clock a client has reached once the section is applied. */
  private reachWith(section: Section): number {
    const known = this.known(section.clientId);
    if (section.from > known) return known;
    for (const skip of section.skips) if (skip.to > known) return Math.max(known, Math.min(skip.from, section.to));
    return Math.max(known, section.to);
  }

  /**
   * New text under the client id of somebody else's live socket would make the document deaf to what that socket
   * says next. It may be honest (clients healing a loss together), so text is left out and its owner asked instead;
   * clocks without text are honest only in an answer, which says everything a client has. An author's own sockets
   * speak for each other: one of them may be dead without anybody knowing, and the one that came after it is told
   * that all it said is stored. An owner on another node says it there: nobody has to be asked.
   */
  private leaveToOwners({ update, speaker, isAnswer }: Question<Speaker>) {
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
    if (owners.size === 0) return { kind: "left", update, owners: [] } as const;
    if (speaker === undefined || (runs && !isAnswer)) {
      const [clientId] = owners.keys();
      return refused("content_not_accepted", `The client id ${clientId} belongs to another open socket.`);
    }
    const trimmed = trimUpdate(update, (clientId) => (owners.has(clientId) ? this.known(clientId) : undefined), this.limits);
    return { kind: "left", update: trimmed, owners: [...new Set(owners.values())].filter((owner) => owner !== undefined) } as const;
  }

  /**
   * Nobody can know what the server itself has not written yet. Text kept for later under its client id, or beside it,
   * would come out at every reader as soon as the server writes, and at the server not before the next update.
   */
  private foresees({ sections, deletes, buildsOn }: InspectedUpdate): boolean {
    const { clientID } = this.document;
    const known = this.known(clientID);
    const isAhead = ({ clientId, to }: ClockRange) => clientId === clientID && to > known;
    return sections.some(isAhead) || deletes.some(isAhead) || (buildsOn.get(clientID) ?? -1) >= known;
  }

  private judgeDeletes(update: InspectedUpdate, { isAnswer, waited }: Question<Speaker>): "news" | "known" | "wait" {
    if (update.deletes.every((range) => this.isDeleted(range))) return "known";
    // A client's answer repeats every deletion it knows; those on their way are no reason to store it.
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
    { afterRefusal, owesAnswer, update }: Question<Speaker>,
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

  private judgeSize(update: InspectedUpdate, { waited }: Question<Speaker>, news: readonly Section[]): Verdict<Speaker> | undefined {
    if (news.length === 0) return undefined;
    const { measure, limits } = this;
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
    this.measure.grow(update);
  }

  /** Judges, and books, what a server edit has put into the document already. */
  judgeApplied(update: InspectedUpdate): Refusal | undefined {
    const { document, limits, measure } = this;
    measure.grow(update);
    if (update.textBytes === 0) return undefined;
    if (document.store.clients.size > limits["document.clientIds"]) return tooManyClientIds(limits).refusal;
    if (!measure.documentHas(0, this.queuedBytes, limits["document.bytes"])) return documentTooLarge(limits).refusal;
    const maxBytes = limits["article.file"];
    if (measure.filesHave(0, this.queuedText, maxBytes)) return undefined;
    const file = measure.overfilled(maxBytes - this.queuedText);
    return file === undefined ? undefined : fileTooLarge(file, limits).refusal;
  }

  /** These clocks were refused: nothing that builds on them will be kept. */
  refuse(claims: readonly ClockRange[], speaker: Speaker | undefined): void {
    for (const { clientId, from, to } of claims) {
      const owner = this.ownerOf(clientId);
      // What somebody says in another's name must not stand in the way of the other.
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
