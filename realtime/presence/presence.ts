/**
 * Presence holds who is in a room, and the state (cursor, selection) of each of their client ids.
 *
 * A member speaks only for client ids that it introduced, and `user.ts` sets its name from the credential.
 * The server sets all outgoing clocks, and they only rise, so no client can overwrite another one's state. They are Unix
 * milliseconds, far above the clocks that clients count. A stock client sends back every state that it receives: the
 * high clock marks this echo. No client is sent its own client id, because it would continue from that clock.
 * An echo may be the first entry of a client id (from another tab of the same browser). Its stamped author is then checked.
 * States from other nodes are shown like local ones, and a local state of the same client id replaces them.
 * This module must not know frames, sockets or the bus.
 */
import { createStore } from "@xstate/store";
import type { Clock, ConnectionIdentity, RoomLimits } from "../ports.ts";
import { type AwarenessEntry, clientIdEnd } from "../protocol.ts";
import { type PresenceNews, type PresentMember, RemotePresence, remoteSilenceMs } from "./remotePresence.ts";
import { isStampedFor, stamp } from "./user.ts";

export interface Member {
  readonly identity: ConnectionIdentity;
}

export interface OutgoingEntry {
  readonly clientId: number;
  readonly clock: number;
  /** State as JSON text; `"null"` when the client is gone. */
  readonly json: string;
}

/** Clients count the changes of their state from 0; an entry with this clock or a later one is an echo. */
const clientClockEnd = clientIdEnd;

/** A state that is not renewed for this time is removed. Stock clients use the same time and renew their state twice in it. */
const silenceMs = 30_000;
const sweepMs = 5_000;
/** Minimum time between two frames. Changes are gathered meanwhile, because every client answers each frame with an echo. */
const gatherMs = 30;
/** Interval at which the whole presence is sent to the other nodes, because the bus may have lost changes. */
const retellMs = remoteSilenceMs / 2.5;

interface Present<M> {
  readonly sinceMs: number;
  readonly clientIds: Set<number>;
  /** False until the first presence frame. That frame may take over client ids of the author's older sockets (a reconnect). */
  hasSpoken: boolean;
  /** The member receives the presence of others. It starts with `greet`, normally after its own client ids are known. */
  hears: boolean;
  readonly member: M;
}

interface State<M> {
  readonly member: M;
  readonly clientClock: number;
  readonly json: string;
  readonly seenAtMs: number;
  /** Outgoing clock: the server sets it when the state is sent. */
  clock: number;
}

/** The maps are changed in place, to avoid copying thousands of entries at every cursor movement. */
interface Context<M> {
  readonly members: Map<M, Present<M>>;
  readonly owners: Map<number, M>;
  readonly states: Map<number, State<M>>;
  /** Client ids whose changed state has not been sent yet. */
  readonly changed: Set<number>;
}

export interface PresenceOptions<M> {
  readonly clock: Clock;
  readonly limits: Pick<RoomLimits, "awareness.state" | "awareness.states">;
  readonly deliver: (entries: readonly OutgoingEntry[], to: readonly M[]) => void;
  /** Sends presence to the other nodes. */
  readonly tell: (news: PresenceNews) => void;
}

export type Presence<M extends Member> = ReturnType<typeof createPresence<M>>;

const text = new TextDecoder();

export function createPresence<M extends Member>({ clock, limits, deliver, tell }: PresenceOptions<M>) {
  let lastClock = 0;
  let lastSentMs = Number.NEGATIVE_INFINITY;
  let cancelGather: (() => void) | undefined;
  let cancelSweep: (() => void) | undefined;
  let cancelRetell: (() => void) | undefined;
  let membersChanged = false;
  const remote = new RemotePresence();

  const store = createStore({
    context: { members: new Map(), owners: new Map(), states: new Map(), changed: new Set() } as Context<M>,
    on: {
      joined: (context, { member }: { member: M }) => {
        context.members.set(member, { member, sinceMs: clock.now(), clientIds: new Set(), hasSpoken: false, hears: false });
        return context;
      },
      left: (context, { member }: { member: M }) => {
        for (const clientId of context.members.get(member)?.clientIds ?? []) {
          context.owners.delete(clientId);
          if (context.states.delete(clientId)) context.changed.add(clientId);
        }
        context.members.delete(member);
        return context;
      },
      claimed: (context, { member, clientId }: { member: M; clientId: number }) => {
        const present = context.members.get(member);
        if (present !== undefined && !context.owners.has(clientId)) introduce(context, present, clientId);
        return context;
      },
      spoke: (context, { member, entries }: { member: M; entries: readonly ReadEntry[] }) => {
        const present = context.members.get(member);
        if (present === undefined) return context;
        for (const entry of entries) if (hear(context, present, entry)) context.changed.add(entry.clientId);
        present.hasSpoken = true;
        return context;
      },
      renamed: (context, { member }: { member: M }) => {
        for (const clientId of context.members.get(member)?.clientIds ?? []) {
          const state = context.states.get(clientId);
          if (state === undefined) continue;
          context.states.set(clientId, { ...state, json: stamp(member.identity, JSON.parse(state.json) as object) });
          context.changed.add(clientId);
        }
        return context;
      },
      fellSilent: (context, { beforeMs }: { beforeMs: number }) => {
        for (const [clientId, { seenAtMs }] of context.states) {
          if (seenAtMs > beforeMs) continue;
          context.states.delete(clientId);
          context.changed.add(clientId);
        }
        return context;
      },
    },
  });

  function introduce(context: Context<M>, present: Present<M>, clientId: number): boolean {
    if (present.clientIds.size >= limits["awareness.states"]) return false;
    const before = context.owners.get(clientId);
    if (before !== undefined) context.members.get(before)?.clientIds.delete(clientId);
    context.owners.set(clientId, present.member);
    present.clientIds.add(clientId);
    return true;
  }

  function mayTakeOver(present: Present<M>, owner: M): boolean {
    const { author } = owner.identity;
    const own = present.member.identity.author;
    return !present.hasSpoken && author.username === own.username && author.kind === own.kind;
  }

  function hear(context: Context<M>, present: Present<M>, { clientId, clock: clientClock, state }: ReadEntry): boolean {
    const { member } = present;
    const owner = context.owners.get(clientId);
    if (owner !== member) {
      if (state === null || (owner !== undefined && !mayTakeOver(present, owner))) return false;
      if (owner === undefined && isElsewhere(clientId, member.identity.author)) return false;
      if (clientClock >= clientClockEnd && !isStampedFor(member.identity, state)) return false;
      if (!introduce(context, present, clientId)) return false;
    }
    const before = context.states.get(clientId);
    if (state === null) return context.states.delete(clientId);
    if (before?.member === member && clientClock < before.clientClock) return false;
    const json = stamp(member.identity, state);
    context.states.set(clientId, { member, clientClock, json, seenAtMs: clock.now(), clock: before?.clock ?? 0 });
    return true;
  }

  const now = () => store.getSnapshot().context;

  function isElsewhere(clientId: number, author: { readonly username: string; readonly kind: string } | undefined): boolean {
    const there = remote.state(clientId)?.author;
    return there !== undefined && (there.username !== author?.username || there.kind !== author.kind);
  }

  function schedule(): void {
    if (now().changed.size > 0 || remote.changed.size > 0 || membersChanged) {
      cancelGather ??= clock.after(Math.max(0, lastSentMs + gatherMs - clock.now()), flush);
    }
    if (now().states.size > 0 || !remote.isEmpty) cancelSweep ??= clock.after(sweepMs, sweep);
    if (now().members.size > 0) cancelRetell ??= clock.after(retellMs, retell);
  }

  function sweep(): void {
    cancelSweep = undefined;
    store.trigger.fellSilent({ beforeMs: clock.now() - silenceMs });
    remote.forgetSilent(clock.now());
    schedule();
  }

  function retell(): void {
    cancelRetell = undefined;
    tellAll();
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

  function tellAll(): void {
    const states = [...now().states].map(([clientId, { json }]) => [clientId, json] as const);
    tell({ isWhole: true, members: listHere(), states });
  }

  /** State to show for a client id: a local state takes precedence over one from another node. */
  const shown = (clientId: number) => now().states.get(clientId) ?? remote.state(clientId);

  function flush(): void {
    cancelGather?.();
    cancelGather = undefined;
    const { members, owners, states, changed } = now();
    if (changed.size > 0 || membersChanged) {
      const told = [...changed].map((clientId) => [clientId, states.get(clientId)?.json ?? "null"] as const);
      tell({ isWhole: false, ...(membersChanged ? { members: listHere() } : {}), states: told });
    }
    membersChanged = false;
    const news = new Set([...changed, ...remote.changed]);
    changed.clear();
    remote.changed.clear();
    if (news.size === 0) return;
    lastSentMs = clock.now();
    lastClock = Math.max(lastClock + 1, Math.floor(lastSentMs), clientClockEnd);
    const entries = [...news].map((clientId): OutgoingEntry => {
      const state = shown(clientId);
      if (state !== undefined) state.clock = lastClock;
      return { clientId, clock: lastClock, json: state?.json ?? "null" };
    });
    const speakers = new Set(entries.map((entry) => owners.get(entry.clientId)));
    const listeners: M[] = [];
    for (const [member, { hears }] of members) {
      if (!hears) continue;
      if (!speakers.has(member)) {
        listeners.push(member);
        continue;
      }
      const others = entries.filter((entry) => owners.get(entry.clientId) !== member);
      if (others.length > 0) deliver(others, [member]);
    }
    if (listeners.length > 0) deliver(entries, listeners);
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
    /** False for an echo: a stock client sends back each state that it receives from the server. */
    isOwnWord(member: M, clientId: number, entryClock: number): boolean {
      if (entryClock < clientClockEnd) return true;
      const owner = now().owners.get(clientId);
      return owner === undefined ? remote.state(clientId) === undefined : owner === member;
    },
    /** True when a different author uses this client id on another node. Without `author`, any author counts. */
    isElsewhere,
    /** Applies presence that another node sent. */
    hearNode(nodeId: string, news: PresenceNews): void {
      remote.hear(nodeId, news, clock.now());
      schedule();
    },
    /** Sends the whole local presence to the other nodes, for example when a node has opened the document. */
    tellAll,
    ownerOf(clientId: number): M | undefined {
      return now().owners.get(clientId);
    },
    /**
     * Takes presence entries of a member. Returns false when a state is neither a JSON object nor `null`. States that are too
     * large and entries of client ids that the member may not use are dropped.
     */
    speak(member: M, entries: readonly AwarenessEntry[]): boolean {
      const read: ReadEntry[] = [];
      for (const entry of entries) {
        if (entry.json.length > limits["awareness.state"]) continue;
        const state = readState(entry.json);
        if (state === undefined) return false;
        read.push({ clientId: entry.clientId, clock: entry.clock, state });
      }
      store.trigger.spoke({ member, entries: read });
      schedule();
      return true;
    },
    /** Sends the member all states of the others. From now on the member also receives their changes. */
    greet(member: M): void {
      const present = now().members.get(member);
      if (present === undefined) return;
      flush();
      present.hears = true;
      const entries: OutgoingEntry[] = [];
      for (const [clientId, state] of now().states) {
        if (state.member !== member) entries.push({ clientId, clock: state.clock, json: state.json });
      }
      for (const [clientId, { clock: at, json }] of remote.states()) {
        if (!now().states.has(clientId) && now().owners.get(clientId) !== member) entries.push({ clientId, clock: at, json });
      }
      if (entries.length > 0) deliver(entries, [member]);
    },
    hears(member: M): boolean {
      return now().members.get(member)?.hears === true;
    },
    list: (): readonly PresentMember[] => [...listHere(), ...remote.members()],
    stop(): void {
      cancelGather?.();
      cancelSweep?.();
      cancelRetell?.();
      tell({ isWhole: true, members: [], states: [] });
    },
  };
}

interface ReadEntry {
  readonly clientId: number;
  readonly clock: number;
  readonly state: object | null;
}

/** Parses a state. Returns undefined when the text is neither a JSON object nor `null`. */
function readState(json: Uint8Array): object | null | undefined {
  try {
    const state: unknown = JSON.parse(text.decode(json));
    return typeof state === "object" && !Array.isArray(state) ? state : undefined;
  } catch {
    return undefined;
  }
}
