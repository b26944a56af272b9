/**
 * Presence shows the members of a room to each other: who they are, and the state (cursor, selection) of each client id.
 *
 * The server sets all outgoing clocks, and they only rise, so no client can overwrite another one's state. They are
 * multiples of `clockStep`, made of Unix milliseconds and far above the clocks that clients count. A stock client sends
 * back every state that it receives: the clock marks this echo. No client is sent its own client id, because it would
 * continue from that clock; but tabs of one browser pass on what they receive, so it may get its own id all the same.
 * States from other nodes are shown like local ones, and a local state of the same client id replaces them.
 * This module must not know frames, sockets or the bus.
 */
import type { Author } from "../../api/schema/article.ts";
import type { Clock, RoomLimits } from "../ports.ts";
import type { AwarenessEntry } from "../protocol.ts";
import {
  clientClockEnd,
  createPresenceStore,
  isEmpty,
  type Member,
  type PresenceContext,
  type PresenceStore,
  type PublishedEntry,
} from "./presenceStore.ts";
import { type NodePresence, type PresentMember, RemotePresence, remoteTimeoutMs } from "./remotePresence.ts";
import { isSameAuthor } from "./user.ts";

export interface OutgoingEntry {
  readonly clientId: number;
  readonly clock: number;
  /** State as JSON text; `"null"` when the client has left. */
  readonly json: string;
}

/** A state that is not renewed for this time is removed. Stock clients use the same time and renew their state twice in it. */
const stateTimeoutMs = 30_000;
const sweepMs = 5_000;
/** Distance of outgoing clocks. A client that continues from one of them counts in between, so its own changes differ. */
const clockStep = 1024;
/** Minimum time between two frames. Changes are gathered meanwhile, because every client answers each frame with an echo. */
const gatherMs = 30;
/** Interval at which the whole presence is sent to the other nodes, because the bus may have lost changes. */
const broadcastAllMs = remoteTimeoutMs / 2.5;

/** The room whose presence this is. */
export interface PresenceRoom<M> {
  readonly members: ReadonlySet<M>;
  sendPresence(entries: readonly OutgoingEntry[], to: readonly M[]): void;
  /** Sends the presence that a member asked for by joining or by a query. */
  answerPresence(entries: readonly OutgoingEntry[], to: M): void;
  /** Sends presence to the other nodes. */
  broadcastPresence(presence: NodePresence): void;
  /** Called when members joined, left or changed on any node. */
  membersChanged(): void;
}

export interface PresenceSetting {
  readonly clock: Clock;
  readonly limits: Pick<RoomLimits, "awareness.state" | "awareness.states" | "awareness.socket" | "awareness.room">;
}

const text = new TextDecoder();

export class Presence<M extends Member> {
  private readonly room: PresenceRoom<M>;
  private readonly setting: PresenceSetting;
  /** Exists only while a member owns a client id or a change has not been sent (RT98). */
  private store: PresenceStore<M> | undefined;
  /** Exists only while another node shows a member or a state. */
  private remote: RemotePresence | undefined;
  private lastClock = 0;
  private lastSentMs = Number.NEGATIVE_INFINITY;
  private membersChanged = false;
  private cancelGather: (() => void) | undefined;
  private cancelSweep: (() => void) | undefined;
  private cancelBroadcastAll: (() => void) | undefined;

  constructor(room: PresenceRoom<M>, setting: PresenceSetting) {
    this.room = room;
    this.setting = setting;
  }

  /** Call it after the member has been added to the members. */
  join(): void {
    this.noteMembers();
  }

  /** Call it after the member has been removed from the members. */
  leave(member: M): void {
    this.store?.trigger.left({ member });
    this.noteMembers();
  }

  /** Stamps the member's states again, because its name or access may have changed. */
  rename(member: M): void {
    this.store?.trigger.renamed({ member });
    this.noteMembers();
  }

  /** Makes the member the owner of a client id under which it wrote text, if the client id has no owner. */
  claim(member: M, clientId: number): void {
    if (this.ownerOf(clientId) === undefined && this.room.members.has(member)) this.openStore().trigger.claimed({ member, clientId });
  }

  ownerOf(clientId: number): M | undefined {
    return this.context?.owners.get(clientId);
  }

  /** True when a different author uses this client id on another node. Without `author`, any author counts. */
  isOnOtherNode(clientId: number, author: Author | undefined): boolean {
    const state = this.remote?.state(clientId);
    return state !== undefined && (author === undefined || !isSameAuthor(state.author, author));
  }

  /**
   * True for an echo: a stock client sends back each state that it receives from the server. Even the owner of a client id
   * does so when another tab has passed the state on, perhaps after the owner sent a newer one (RT105).
   */
  isEcho(member: M, clientId: number, entryClock: number): boolean {
    if (entryClock < clientClockEnd) return false;
    const owner = this.ownerOf(clientId);
    if (owner === undefined) return this.remote?.state(clientId) !== undefined;
    if (owner !== member) return true;
    return entryClock % clockStep === 0 && this.context?.states.has(clientId) === true;
  }

  /**
   * Takes presence entries of a member. Returns false when a state is neither a JSON object nor `null`. States that are too
   * large and entries of client ids that the member may not use are dropped.
   */
  publish(member: M, entries: readonly AwarenessEntry[]): boolean {
    const parsed: PublishedEntry[] = [];
    for (const entry of entries) {
      if (entry.json.length > this.setting.limits["awareness.state"]) continue;
      const state = parseState(entry.json);
      if (state === undefined) return false;
      parsed.push({ clientId: entry.clientId, clock: entry.clock, state });
    }
    if (!this.room.members.has(member)) return true;
    this.openStore().trigger.published({ member, entries: parsed });
    this.schedule();
    return true;
  }

  /** Sends the member all states of the others. From now on the member also receives their changes. */
  subscribe(member: M): void {
    if (!this.room.members.has(member)) return;
    this.flush();
    member.isSubscribed = true;
    const entries: OutgoingEntry[] = [];
    for (const [clientId, state] of this.context?.states ?? []) {
      if (state.member !== member) entries.push({ clientId, clock: state.clock, json: state.json });
    }
    for (const [clientId, { clock, json }] of this.remote?.states() ?? []) {
      if (this.context?.states.has(clientId) !== true && this.ownerOf(clientId) !== member) entries.push({ clientId, clock, json });
    }
    if (entries.length > 0) this.room.answerPresence(entries, member);
  }

  /** Applies presence that another node sent. */
  receiveFromNode(nodeId: string, presence: NodePresence): void {
    this.remote ??= new RemotePresence();
    this.remote.receive(nodeId, presence, this.setting.clock.now());
    this.schedule();
    if (presence.members !== undefined) this.room.membersChanged();
  }

  /** Sends the whole local presence to the other nodes, for example when a node has opened the document. */
  broadcastAll(): void {
    const states = [...(this.context?.states ?? [])].map(([clientId, { json }]) => [clientId, json] as const);
    this.room.broadcastPresence({ isWhole: true, members: this.listHere(), states });
  }

  list(): readonly PresentMember[] {
    return [...this.listHere(), ...(this.remote?.members() ?? [])];
  }

  stop(): void {
    this.cancelGather?.();
    this.cancelSweep?.();
    this.cancelBroadcastAll?.();
    this.room.broadcastPresence({ isWhole: true, members: [], states: [] });
  }

  private get context(): PresenceContext<M> | undefined {
    return this.store?.getSnapshot().context;
  }

  private openStore(): PresenceStore<M> {
    const { clock, limits } = this.setting;
    this.store ??= createPresenceStore<M>({
      clock,
      limits,
      isOnOtherNode: (clientId, author) => this.isOnOtherNode(clientId, author),
    });
    return this.store;
  }

  private noteMembers(): void {
    this.membersChanged = true;
    this.schedule();
    this.room.membersChanged();
  }

  private schedule(): void {
    const { members } = this.room;
    const { clock } = this.setting;
    if (this.remote?.mayDrop === true) this.remote = undefined;
    if (this.context !== undefined && isEmpty(this.context)) this.store = undefined;
    const { context, remote } = this;
    if (this.membersChanged || (context?.changed.size ?? 0) > 0 || (remote?.changed.size ?? 0) > 0) {
      this.cancelGather ??= clock.after(Math.max(0, this.lastSentMs + gatherMs - clock.now()), () => this.flush());
    }
    if ((context?.states.size ?? 0) > 0 || remote?.isEmpty === false) this.cancelSweep ??= clock.after(sweepMs, () => this.sweep());
    if (members.size > 0) this.cancelBroadcastAll ??= clock.after(broadcastAllMs, () => this.broadcastAllAgain());
  }

  private sweep(): void {
    this.cancelSweep = undefined;
    const nowMs = this.setting.clock.now();
    this.store?.trigger.expired({ beforeMs: nowMs - stateTimeoutMs });
    if (this.remote?.removeExpired(nowMs) === true) this.room.membersChanged();
    this.schedule();
  }

  private broadcastAllAgain(): void {
    this.cancelBroadcastAll = undefined;
    this.broadcastAll();
    this.schedule();
  }

  private listHere(): PresentMember[] {
    return [...this.room.members].map(({ identity, joinedAtMs }) => ({
      username: identity.author.username,
      kind: identity.author.kind,
      mode: identity.mayWrite ? ("write" as const) : ("read" as const),
      sinceMs: joinedAtMs,
    }));
  }

  private broadcastChanges(): void {
    const { context, membersChanged } = this;
    const changed = [...(context?.changed ?? [])];
    if (changed.length === 0 && !membersChanged) return;
    const states = changed.map((clientId) => [clientId, context?.states.get(clientId)?.json ?? "null"] as const);
    this.room.broadcastPresence({ isWhole: false, ...(membersChanged ? { members: this.listHere() } : {}), states });
    this.membersChanged = false;
  }

  /** Sends all gathered changes to the other nodes and to the subscribed members. */
  private flush(): void {
    this.cancelGather?.();
    this.cancelGather = undefined;
    this.broadcastChanges();
    const { context, remote } = this;
    const toSend = new Set([...(context?.changed ?? []), ...(remote?.changed ?? [])]);
    context?.changed.clear();
    remote?.changed.clear();
    if (toSend.size > 0) this.send(toSend);
    this.schedule();
  }

  private send(clientIds: ReadonlySet<number>): void {
    const { room } = this;
    const { clock } = this.setting;
    this.lastSentMs = clock.now();
    this.lastClock = Math.max(this.lastClock + clockStep, Math.floor(this.lastSentMs) * clockStep, clientClockEnd);
    const entries = [...clientIds].map((clientId): OutgoingEntry => {
      // A local state takes precedence over one from another node.
      const state = this.context?.states.get(clientId) ?? this.remote?.state(clientId);
      if (state !== undefined) state.clock = this.lastClock;
      return { clientId, clock: this.lastClock, json: state?.json ?? "null" };
    });
    const publishers = new Set(entries.map((entry) => this.ownerOf(entry.clientId)));
    const others: M[] = [];
    for (const member of room.members) {
      if (!member.isSubscribed) continue;
      if (!publishers.has(member)) {
        others.push(member);
        continue;
      }
      const ofOthers = entries.filter((entry) => this.ownerOf(entry.clientId) !== member);
      if (ofOthers.length > 0) room.sendPresence(ofOthers, [member]);
    }
    if (others.length > 0) room.sendPresence(entries, others);
  }
}

/** Parses a state. Returns undefined when the text is neither a JSON object nor `null`. */
function parseState(json: Uint8Array): object | null | undefined {
  try {
    const state: unknown = JSON.parse(text.decode(json));
    return typeof state === "object" && !Array.isArray(state) ? state : undefined;
  } catch {
    return undefined;
  }
}
