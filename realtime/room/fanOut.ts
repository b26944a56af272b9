/**
 * FanOut sends frames to the members of a room: the updates of each batch, presence, and keep-alive frames.
 *
 * Members that receive the same update share one frame.
 */
import type { AppliedBatch } from "../document/applyBatch.ts";
import type { Clock, RoomMetrics } from "../ports.ts";
import type { OutgoingEntry } from "../presence/presence.ts";
import { emptyFrame, writeAwareness, writeUpdate } from "../protocol.ts";

/**
 * Interval of keep-alive frames. A stock client closes a connection on which it receives nothing for 30 s. It expects
 * to receive its own presence, which this server does not send back. A timer may be half a second late (RT26).
 */
const keepAliveMs = 19_000;

interface Receiver {
  deliver(frame: Uint8Array): void;
}

export interface FanOutOptions {
  readonly clock: Clock;
  readonly metrics: RoomMetrics | undefined;
}

export class FanOut<Member extends Receiver> {
  private readonly receivers = new Set<Member>();
  private readonly options: FanOutOptions;
  private cancelKeepAlive: (() => void) | undefined;

  constructor(options: FanOutOptions) {
    this.options = options;
  }

  get members(): ReadonlySet<Member> {
    return this.receivers;
  }

  add(member: Member): void {
    this.receivers.add(member);
  }

  delete(member: Member): void {
    this.receivers.delete(member);
  }

  /** Sends a durable batch: each sender of the batch gets what the others wrote, all other members get the whole batch. */
  sendBatch({ toOthers, toSenders }: AppliedBatch<Member>): void {
    const frames = new Map<Uint8Array, Uint8Array>();
    let relayed = 0;
    for (const member of this.receivers) {
      const update = toSenders.has(member) ? toSenders.get(member) : toOthers;
      if (update === undefined) continue;
      const frame = frames.get(update) ?? writeUpdate(update);
      frames.set(update, frame);
      member.deliver(frame);
      relayed += 1;
    }
    if (relayed > 0) this.options.metrics?.framesRelayed(relayed);
  }

  sendPresence(entries: readonly OutgoingEntry[], to: readonly Member[]): void {
    const frame = writeAwareness(entries);
    for (const member of to) member.deliver(frame);
  }

  /** Starts sending keep-alive frames, unless they are being sent already. They stop when the last member has left. */
  keepAlive(): void {
    this.cancelKeepAlive ??= this.options.clock.after(keepAliveMs, () => {
      this.cancelKeepAlive = undefined;
      for (const member of this.receivers) member.deliver(emptyFrame);
      if (this.receivers.size > 0) this.keepAlive();
    });
  }

  stop(): void {
    this.cancelKeepAlive?.();
  }
}
