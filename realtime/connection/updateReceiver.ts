/**
 * UpdateReceiver inspects the updates that one client sends and submits them to the room. It reports refusals to the client
 * and knows what the client has not answered yet.
 *
 * Whether an update is admitted is decided by the room.
 */
import type { Author } from "../../api/schema/article.ts";
import { type ClockRange, claimedClocks, type InspectedUpdate, inspectUpdate } from "../document/inspectUpdate.ts";
import type { PlainUpdate } from "../document/plainUpdate.ts";
import type { CutContent, Refusal, UpdateRequest } from "../document/verdict.ts";
import type { RoomLimits } from "../ports.ts";
import { writePermissionDenied, writeRefusal } from "../protocol.ts";
import { Refusals } from "./refusals.ts";
import { SyncProgress } from "./syncProgress.ts";

/** What the room decided about an update. */
export type SubmitOutcome =
  | ({ readonly kind: "admitted" | "known" } & CutContent<unknown>)
  | { readonly kind: "wait" | "deferred" | "overflow" }
  | { readonly kind: "refused"; readonly refusal: Refusal };

/** True if content of another author's client id was cut out of the update. */
function isCutBy(outcome: SubmitOutcome): boolean {
  return (outcome.kind === "admitted" || outcome.kind === "known") && (outcome.owners.length > 0 || outcome.awaitsOtherNodes);
}

/** The part of the room that UpdateReceiver uses. */
export interface UpdateRoom<Sender> {
  submit(request: UpdateRequest<Sender>, author: Author): SubmitOutcome;
  /** Queues an ordinary keystroke, as `submit` would. False: it must be inspected and submitted. */
  submitPlain(plain: PlainUpdate, sender: Sender): boolean;
  /** Records clocks of an update that was refused before `submit`, so that updates that build on them are refused too. */
  refuse(clocks: readonly ClockRange[], sender: Sender): void;
  countRefusal(code: string): void;
  whenSettled(run: (revision: number) => void): void;
}

/** The part of the sending connection that UpdateReceiver uses. */
export interface UpdateSender {
  readonly identity: { readonly author: Author; readonly mayWrite: boolean };
  readonly extensions: boolean;
  /** False until the client has answered a sync step 1 that it got after it connected or was allowed to write. */
  hasAnswered: boolean;
  deliver(frame: Uint8Array): void;
  acknowledge(revision: number): void;
  close(code: number, reason: string): void;
  /** Answers a sync step 1 of the client when everything received before is durable. */
  answer(stateVector: Uint8Array): void;
  /** Runs `retry` when the room is settled, and holds all later frames until then. */
  retryWhenSettled(retry: () => void): void;
}

/** `isRequested`: a sync step 2 that answers a sync step 1 of the server. */
interface ReceivedUpdate {
  readonly update: InspectedUpdate;
  readonly isSyncStep2: boolean;
  readonly isRequested: boolean;
}

export class UpdateReceiver<Sender extends UpdateSender> {
  readonly sync = new SyncProgress();
  private readonly refusals = new Refusals();
  /** True while an acknowledgement waits for the room to settle. */
  private isAcknowledging = false;
  /** A known update arrived meanwhile. It may be acknowledged only after the room has settled once more. */
  private mustAcknowledgeAgain = false;
  private readonly sender: Sender;
  private readonly room: UpdateRoom<Sender>;
  private readonly limits: RoomLimits;

  constructor(sender: Sender, room: UpdateRoom<Sender>, limits: RoomLimits) {
    this.sender = sender;
    this.room = room;
    this.limits = limits;
  }

  get hasRefused(): boolean {
    return this.refusals.hasRefused;
  }

  /** True if a new receiver would handle further updates in the same way. */
  mayDrop(nowMs: number): boolean {
    return !this.isAcknowledging && this.sync.mayDrop(nowMs) && this.refusals.mayDrop(nowMs);
  }

  receive(bytes: Uint8Array, isSyncStep2: boolean, nowMs: number): void {
    const isRequested = isSyncStep2 && this.sync.countAnswer();
    if (!this.sender.identity.mayWrite) {
      this.denyReader(bytes, nowMs);
      if (isRequested) this.answerHandled(false);
      return;
    }
    const maxBytes = this.limits[isRequested ? "frame.bytes" : "frame.update"];
    const inspected = bytes.length > maxBytes ? undefined : inspectUpdate(bytes, this.limits);
    if (inspected?.kind === "accepted") {
      this.submit({ update: inspected.update, isSyncStep2, isRequested }, 0);
      return;
    }
    this.room.refuse(claimedClocks(bytes), this.sender);
    if (isRequested) this.answerHandled(false);
    if (inspected !== undefined) this.refuse({ code: "content_not_accepted", detail: inspected.detail });
    else this.refuse({ code: "payload_too_large", detail: `An update may have at most ${maxBytes} bytes.` });
  }

  /**
   * Must be called when the client may no longer write. The server asks a reader for nothing, so what it lacks of this client
   * is denied, and the sync step 1 that waited for it is answered after the denial.
   */
  stopWriting(): void {
    if (!this.sync.waitsForQuestion) return;
    this.deny();
    this.answerHandled(false);
  }

  private submit(received: ReceivedUpdate, waits: number): void {
    const { update, isSyncStep2, isRequested } = received;
    const { sender } = this;
    const owesSyncStep2 = !sender.hasAnswered && !isSyncStep2;
    const request = { update, sender, isSyncStep2, afterRefusal: this.refusals.hasRefused, owesSyncStep2, waits };
    const outcome = this.room.submit(request, sender.identity.author);
    const wasCut = this.sync.isCut;
    const isCut = isCutBy(outcome);
    if (isCut) this.sync.cut();
    if (isRequested && outcome.kind !== "wait" && outcome.kind !== "overflow") this.answerHandled(isCut);
    switch (outcome.kind) {
      case "admitted":
        break;
      case "overflow":
        sender.close(1013, "the document cannot be written as fast");
        break;
      case "known":
        if (!isSyncStep2 || wasCut) this.acknowledgeKnown();
        break;
      case "refused":
        this.refuse(outcome.refusal);
        break;
      case "wait":
        sender.retryWhenSettled(() => this.submit(received, waits + 1));
        break;
      case "deferred":
        this.sync.defer();
        break;
    }
    // The client may have lost the right to write while the update waited.
    if (!sender.identity.mayWrite) this.stopWriting();
  }

  /**
   * Acknowledges a known update when everything received before it is durable. At most one acknowledgement waits for that,
   * because a client may repeat an update many times while the store does not answer (RT103).
   */
  private acknowledgeKnown(): void {
    if (this.isAcknowledging) {
      this.mustAcknowledgeAgain = true;
      return;
    }
    this.isAcknowledging = true;
    this.room.whenSettled((revision) => {
      this.isAcknowledging = false;
      this.sender.acknowledge(revision);
      if (!this.mustAcknowledgeAgain) return;
      this.mustAcknowledgeAgain = false;
      this.acknowledgeKnown();
    });
  }

  private answerHandled(isCut: boolean): void {
    this.sender.hasAnswered = true;
    const stateVector = this.sync.answerHandled(isCut);
    if (stateVector !== undefined) this.sender.answer(stateVector);
  }

  private refuse(refusal: Refusal): void {
    const close = this.refusals.add(refusal);
    this.reportRefusal(refusal.code, refusal.detail);
    // After a refusal the server sends no more sync step 1. A deferred update can then arrive only after a reconnect.
    if (this.sync.isStuck) this.sender.close(1013, "the document cannot be written as fast");
    if (close !== undefined) this.sender.close(close.code, close.reason);
  }

  private denyReader(bytes: Uint8Array, nowMs: number): void {
    // An update of at most 2 bytes is empty: the client has nothing that the server lacks.
    if (bytes.length > 2 && this.refusals.mayDeny(nowMs)) this.deny();
  }

  private deny(): void {
    this.reportRefusal("insufficient_permission", "This credential may read the article and not write it.");
  }

  private reportRefusal(code: string, detail: string): void {
    this.room.countRefusal(code);
    this.sender.deliver(writePermissionDenied(detail));
    if (this.sender.extensions) this.sender.deliver(writeRefusal(code, detail));
  }
}
