/**
 * One socket in a room: what it may send, what it is owed, and when it has to go.
 *
 * Frames are handled in the order they came; one that has to wait holds up those behind it. What is durable, who
 * hears what and where the document stands is the room's.
 */

import type { Refusal } from "./admission.ts";
import { claimedClocks, type InspectedUpdate, inspectUpdate } from "./inspectUpdate.ts";
import type { Clock, ConnectionIdentity, Peer, RoomLimits } from "./ports.ts";
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
} from "./protocol.ts";
import type { Room } from "./room.ts";
import { TokenBucket } from "./tokenBucket.ts";

export interface ConnectionOptions {
  readonly room: Room;
  readonly peer: Peer;
  readonly identity: ConnectionIdentity;
  /** The client asked for acknowledgements and refusals as messages of their own. */
  readonly extensions: boolean;
  readonly clock: Clock;
  readonly limits: RoomLimits;
  readonly onClosed: (connection: Connection) => void;
}

/** A change, or an answer to a question of ours or to none. */
interface Said {
  readonly update: InspectedUpdate;
  readonly isAnswer: boolean;
  readonly wasAsked: boolean;
}

const maxRefusals = 3;
const readOnlyAnswerMs = 1000;
const greetingMs = 1000;

export class Connection {
  identity: ConnectionIdentity;
  /** The one it was counted under. */
  readonly credentialId: string;
  readonly extensions: boolean;
  /** When the server last asked what it lacks. */
  askedAtMs = Number.NEGATIVE_INFINITY;
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
  private isFull = false;
  private deniedAtMs = Number.NEGATIVE_INFINITY;
  /** Questions of ours that the client has not answered: an answer may be larger than any other update. */
  private openQuestions = 0;
  /** It has said what it had before it came, or before it might write. */
  private hasAnswered = false;
  /** Something that it said is left to that answer, which says it again: until then nothing is confirmed. */
  private isLeft = false;
  /** The newest question that came since. */
  private unconfirmed: Uint8Array | undefined;
  /** Frames behind one that waits; undefined when none does. */
  private held: Uint8Array[] | undefined;
  private owedAnswer: Uint8Array | undefined;
  private owesPresence = false;
  private cancelAnswer: (() => void) | undefined;
  /** Bytes of a full sync that the client may not have taken yet: it may be that far behind, and `socket.buffer` more. */
  private answerOnItsWay = 0;
  /** Presence above its rate, the newest state of each client id. */
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

  /** One frame from the client; the bytes are ours to keep. */
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

  /** The socket's buffer has room again. */
  drained(): void {
    if (!this.isOpen) return;
    if (this.peer.bufferedBytes <= this.limits["socket.buffer"]) this.answerOnItsWay = 0;
    this.answerWhenSettled();
  }

  /** The socket is gone. */
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

  /** The credential means something else now. */
  update(identity: ConnectionIdentity): void {
    const couldWrite = this.identity.mayWrite;
    this.identity = identity;
    if (!this.isOpen) return;
    this.room.presence.rename(this);
    if (!identity.mayWrite || couldWrite) return;
    // What it wrote as a reader was denied.
    this.hasAnswered = false;
    this.room.ask(this);
  }

  /** What it writes is stored and it may be asked for more. */
  get isWriter(): boolean {
    return this.isOpen && this.identity.mayWrite;
  }

  get mayBeAsked(): boolean {
    return this.isWriter && this.refusals === 0;
  }

  /** Asks the client for what the server lacks; the vector tells it what is durable. */
  sendQuestion(stateVector: Uint8Array): void {
    this.askedAtMs = this.clock.now();
    this.openQuestions += 1;
    this.deliver(writeSyncStep1(stateVector));
  }

  /** What it wrote is stored; the article is at `revision`. */
  acknowledge(revision: number): void {
    if (this.extensions) this.deliver(writeAck(revision));
  }

  /** Nothing is ever left out: a reader that cannot keep up has to come again. */
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
        if (this.isLeft) this.unconfirmed = frame.stateVector;
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
        // A client that always sends it, though its credential came with the upgrade.
        break;
      case "malformed":
        this.close(4400, frame.detail);
        break;
    }
  }

  private takeUpdate(bytes: Uint8Array, isAnswer: boolean): void {
    const wasAsked = isAnswer && this.openQuestions > 0;
    if (wasAsked) this.openQuestions -= 1;
    if (!this.identity.mayWrite) {
      this.denyReader(bytes);
      if (wasAsked) this.answered();
      return;
    }
    const maxBytes = this.limits[wasAsked ? "frame.bytes" : "frame.update"];
    const inspected = bytes.length > maxBytes ? undefined : inspectUpdate(bytes, this.limits);
    if (inspected?.kind === "accepted") {
      this.offer({ update: inspected.update, isAnswer, wasAsked }, 0);
      return;
    }
    this.room.refuse(claimedClocks(bytes), this);
    if (wasAsked) this.answered();
    if (inspected !== undefined) this.refuse({ code: "content_not_accepted", detail: inspected.detail });
    else this.refuse({ code: "payload_too_large", detail: `An update may have at most ${maxBytes} bytes.` });
  }

  private offer(said: Said, waited: number): void {
    const { update, isAnswer } = said;
    const owesAnswer = !this.hasAnswered && !isAnswer;
    const question = { update, speaker: this, isAnswer, afterRefusal: this.refusals > 0, owesAnswer, waited };
    const verdict = this.room.submit(question, this.identity.author);
    if (said.wasAsked && verdict.kind !== "wait" && verdict.kind !== "overflow") this.answered();
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
        this.isLeft = true;
        break;
    }
  }

  /** What was left to the answer has been said again. */
  private answered(): void {
    this.hasAnswered = true;
    this.isLeft = false;
    const { unconfirmed } = this;
    this.unconfirmed = undefined;
    if (unconfirmed !== undefined) this.confirm(unconfirmed);
  }

  /** Answers a sync-step-1 when everything that came before it is durable. */
  private confirm(stateVector: Uint8Array): void {
    this.room.whenSettled(() => {
      this.owedAnswer = stateVector;
      this.answer();
    });
  }

  private resume(said: Said, waited: number): void {
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

  /** A method, since handling a frame changes it behind the compiler's back. */
  private get isHolding(): boolean {
    return this.held !== undefined;
  }

  private refuse(refusal: Refusal): void {
    this.refusals += 1;
    this.isFull ||= refusal.code === "content_too_large";
    this.tellRefusal(refusal.code, refusal.detail);
    // It is not asked any more: what was left to an answer comes with the next socket.
    if (this.isLeft && this.openQuestions === 0) this.close(1013, "the document cannot be written as fast");
    if (this.refusals < maxRefusals) return;
    if (this.isFull) this.close(4413, "the document is full");
    else this.close(4400, "updates were refused three times");
  }

  private denyReader(bytes: Uint8Array): void {
    // An empty answer says that the client lacks nothing and has nothing of its own.
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

  /** Until then the document may be ahead of the log. */
  private answerWhenSettled(): void {
    if (this.owesAnswer) this.room.whenSettled(() => this.answer());
  }

  private get owesAnswer(): boolean {
    return this.isOpen && this.cancelAnswer === undefined && (this.owedAnswer !== undefined || this.owesPresence);
  }

  /** What is owed goes out when rate and buffer allow; what is asked meanwhile is answered by the same frame. */
  private answer(): void {
    if (!this.owesAnswer) return;
    // A client that has not taken the last answers is not helped by another copy: `drained` comes back here.
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

  /** A stock client says who it is right after it asks; one that shows nothing is told of the others all the same. */
  private greetSoon(): void {
    if (this.cancelGreeting !== undefined || this.room.presence.hears(this)) return;
    this.cancelGreeting = this.clock.after(greetingMs, () => {
      if (this.isOpen && !this.room.presence.hears(this)) this.room.presence.greet(this);
    });
  }
}
