/**
 * PresenceStore holds the client ids that members of a room own, and the presence state (cursor, selection) of each
 * client id. A room has a store only while there is something to hold.
 *
 * A member publishes only for client ids that it introduced. An echo (a state that a client sends back) may be the first
 * entry of a client id, for example from another tab of the same browser. Its stamped author is then checked.
 * When and to whom changes are sent is decided in `presence.ts`.
 */
import { createStore } from "@xstate/store";
import type { Author } from "../../api/schema/article.ts";
import type { Clock, ConnectionIdentity, RoomLimits } from "../ports.ts";
import { clientIdEnd } from "../protocol.ts";
import { isSameAuthor, isStampedFor, stamp } from "./user.ts";

export interface Member {
  readonly identity: ConnectionIdentity;
  readonly joinedAtMs: number;
  /** The member receives the presence of others. It starts with `subscribe`, normally after its own client ids are known. */
  isSubscribed: boolean;
}

/** Clients count the changes of their state from 0; an entry with this clock or a later one is an echo. */
export const clientClockEnd = clientIdEnd;

/** A parsed presence entry. `state` is `null` when the client is gone. */
export interface PublishedEntry {
  readonly clientId: number;
  readonly clock: number;
  readonly state: object | null;
}

/** A member that owns a client id or has published. */
interface Publisher<M> {
  readonly clientIds: Set<number>;
  /** False until the first presence frame. That frame may take over client ids of the author's older sockets (a reconnect). */
  hasPublished: boolean;
  readonly member: M;
}

interface State<M> {
  readonly member: M;
  readonly clientClock: number;
  readonly json: string;
  /** Bytes of `awareness.room` that the state uses. */
  readonly countedBytes: number;
  readonly renewedAtMs: number;
  /** Outgoing clock: the server sets it when the state is sent. */
  clock: number;
}

/** The maps are changed in place, to avoid copying thousands of entries at every cursor movement. */
export interface PresenceContext<M> {
  readonly publishers: Map<M, Publisher<M>>;
  readonly owners: Map<number, M>;
  readonly states: Map<number, State<M>>;
  /** Sum of `countedBytes` of all states. */
  countedBytes: number;
  /** Client ids whose changed state has not been sent yet. */
  readonly changed: Set<number>;
}

/** True if a new store would hold the same. */
export function isEmpty({ publishers, changed }: PresenceContext<unknown>): boolean {
  return publishers.size === 0 && changed.size === 0;
}

/**
 * A smaller state counts as this many bytes, so that the usual changes of a cursor never exceed the limit of the room. States
 * of stock editors have 250 to 400 bytes.
 */
const minCountedBytes = 512;

const toCountedBytes = (json: string): number => Math.max(minCountedBytes, Buffer.byteLength(json));

function setState<M>(context: PresenceContext<M>, clientId: number, state: State<M>): void {
  context.countedBytes += state.countedBytes - (context.states.get(clientId)?.countedBytes ?? 0);
  context.states.set(clientId, state);
}

/** Returns false if there was no state. */
function deleteState<M>(context: PresenceContext<M>, clientId: number): boolean {
  context.countedBytes -= context.states.get(clientId)?.countedBytes ?? 0;
  return context.states.delete(clientId);
}

/** Number of states that the publisher shows. The publisher may own further client ids, under which it wrote text. */
function countStates<M>({ states }: PresenceContext<M>, { clientIds, member }: Publisher<M>): number {
  return [...clientIds].filter((clientId) => states.get(clientId)?.member === member).length;
}

export interface PresenceStoreOptions {
  readonly clock: Clock;
  readonly limits: Pick<RoomLimits, "awareness.states" | "awareness.socket" | "awareness.room">;
  /** True when a different author uses this client id on another node. */
  readonly isOnOtherNode: (clientId: number, author: Author) => boolean;
}

export type PresenceStore<M extends Member> = ReturnType<typeof createPresenceStore<M>>;

export function createPresenceStore<M extends Member>({ clock, limits, isOnOtherNode }: PresenceStoreOptions) {
  function publisherOf(context: PresenceContext<M>, member: M): Publisher<M> {
    const publisher = context.publishers.get(member) ?? { member, clientIds: new Set(), hasPublished: false };
    context.publishers.set(member, publisher);
    return publisher;
  }

  function introduce(context: PresenceContext<M>, publisher: Publisher<M>, clientId: number): boolean {
    if (publisher.clientIds.size >= limits["awareness.states"]) return false;
    const before = context.owners.get(clientId);
    if (before !== undefined) context.publishers.get(before)?.clientIds.delete(clientId);
    context.owners.set(clientId, publisher.member);
    publisher.clientIds.add(clientId);
    return true;
  }

  function mayTakeOver(publisher: Publisher<M>, owner: M): boolean {
    return !publisher.hasPublished && isSameAuthor(owner.identity.author, publisher.member.identity.author);
  }

  /** Returns true when the state to show has changed. */
  function take(context: PresenceContext<M>, publisher: Publisher<M>, { clientId, clock: clientClock, state }: PublishedEntry): boolean {
    const { member } = publisher;
    const owner = context.owners.get(clientId);
    if (owner !== member) {
      if (state === null || (owner !== undefined && !mayTakeOver(publisher, owner))) return false;
      if (owner === undefined && isOnOtherNode(clientId, member.identity.author)) return false;
      if (clientClock >= clientClockEnd && !isStampedFor(member.identity, state)) return false;
      if (!introduce(context, publisher, clientId)) return false;
    }
    const before = context.states.get(clientId);
    if (state === null) return deleteState(context, clientId);
    if (before?.member === member && clientClock < before.clientClock) return false;
    if (before?.member !== member && countStates(context, publisher) >= limits["awareness.socket"]) return false;
    const json = stamp(member.identity, state);
    const countedBytes = toCountedBytes(json);
    if (context.countedBytes - (before?.countedBytes ?? 0) + countedBytes > limits["awareness.room"]) return false;
    setState(context, clientId, { member, clientClock, json, countedBytes, renewedAtMs: clock.now(), clock: before?.clock ?? 0 });
    return true;
  }

  return createStore({
    context: { publishers: new Map(), owners: new Map(), states: new Map(), countedBytes: 0, changed: new Set() } as PresenceContext<M>,
    on: {
      left: (context, { member }: { member: M }) => {
        for (const clientId of context.publishers.get(member)?.clientIds ?? []) {
          context.owners.delete(clientId);
          if (deleteState(context, clientId)) context.changed.add(clientId);
        }
        context.publishers.delete(member);
        return context;
      },
      claimed: (context, { member, clientId }: { member: M; clientId: number }) => {
        if (!context.owners.has(clientId)) introduce(context, publisherOf(context, member), clientId);
        return context;
      },
      published: (context, { member, entries }: { member: M; entries: readonly PublishedEntry[] }) => {
        const publisher = publisherOf(context, member);
        for (const entry of entries) if (take(context, publisher, entry)) context.changed.add(entry.clientId);
        publisher.hasPublished = true;
        return context;
      },
      renamed: (context, { member }: { member: M }) => {
        for (const clientId of context.publishers.get(member)?.clientIds ?? []) {
          const state = context.states.get(clientId);
          if (state === undefined) continue;
          const json = stamp(member.identity, JSON.parse(state.json) as object);
          setState(context, clientId, { ...state, json, countedBytes: toCountedBytes(json) });
          context.changed.add(clientId);
        }
        return context;
      },
      expired: (context, { beforeMs }: { beforeMs: number }) => {
        for (const [clientId, { renewedAtMs }] of context.states) {
          if (renewedAtMs > beforeMs) continue;
          deleteState(context, clientId);
          context.changed.add(clientId);
        }
        return context;
      },
    },
  });
}
