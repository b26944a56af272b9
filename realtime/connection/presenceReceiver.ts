/**
 * PresenceReceiver takes the presence messages of one client and subscribes the client to the presence of the others.
 *
 * Entries above the rate are delayed, and of each client id only the newest one is kept.
 */
import type { Clock, RoomLimits } from "../ports.ts";
import { type AwarenessEntry, parseAwareness } from "../protocol.ts";
import { TokenBucket } from "../tokenBucket.ts";

const subscribeDelayMs = 1000;

/** The part of the room's presence that a connection uses. */
export interface ConnectionPresence<Member> {
  isEcho(member: Member, clientId: number, clock: number): boolean;
  /** Returns false when a state is neither a JSON object nor `null`. */
  publish(member: Member, entries: readonly AwarenessEntry[]): boolean;
  /** Sends the member all states of the others. From now on the member also receives their changes. */
  subscribe(member: Member): void;
}

/** The part of the connection that PresenceReceiver uses. */
export interface PresenceMember {
  /** True once the member gets the presence of the others. */
  readonly isSubscribed: boolean;
}

export interface PresenceReceiverOptions<Member> {
  readonly member: Member;
  readonly presence: ConnectionPresence<Member>;
  readonly clock: Clock;
  readonly limits: RoomLimits;
  readonly isOpen: () => boolean;
  readonly close: (code: number, reason: string) => void;
}

export class PresenceReceiver<Member extends PresenceMember> {
  private readonly options: PresenceReceiverOptions<Member>;
  private readonly rate: TokenBucket;
  /** Delayed entries by client id. */
  private readonly late = new Map<number, AwarenessEntry>();
  private cancelLate: (() => void) | undefined;
  private cancelSubscribe: (() => void) | undefined;

  constructor(options: PresenceReceiverOptions<Member>) {
    this.options = options;
    this.rate = new TokenBucket(options.limits["awareness.rate"], options.clock.now());
  }

  receive(payload: Uint8Array): void {
    const { member, presence, clock, limits, close } = this.options;
    const keep = (clientId: number, entryClock: number) => !presence.isEcho(member, clientId, entryClock);
    const entries = parseAwareness(payload, limits["awareness.states"], keep);
    if (entries === undefined) {
      close(4400, "the presence message is malformed");
      return;
    }
    if (entries.length === 0) return;
    if (this.late.size === 0 && this.rate.take(1, clock.now())) this.publish(entries);
    else this.delay(entries);
  }

  /**
   * Subscribes a client that publishes no state itself. A stock client publishes its state right after sync step 1 and is
   * subscribed then.
   */
  subscribeSoon(): void {
    const { member, presence, clock, isOpen } = this.options;
    if (this.cancelSubscribe !== undefined || member.isSubscribed) return;
    this.cancelSubscribe = clock.after(subscribeDelayMs, () => {
      this.cancelSubscribe = undefined;
      if (isOpen() && !member.isSubscribed) presence.subscribe(member);
    });
  }

  /** True if nothing is delayed and the client has not used its rate lately. */
  mayDrop(nowMs: number): boolean {
    return this.cancelLate === undefined && this.cancelSubscribe === undefined && this.rate.isFull(nowMs);
  }

  stop(): void {
    this.cancelLate?.();
    this.cancelSubscribe?.();
  }

  private publish(entries: readonly AwarenessEntry[]): void {
    const { member, presence, close } = this.options;
    if (!presence.publish(member, entries)) close(4400, "a presence state must be a JSON object or null");
    else if (!member.isSubscribed) presence.subscribe(member);
  }

  private delay(entries: readonly AwarenessEntry[]): void {
    const { clock, limits, isOpen } = this.options;
    for (const entry of entries) {
      const hasSpace = this.late.size < limits["awareness.states"];
      if (hasSpace || this.late.has(entry.clientId)) this.late.set(entry.clientId, entry);
    }
    this.cancelLate ??= clock.after(this.rate.waitMs(1, clock.now()), () => {
      this.cancelLate = undefined;
      this.rate.take(1, clock.now());
      const late = [...this.late.values()];
      this.late.clear();
      if (isOpen()) this.publish(late);
    });
  }
}
