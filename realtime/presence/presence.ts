/**
 * Presence shows the members of a room to each other: who they are, and the state (cursor, selection) of each client id.
 *
 * The server sets all outgoing clocks, and they only rise, so no client can overwrite another one's state. They are Unix
 * milliseconds, far above the clocks that clients count. A stock client sends back every state that it receives: the
 * high clock marks this echo. No client is sent its own client id, because it would continue from that clock.
 * States from other nodes are shown like local ones, and a local state of the same client id replaces them.
 * This module must not know frames, sockets or the bus.
 */
import type { Author } from "../../api/schema/article.ts";
import type { Clock, RoomLimits } from "../ports.ts";
import type { AwarenessEntry } from "../protocol.ts";
import { clientClockEnd, createPresenceStore, type Member, type PublishedEntry } from "./presenceStore.ts";
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
/** Minimum time between two frames. Changes are gathered meanwhile, because every client answers each frame with an echo. */
const gatherMs = 30;
/** Interval at which the whole presence is sent to the other nodes, because the bus may have lost changes. */
const broadcastAllMs = remoteTimeoutMs / 2.5;

export interface PresenceOptions<M> {
  readonly clock: Clock;
  readonly limits: Pick<RoomLimits, "awareness.state" | "awareness.states">;
  readonly deliver: (entries: readonly OutgoingEntry[], to: readonly M[]) => void;
  /** Sends presence to the other nodes. */
  readonly broadcast: (presence: NodePresence) => void;
}

export type Presence<M extends Member> = ReturnType<typeof createPresence<M>>;

const text = new TextDecoder();

export function createPresence<M extends Member>({ clock, limits, deliver, broadcast }: PresenceOptions<M>) {
  let lastClock = 0;
  let lastSentMs = Number.NEGATIVE_INFINITY;
  let cancelGather: (() => void) | undefined;
  let cancelSweep: (() => void) | undefined;
  let cancelBroadcastAll: (() => void) | undefined;
  let membersChanged = false;
  const remote = new RemotePresence();
  const store = createPresenceStore<M>({ clock, limits, isOnOtherNode });
  const now = () => store.getSnapshot().context;

  function isOnOtherNode(clientId: number, author: Author | undefined): boolean {
    const state = remote.state(clientId);
    return state !== undefined && (author === undefined || !isSameAuthor(state.author, author));
  }

  function schedule(): void {
    if (now().changed.size > 0 || remote.changed.size > 0 || membersChanged) {
      cancelGather ??= clock.after(Math.max(0, lastSentMs + gatherMs - clock.now()), flush);
    }
    if (now().states.size > 0 || !remote.isEmpty) cancelSweep ??= clock.after(sweepMs, sweep);
    if (now().members.size > 0) cancelBroadcastAll ??= clock.after(broadcastAllMs, broadcastAllAgain);
  }

  function sweep(): void {
    cancelSweep = undefined;
    store.trigger.expired({ beforeMs: clock.now() - stateTimeoutMs });
    remote.removeExpired(clock.now());
    schedule();
  }

  function broadcastAllAgain(): void {
    cancelBroadcastAll = undefined;
    broadcastAll();
    schedule();
  }

  function listHere(): PresentMember[] {
    return [...now().members.values()].map(({ member, sinceMs }) => ({
      username: member.identity.author.username,
      kind: member.identity.author.kind,
      mode: member.identity.mayWrite ? ("write" as const) : ("read" as const),
      sinceMs,
    }));
  }

  function broadcastAll(): void {
    const states = [...now().states].map(([clientId, { json }]) => [clientId, json] as const);
    broadcast({ isWhole: true, members: listHere(), states });
  }

  function broadcastChanges(): void {
    const { states, changed } = now();
    if (changed.size === 0 && !membersChanged) return;
    const changedStates = [...changed].map((clientId) => [clientId, states.get(clientId)?.json ?? "null"] as const);
    broadcast({ isWhole: false, ...(membersChanged ? { members: listHere() } : {}), states: changedStates });
    membersChanged = false;
  }

  /** State to show for a client id: a local state takes precedence over one from another node. */
  const shown = (clientId: number) => now().states.get(clientId) ?? remote.state(clientId);

  /** Sends all gathered changes to the other nodes and to the subscribed members. */
  function flush(): void {
    cancelGather?.();
    cancelGather = undefined;
    broadcastChanges();
    const { members, owners, changed } = now();
    const toSend = new Set([...changed, ...remote.changed]);
    changed.clear();
    remote.changed.clear();
    if (toSend.size === 0) return;
    lastSentMs = clock.now();
    lastClock = Math.max(lastClock + 1, Math.floor(lastSentMs), clientClockEnd);
    const entries = [...toSend].map((clientId): OutgoingEntry => {
      const state = shown(clientId);
      if (state !== undefined) state.clock = lastClock;
      return { clientId, clock: lastClock, json: state?.json ?? "null" };
    });
    const publishers = new Set(entries.map((entry) => owners.get(entry.clientId)));
    const others: M[] = [];
    for (const [member, { isSubscribed }] of members) {
      if (!isSubscribed) continue;
      if (!publishers.has(member)) {
        others.push(member);
        continue;
      }
      const ofOthers = entries.filter((entry) => owners.get(entry.clientId) !== member);
      if (ofOthers.length > 0) deliver(ofOthers, [member]);
    }
    if (others.length > 0) deliver(entries, others);
  }

  return {
    join(member: M): void {
      store.trigger.joined({ member });
      membersChanged = true;
      schedule();
    },
    leave(member: M): void {
      store.trigger.left({ member });
      membersChanged = true;
      schedule();
    },
    /** Stamps the member's states again, because its name or access may have changed. */
    rename(member: M): void {
      store.trigger.renamed({ member });
      membersChanged = true;
      schedule();
    },
    /** Makes the member the owner of a client id under which it wrote text, if the client id has no owner. */
    claim(member: M, clientId: number): void {
      if (!now().owners.has(clientId)) store.trigger.claimed({ member, clientId });
    },
    ownerOf(clientId: number): M | undefined {
      return now().owners.get(clientId);
    },
    /** True when a different author uses this client id on another node. Without `author`, any author counts. */
    isOnOtherNode,
    /** True for an echo: a stock client sends back each state that it receives from the server. */
    isEcho(member: M, clientId: number, entryClock: number): boolean {
      if (entryClock < clientClockEnd) return false;
      const owner = now().owners.get(clientId);
      return owner === undefined ? remote.state(clientId) !== undefined : owner !== member;
    },
    /**
     * Takes presence entries of a member. Returns false when a state is neither a JSON object nor `null`. States that are too
     * large and entries of client ids that the member may not use are dropped.
     */
    publish(member: M, entries: readonly AwarenessEntry[]): boolean {
      const parsed: PublishedEntry[] = [];
      for (const entry of entries) {
        if (entry.json.length > limits["awareness.state"]) continue;
        const state = parseState(entry.json);
        if (state === undefined) return false;
        parsed.push({ clientId: entry.clientId, clock: entry.clock, state });
      }
      store.trigger.published({ member, entries: parsed });
      schedule();
      return true;
    },
    /** Sends the member all states of the others. From now on the member also receives their changes. */
    subscribe(member: M): void {
      const record = now().members.get(member);
      if (record === undefined) return;
      flush();
      record.isSubscribed = true;
      const entries: OutgoingEntry[] = [];
      for (const [clientId, state] of now().states) {
        if (state.member !== member) entries.push({ clientId, clock: state.clock, json: state.json });
      }
      for (const [clientId, { clock: at, json }] of remote.states()) {
        if (!now().states.has(clientId) && now().owners.get(clientId) !== member) entries.push({ clientId, clock: at, json });
      }
      if (entries.length > 0) deliver(entries, [member]);
    },
    isSubscribed(member: M): boolean {
      return now().members.get(member)?.isSubscribed === true;
    },
    /** Applies presence that another node sent. */
    receiveFromNode(nodeId: string, presence: NodePresence): void {
      remote.receive(nodeId, presence, clock.now());
      schedule();
    },
    /** Sends the whole local presence to the other nodes, for example when a node has opened the document. */
    broadcastAll,
    list: (): readonly PresentMember[] => [...listHere(), ...remote.members()],
    stop(): void {
      cancelGather?.();
      cancelSweep?.();
      cancelBroadcastAll?.();
      broadcast({ isWhole: true, members: [], states: [] });
    },
  };
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
