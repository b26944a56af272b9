/**
 * Connection handles the frames of one socket in a room: rate limits, refusals, sync answers and presence.
 *
 * Frames are handled in the order of arrival: a frame that has to wait holds back all later frames of the socket. Each
 * sync answer waits until the rate limits and the socket's buffer allow it. A client that reads too slowly is closed,
 * so no frame is ever skipped.
 *
 * Durability, relaying and the document itself belong to the room.
 */

import { claimedClocks, type InspectedUpdate, inspectUpdate } from "../document/inspectUpdate.ts";
import type { Refusal } from "../document/updateAdmission.ts";
import type { Clock, ConnectionIdentity, Peer, RoomLimits } from "../ports.ts";
import {
  type AwarenessEntry,
  type ClientFrame,
  parseAwareness,
  parseFrame,
  writeAck,
  writePermissionDenied,
  writeRefusal,
  writeSyncStep1,
  writeSyncStep2,
} from "../protocol.ts";
import type { Room } from "../room/room.ts";
import { TokenBucket } from "../tokenBucket.ts";

export interface ConnectionOptions {
  readonly room: Room;
  readonly peer: Peer;
  readonly identity: ConnectionIdentity;
  /** The client asked for the extension messages: acknowledgements and machine-readable refusals. */
  readonly extensions: boolean;
  readonly clock: Clock;
  readonly limits: RoomLimits;
  readonly onClosed: (connection: Connection) => void;
}

/** An update that was received. `isAnswer`: it is a sync step 2. `isRequested`: it answers a sync step 1 of the server. */
interface PendingUpdate {
  readonly update: InspectedUpdate;
  readonly isAnswer: boolean;
  readonly isRequested: boolean;
}

const maxRefusals = 3;
const readOnlyAnswerMs = 1000;
const greetingMs = 1000;

export class Connection {
  identity: ConnectionIdentity;
  /** Credential under which this socket was counted when it connected. It stays the same when `identity` changes. */
  readonly credentialId: string;
  readonly extensions: boolean;
  /** When the server last sent sync step 1 (Unix milliseconds). */
  resyncedAtMs = Number.NEGATIVE_INFINITY;
  private readonly room: Room;
  private readonly peer: Peer;
  private readonly clock: Clock;
  private readonly limits: RoomLimits;
  private readonly onClosed: (connection: Connection) => void;
  private readonly frames: TokenBucket;
  private readonly bytes: TokenBucket;
  private readonly answers: TokenBucket;
  private readonly answerBytes: TokenBucket;
  private readonly presenceRate: TokenBucket;
  private isOpen = true;
  private refusals = 0;
  /** Reason of the first refusal. It is reported at the end, because later updates often fail only as a consequence. */
  private firstRefusal = "";
  private isFull = false;
  private deniedAtMs = Number.NEGATIVE_INFINITY;
  /** Number of sync step 1 messages that the client has not answered. A requested answer may exceed `frame.update`. */
  private unansweredSyncs = 0;
  /** The client has answered a sync step 1, so the server has what the client wrote before it connected or could write. */
  private hasAnswered = false;
  /** An update was deferred: the client resends it in its sync step 2. Until then no sync step 1 of the client is answered. */
  private hasDeferred = false;
  /** State vector of the newest sync step 1 that the client sent while an update was deferred. */
  private unconfirmed: Uint8Array | undefined;
  /** Frames that arrived behind a waiting frame; undefined when no frame waits. */
  private held: Uint8Array[] | undefined;
  private owedAnswer: Uint8Array | undefined;
  private owesPresence = false;
  private cancelAnswer: (() => void) | undefined;
  /** Size of the last sync answer, in bytes, until the buffer drains. It is added to `socket.buffer` as an allowance. */
  private answerOnItsWay = 0;
  /** Presence entries that exceed the rate, delayed: the newest one of each client id. */
  private readonly latePresence = new Map<number, AwarenessEntry>();
  private cancelPresence: (() => void) | undefined;
  private cancelGreeting: (() => void) | undefined;

  constructor({ room, peer, identity, extensions, clock, limits, onClosed }: ConnectionOptions) {
    this.room = room;
    this.peer = peer;
    this.identity = identity;
    this.credentialId = identity.credentialId;
    this.extensions = extensions;
    this.clock = clock;
    this.limits = limits;
    this.onClosed = onClosed;
    const nowMs = clock.now();
    this.frames = new TokenBucket(limits["socket.frames"], nowMs);
    this.bytes = new TokenBucket(limits["socket.bytes"], nowMs);
    this.answers = new TokenBucket(limits["socket.syncAnswers"], nowMs);
    this.answerBytes = new TokenBucket(limits["socket.syncBytes"], nowMs);
    this.presenceRate = new TokenBucket(limits["awareness.rate"], nowMs);
  }

  /** Handles one frame from the client. The caller must not reuse `bytes`. */
  receive(bytes: Uint8Array): void {
    if (!this.isOpen) return;
    const nowMs = this.clock.now();
    if (!this.frames.take(1, nowMs) || !this.bytes.take(bytes.length, nowMs)) {
      this.close(4429, "too many frames or bytes");
    } else if (this.held === undefined) {
      this.handle(parseFrame(bytes));
    } else {
      this.held.push(bytes);
      if (!this.room.hold(bytes.length)) this.close(1013, "the document cannot be written as fast");
    }
  }

  /** Must be called when the socket's send buffer has drained. */
  drained(): void {
    if (!this.isOpen) return;
    if (this.peer.bufferedBytes <= this.limits["socket.buffer"]) this.answerOnItsWay = 0;
    this.answerWhenSettled();
  }

  /** Must be called when the socket is closed. */
  closed(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.cancelAnswer?.();
    this.cancelPresence?.();
    this.cancelGreeting?.();
    for (const bytes of this.held ?? []) this.room.release(bytes.length);
    this.room.leave(this);
    this.onClosed(this);
  }

  close(code: number, reason: string): void {
    if (!this.isOpen) return;
    this.closed();
    this.peer.close(code, reason);
  }

  /** Sets a renewed identity, for example after a change of access or name. */
  update(identity: ConnectionIdentity): void {
    const couldWrite = this.identity.mayWrite;
    this.identity = identity;
    if (!this.isOpen) return;
    this.room.presence.rename(this);
    if (!identity.mayWrite || couldWrite) return;
    // Updates that the client sent as a reader were denied. The resync requests them again.
    this.hasAnswered = false;
    this.room.resync(this);
  }

  /** True when the socket is open and its credential may write. */
  get isWriter(): boolean {
    return this.isOpen && this.identity.mayWrite;
  }

  get mayResync(): boolean {
    return this.isWriter && this.refusals === 0;
  }

  /** Sends sync step 1, which requests what the server lacks. `stateVector` must contain durable state only. */
  sendSyncStep1(stateVector: Uint8Array): void {
    this.resyncedAtMs = this.clock.now();
    this.unansweredSyncs += 1;
    this.deliver(writeSyncStep1(stateVector));
  }

  /** Tells a client with extensions that its updates are stored and that the article is at `revision`. */
  acknowledge(revision: number): void {
    if (this.extensions) this.deliver(writeAck(revision));
  }

  /** Sends a frame. No frame is ever skipped: a client that reads too slowly is closed and has to reconnect. */
  deliver(frame: Uint8Array): void {
    if (!this.isOpen) return;
    const outcome = this.peer.send(frame);
    if (outcome === "sent") return;
    if (outcome === "dropped" || this.peer.bufferedBytes > this.limits["socket.buffer"] + this.answerOnItsWay) {
      this.close(1013, "the client reads too slowly");
    }
  }

  private handle(frame: ClientFrame): void {
    switch (frame.kind) {
      case "sync.update":
        this.takeUpdate(frame.update, false);
        break;
      case "sync.step2":
        this.takeUpdate(frame.update, true);
        break;
      case "sync.step1":
        this.greetSoon();
        if (this.hasDeferred) this.unconfirmed = frame.stateVector;
        else this.confirm(frame.stateVector);
        break;
      case "awareness":
        this.takePresence(frame.payload);
        break;
      case "awareness.query":
        this.owesPresence = true;
        this.answerWhenSettled();
        break;
      case "credential":
        // Some clients always send this frame. It is ignored, because the credential came with the HTTP upgrade.
        break;
      case "foreign":
      case "malformed":
        this.close(4400, frame.detail);
        break;
    }
  }

  private takeUpdate(bytes: Uint8Array, isAnswer: boolean): void {
    const wasAsked = isAnswer && this.unansweredSyncs > 0;
    if (wasAsked) this.unansweredSyncs -= 1;
    if (!this.identity.mayWrite) {
      this.denyReader(bytes);
      if (wasAsked) this.answered();
      return;
    }
    const maxBytes = this.limits[wasAsked ? "frame.bytes" : "frame.update"];
    const inspected = bytes.length > maxBytes ? undefined : inspectUpdate(bytes, this.limits);
    if (inspected?.kind === "accepted") {
      this.offer({ update: inspected.update, isAnswer, isRequested: wasAsked }, 0);
      return;
    }
    this.room.refuse(claimedClocks(bytes), this);
    if (wasAsked) this.answered();
    if (inspected !== undefined) this.refuse({ code: "content_not_accepted", detail: inspected.detail });
    else this.refuse({ code: "payload_too_large", detail: `An update may have at most ${maxBytes} bytes.` });
  }

  private offer(said: PendingUpdate, waited: number): void {
    const { update, isAnswer } = said;
    const owesAnswer = !this.hasAnswered && !isAnswer;
    const question = { update, speaker: this, isAnswer, afterRefusal: this.refusals > 0, owesAnswer, waited };
    const verdict = this.room.submit(question, this.identity.author);
    if (said.isRequested && verdict.kind !== "wait" && verdict.kind !== "overflow") this.answered();
    switch (verdict.kind) {
      case "admitted":
        break;
      case "overflow":
        this.close(1013, "the document cannot be written as fast");
        break;
      case "known":
        if (!isAnswer) this.room.whenSettled((revision) => this.acknowledge(revision));
        break;
      case "refused":
        this.refuse(verdict.refusal);
        break;
      case "wait":
        this.held ??= [];
        this.room.whenSettled(() => this.resume(said, waited + 1));
        break;
      case "left":
        this.hasDeferred = true;
        break;
    }
  }

  /** Notes that the client answered sync step 1. The answer contains deferred updates, so held sync steps can be answered. */
  private answered(): void {
    this.hasAnswered = true;
    this.hasDeferred = false;
    const { unconfirmed } = this;
    this.unconfirmed = undefined;
    if (unconfirmed !== undefined) this.confirm(unconfirmed);
  }

  /** Answers a sync step 1 of the client when everything received before it is durable. */
  private confirm(stateVector: Uint8Array): void {
    this.room.whenSettled(() => {
      this.owedAnswer = stateVector;
      this.answer();
    });
  }

  private resume(said: PendingUpdate, waited: number): void {
    if (!this.isOpen) return;
    const held = this.held ?? [];
    this.held = undefined;
    this.offer(said, waited);
    for (const [at, bytes] of held.entries()) {
      if (this.isHolding) {
        this.held = held.slice(at);
        return;
      }
      this.room.release(bytes.length);
      if (this.isOpen) this.handle(parseFrame(bytes));
    }
  }

  /** A getter, because the compiler would otherwise assume that `handle` cannot change `held`. */
  private get isHolding(): boolean {
    return this.held !== undefined;
  }

  private refuse(refusal: Refusal): void {
    this.refusals += 1;
    if (this.refusals === 1) this.firstRefusal = refusal.detail;
    this.isFull ||= refusal.code === "content_too_large";
    this.tellRefusal(refusal.code, refusal.detail);
    // After a refusal the server sends no more sync step 1. A deferred update can then arrive only after a reconnect.
    if (this.hasDeferred && this.unansweredSyncs === 0) this.close(1013, "the document cannot be written as fast");
    if (this.refusals < maxRefusals) return;
    if (this.isFull) this.close(4413, "the document is full");
    else this.close(4400, `refused 3 times, first: ${this.firstRefusal}`);
  }

  private denyReader(bytes: Uint8Array): void {
    // An update of at most 2 bytes is empty: the client has nothing that the server lacks.
    if (bytes.length <= 2) return;
    const nowMs = this.clock.now();
    if (nowMs - this.deniedAtMs < readOnlyAnswerMs) return;
    this.deniedAtMs = nowMs;
    this.tellRefusal("insufficient_permission", "This credential may read the article and not write it.");
  }

  private tellRefusal(code: string, detail: string): void {
    this.room.countRefusal(code);
    this.deliver(writePermissionDenied(detail));
    if (this.extensions) this.deliver(writeRefusal(code, detail));
  }

  /** Sends owed answers once the room is settled, because until then the document may be ahead of the log. */
  private answerWhenSettled(): void {
    if (this.owesAnswer) this.room.whenSettled(() => this.answer());
  }

  private get owesAnswer(): boolean {
    return this.isOpen && this.cancelAnswer === undefined && (this.owedAnswer !== undefined || this.owesPresence);
  }

  /** Sends owed answers when the rate limits and the buffer allow. One answer serves all requests that arrived meanwhile. */
  private answer(): void {
    if (!this.owesAnswer) return;
    // The client has not read the last answers yet, so another one would only grow the buffer. `drained` tries again.
    if (this.peer.bufferedBytes > this.limits["socket.buffer"] / 2) return;
    const nowMs = this.clock.now();
    const waitMs = Math.max(this.answers.waitMs(1, nowMs), this.answerBytes.waitMs(1, nowMs));
    if (waitMs > 0) {
      this.cancelAnswer = this.clock.after(waitMs, () => {
        this.cancelAnswer = undefined;
        this.answerWhenSettled();
      });
      return;
    }
    this.answers.take(1, nowMs);
    if (this.owesPresence) {
      this.owesPresence = false;
      this.room.presence.greet(this);
    }
    const stateVector = this.owedAnswer;
    if (stateVector === undefined) return;
    this.owedAnswer = undefined;
    const update = this.room.encodeAnswer(stateVector);
    const frame = writeSyncStep2(update);
    this.answerBytes.overdraw(frame.length);
    this.answerOnItsWay = frame.length;
    this.deliver(frame);
  }

  private takePresence(payload: Uint8Array): void {
    const { presence } = this.room;
    const keep = (clientId: number, clock: number) => presence.isOwnWord(this, clientId, clock);
    const entries = parseAwareness(payload, this.limits["awareness.states"], keep);
    if (entries === undefined) {
      this.close(4400, "the presence message is malformed");
      return;
    }
    if (entries.length === 0) return;
    if (this.latePresence.size === 0 && this.presenceRate.take(1, this.clock.now())) {
      this.speak(entries);
      return;
    }
    for (const entry of entries) {
      const hasRoom = this.latePresence.size < this.limits["awareness.states"];
      if (hasRoom || this.latePresence.has(entry.clientId)) this.latePresence.set(entry.clientId, entry);
    }
    this.cancelPresence ??= this.clock.after(this.presenceRate.waitMs(1, this.clock.now()), () => {
      this.cancelPresence = undefined;
      this.presenceRate.take(1, this.clock.now());
      const late = [...this.latePresence.values()];
      this.latePresence.clear();
      if (this.isOpen) this.speak(late);
    });
  }

  private speak(entries: readonly AwarenessEntry[]): void {
    const { presence } = this.room;
    if (!presence.speak(this, entries)) this.close(4400, "a presence state must be a JSON object or null");
    else if (!presence.hears(this)) presence.greet(this);
  }

  /**
   * Schedules the presence of the others for a client that shows none itself. A stock client sends its own presence right
   * after sync step 1 and gets the others then.
   */
  private greetSoon(): void {
    if (this.cancelGreeting !== undefined || this.room.presence.hears(this)) return;
    this.cancelGreeting = this.clock.after(greetingMs, () => {
      if (this.isOpen && !this.room.presence.hears(this)) this.room.presence.greet(this);
    });
  }
}
