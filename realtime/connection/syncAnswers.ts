/**
 * SyncAnswers answers the sync step 1 messages and presence queries of one client, as fast as its rate limits and its
 * buffer allow. One answer serves all requests that arrived meanwhile.
 *
 * An answer is sent only when the room is settled, because until then the document may be ahead of the log.
 */
import type { SyncAnswer } from "../document/keptDocument.ts";
import type { Clock, RoomLimits } from "../ports.ts";
import { writeSyncStep2, writeUpdate } from "../protocol.ts";
import { TokenBucket } from "../tokenBucket.ts";

/** The part of the room that SyncAnswers uses. */
export interface AnswerRoom {
  whenSettled(run: () => void): void;
  /** Encodes what a client with this state vector lacks. Call it only inside `whenSettled`. */
  encodeAnswer(stateVector: Uint8Array): SyncAnswer;
}

export interface SyncAnswersOptions {
  readonly room: AnswerRoom;
  readonly clock: Clock;
  readonly limits: RoomLimits;
  readonly isOpen: () => boolean;
  /** Bytes that the client has not taken from its socket yet. */
  readonly bufferedBytes: () => number;
  readonly deliver: (frame: Uint8Array) => void;
  readonly sendPresence: () => void;
}

export class SyncAnswers {
  private readonly options: SyncAnswersOptions;
  private readonly rate: TokenBucket;
  private readonly bytesRate: TokenBucket;
  /** State vector that may be answered now. */
  private stateVector: Uint8Array | undefined;
  /** True while a state vector waits for the room to settle. */
  private isWaiting = false;
  /** Newest state vector that arrived meanwhile. It may be answered only after the room has settled once more. */
  private nextStateVector: Uint8Array | undefined;
  private isSendQueued = false;
  private isPresenceRequested = false;
  private cancelWait: (() => void) | undefined;
  private unreadBytes = 0;

  constructor(options: SyncAnswersOptions) {
    const nowMs = options.clock.now();
    this.options = options;
    this.rate = new TokenBucket(options.limits["socket.syncAnswers"], nowMs);
    this.bytesRate = new TokenBucket(options.limits["socket.syncBytes"], nowMs);
  }

  /** Bytes of the last answers, until the buffer drains. The client may leave them unread in addition to `socket.buffer`. */
  get allowanceBytes(): number {
    return this.unreadBytes;
  }

  /**
   * Answers a sync step 1 when everything received before it is durable. At most two state vectors wait for that: each may
   * have megabytes, and a client may send many of them while the store is slow (RT80).
   */
  requestSync(stateVector: Uint8Array): void {
    if (this.isWaiting) this.nextStateVector = stateVector;
    else this.awaitSettled(stateVector);
  }

  requestPresence(): void {
    this.isPresenceRequested = true;
    this.sendWhenSettled();
  }

  /** Sends an answer. Its size is added to the allowance. */
  deliver(frame: Uint8Array): void {
    this.unreadBytes += frame.length;
    this.options.deliver(frame);
  }

  drained(): void {
    if (this.options.bufferedBytes() <= this.options.limits["socket.buffer"]) this.unreadBytes = 0;
    this.sendWhenSettled();
  }

  stop(): void {
    this.cancelWait?.();
  }

  /** True if nothing waits to be sent and the client has used none of its rates lately. */
  mayDrop(nowMs: number): boolean {
    const isQueued = this.isWaiting || this.isSendQueued || this.cancelWait !== undefined;
    const isRequested = this.stateVector !== undefined || this.isPresenceRequested;
    const isRead = this.options.bufferedBytes() === 0;
    return !isQueued && !isRequested && isRead && this.rate.isFull(nowMs) && this.bytesRate.isFull(nowMs);
  }

  private get isDue(): boolean {
    const isRequested = this.stateVector !== undefined || this.isPresenceRequested;
    return isRequested && this.cancelWait === undefined && this.options.isOpen();
  }

  private awaitSettled(stateVector: Uint8Array): void {
    this.isWaiting = true;
    this.options.room.whenSettled(() => {
      this.isWaiting = false;
      this.stateVector = stateVector;
      const { nextStateVector } = this;
      this.nextStateVector = undefined;
      if (nextStateVector !== undefined) this.awaitSettled(nextStateVector);
      this.send();
    });
  }

  private sendWhenSettled(): void {
    if (!this.isDue || this.isSendQueued) return;
    this.isSendQueued = true;
    this.options.room.whenSettled(() => {
      this.isSendQueued = false;
      this.send();
    });
  }

  private send(): void {
    if (!this.isDue) return;
    const { room, clock, limits, bufferedBytes, sendPresence } = this.options;
    // The client has not read the last answers yet, so another one would only grow the buffer. `drained` tries again.
    if (bufferedBytes() > limits["socket.buffer"] / 2) return;
    const nowMs = clock.now();
    const waitMs = Math.max(this.rate.waitMs(1, nowMs), this.bytesRate.waitMs(1, nowMs));
    if (waitMs > 0) {
      this.cancelWait = clock.after(waitMs, () => {
        this.cancelWait = undefined;
        this.sendWhenSettled();
      });
      return;
    }
    this.rate.take(1, nowMs);
    this.unreadBytes = 0;
    if (this.isPresenceRequested) {
      this.isPresenceRequested = false;
      sendPresence();
    }
    const { stateVector } = this;
    if (stateVector === undefined) return;
    this.stateVector = undefined;
    const { state, update } = room.encodeAnswer(stateVector);
    // The client counts as synchronized after the sync step 2, so the stored state goes before it.
    const frames = state === undefined ? [writeSyncStep2(update)] : [writeUpdate(state), writeSyncStep2(update)];
    this.bytesRate.overdraw(frames.reduce((sum, frame) => sum + frame.length, 0));
    for (const frame of frames) this.deliver(frame);
  }
}
