/**
 * TopicGroup is the part of a room's members that gets frames from the host's topic: one call sends one frame to all of them.
 *
 * A member that needs another frame than the others leaves the group before the frame is published, and then gets its
 * frames one by one. A typing author does so with each batch, so it returns only after it has not been an exception for
 * a while. No member has a timer: members return when a frame is published.
 * A publication never skips a socket and does not report how far a socket is behind. The group therefore checks its members
 * after each quarter of `socket.buffer` that it has published (RT17, RT95).
 */
import type { Clock, FrameBroadcast } from "../ports.ts";

/** A typing author is an exception at least twice a second. After this time without being one, it has stopped typing. */
const returnAfterMs = 2000;

export interface TopicMember {
  /** Sends a frame, or closes the connection of a member that reads too slowly. */
  deliver(frame: Uint8Array): void;
  /** From now on the member gets what is published on the topic, in order with the frames of `deliver`. */
  subscribe(topic: string): void;
  unsubscribe(topic: string): void;
  /** Closes the connection of a member that reads too slowly. */
  checkBacklog(): void;
}

export interface TopicGroupOptions {
  readonly topic: string;
  readonly broadcast: FrameBroadcast;
  readonly clock: Clock;
  /** Bytes that may be published before the backlog of the members is checked. */
  readonly checkBytes: number;
}

export class TopicGroup<Member extends TopicMember> {
  private readonly options: TopicGroupOptions;
  private readonly subscribed = new Set<Member>();
  /** Members outside the group, and when they last were an exception (Unix milliseconds; 0 if they never were). */
  private readonly apart = new Map<Member, number>();
  private returnsAtMs = 0;
  private uncheckedBytes = 0;

  constructor(members: Iterable<Member>, options: TopicGroupOptions) {
    this.options = options;
    for (const member of members) this.add(member);
  }

  add(member: Member): void {
    this.apart.set(member, 0);
    this.returnsAtMs = 0;
  }

  delete(member: Member): void {
    this.apart.delete(member);
    if (this.subscribed.delete(member)) member.unsubscribe(this.options.topic);
  }

  /** Sends the frame to all members except the exceptions. Returns the number of members that get it. */
  send(frame: Uint8Array, exceptions: Pick<ReadonlySet<Member>, "keys" | "has">): number {
    const nowMs = this.options.clock.now();
    for (const member of exceptions.keys()) this.exclude(member, nowMs);
    if (nowMs >= this.returnsAtMs) this.subscribeReturned(nowMs);
    const { topic, broadcast, checkBytes } = this.options;
    let sent = this.subscribed.size;
    if (sent > 0) {
      broadcast.publish(topic, frame);
      this.uncheckedBytes += frame.length;
      if (this.uncheckedBytes > checkBytes) this.checkBacklogs();
    }
    for (const member of this.apart.keys()) {
      if (exceptions.has(member)) continue;
      member.deliver(frame);
      sent += 1;
    }
    return sent;
  }

  private exclude(member: Member, nowMs: number): void {
    if (this.subscribed.delete(member)) member.unsubscribe(this.options.topic);
    else if (!this.apart.has(member)) return;
    this.apart.set(member, nowMs);
  }

  private subscribeReturned(nowMs: number): void {
    this.returnsAtMs = nowMs + returnAfterMs;
    for (const [member, excludedAtMs] of this.apart) {
      if (excludedAtMs + returnAfterMs > nowMs) continue;
      this.apart.delete(member);
      this.subscribed.add(member);
      member.subscribe(this.options.topic);
    }
  }

  private checkBacklogs(): void {
    this.uncheckedBytes = 0;
    for (const member of this.subscribed) member.checkBacklog();
  }
}
