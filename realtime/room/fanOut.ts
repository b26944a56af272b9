/**
 * FanOut sends frames to the members of a room: the updates of each batch, presence, and keep-alive frames.
 *
 * Members that receive the same update share one frame. In a room with many members, most of them get it by one
 * publication of the host (`topicGroup.ts`).
 */
import type { AppliedBatch } from "../document/applyBatch.ts";
import type { Clock, FrameBroadcast, RoomLimits, RoomMetrics } from "../ports.ts";
import type { OutgoingEntry } from "../presence/presence.ts";
import { emptyFrame, writeAwareness, writeUpdate } from "../protocol.ts";
import { TopicGroup, type TopicMember } from "./topicGroup.ts";

/**
 * Interval of keep-alive frames. A stock client closes a connection on which it receives nothing for 30 s. It expects
 * to receive its own presence, which this server does not send back. A timer may be half a second late (RT26).
 */
const keepAliveMs = 19_000;
/** With fewer members a publication is not measurably cheaper than frames one by one. */
const minGroupMembers = 16;
/** A larger frame costs the most by its bytes. It goes one by one, so that a slow reader is closed at once. */
const maxPublishedBytes = 16 * 1024;

const noMembers: ReadonlySet<never> = new Set();

export interface FanOutSetting {
  readonly broadcast: FrameBroadcast;
  readonly limits: Pick<RoomLimits, "socket.buffer">;
  readonly clock: Clock;
  readonly metrics: RoomMetrics | undefined;
}

export class FanOut<Member extends TopicMember> {
  private readonly receivers = new Set<Member>();
  /** Absent until the room has enough members. */
  private group: TopicGroup<Member> | undefined;
  private readonly topic: string;
  private readonly setting: FanOutSetting;
  private cancelKeepAlive: (() => void) | undefined;

  /** `topic`: name of the room's topic at the host. No other open room may have it. */
  constructor(topic: string, setting: FanOutSetting) {
    this.topic = topic;
    this.setting = setting;
  }

  get members(): ReadonlySet<Member> {
    return this.receivers;
  }

  add(member: Member): void {
    this.receivers.add(member);
    this.group?.add(member);
  }

  delete(member: Member): void {
    this.receivers.delete(member);
    this.group?.delete(member);
  }

  /** Sends a durable batch: each sender of the batch gets what the others wrote, all other members get the whole batch. */
  sendBatch({ toOthers, toSenders }: AppliedBatch<Member>): void {
    // The group is formed at the first batch, because a room in which nothing is written needs none.
    if (this.receivers.size >= minGroupMembers) this.group ??= this.formGroup();
    let relayed = toOthers === undefined ? 0 : this.sendToAll(writeUpdate(toOthers), toSenders);
    for (const [sender, update] of toSenders) {
      if (update === undefined || !this.receivers.has(sender)) continue;
      sender.deliver(writeUpdate(update));
      relayed += 1;
    }
    if (relayed > 0) this.setting.metrics?.framesRelayed(relayed);
  }

  sendPresence(entries: readonly OutgoingEntry[], to: readonly Member[]): void {
    const frame = writeAwareness(entries);
    if (to.length < minGroupMembers || 2 * to.length < this.receivers.size) {
      for (const member of to) member.deliver(frame);
      return;
    }
    const exceptions = new Set(this.receivers);
    for (const member of to) exceptions.delete(member);
    this.sendToAll(frame, exceptions);
  }

  /** Starts sending keep-alive frames, unless they are being sent already. They stop when the last member has left. */
  keepAlive(): void {
    this.cancelKeepAlive ??= this.setting.clock.after(keepAliveMs, () => {
      this.cancelKeepAlive = undefined;
      this.sendToAll(emptyFrame, noMembers);
      if (this.receivers.size > 0) this.keepAlive();
    });
  }

  stop(): void {
    this.cancelKeepAlive?.();
  }

  /** Sends a frame to all members except the exceptions. Returns the number of members that get it. */
  private sendToAll(frame: Uint8Array, exceptions: Pick<ReadonlySet<Member>, "keys" | "has">): number {
    if (this.group !== undefined && frame.length <= maxPublishedBytes) return this.group.send(frame, exceptions);
    let sent = 0;
    for (const member of this.receivers) {
      if (exceptions.has(member)) continue;
      member.deliver(frame);
      sent += 1;
    }
    return sent;
  }

  private formGroup(): TopicGroup<Member> {
    const { topic } = this;
    const { broadcast, limits, clock } = this.setting;
    return new TopicGroup(this.receivers, { topic, broadcast, clock, checkBytes: limits["socket.buffer"] / 4 });
  }
}
