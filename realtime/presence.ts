/**
 * Who is in a room, and the presence state (cursor, selection) of each of their client ids.
 *
 * A member speaks only for client ids it introduced, and the server says who it is: `user` is set from the
 * credential. Clocks that go out are the server's own and only rise, so no client can outbid another; they are
 * times, far above what clients count, which also tells the echo of a stock client (it sends back whatever it
 * hears) from what the client says itself. Nobody is told of its own client id, since it would count on from there;
 * a client that was told by another tab of its browser is known by the name stamped on its state.
 * What other nodes tell is shown like what is here, and gives way to it: a client that is here is not elsewhere any more.
 * Frames, sockets and the bus are the caller's.
 */
import { createStore } from "@xstate/store";
import type { Clock, ConnectionIdentity, RoomLimits } from "./ports.ts";
import { type AwarenessEntry, clientIdEnd } from "./protocol.ts";
import { type PresenceNews, type PresentMember, RemotePresence, remoteSilenceMs } from "./remotePresence.ts";
import { toUser } from "./user.ts";

export interface Member {
  readonly identity: ConnectionIdentity;
}

export interface OutgoingEntry {
  readonly clientId: number;
  readonly clock: number;
  /** `null` for one that is gone. */
  readonly json: string;
}

/** Clients count the changes of their state from 0; an entry with this clock or a later one is an echo. */
const clientClockEnd = clientIdEnd;

/** Stock clients forget a state after as long, and renew their own twice in that time. */
const silenceMs = 30_000;
const sweepMs = 5_000;
/** Every client answers every frame with an echo, so changes are gathered before they go out. */
const gatherMs = 30;
/** Other nodes are told everything as often, since they may have missed some of it. */
const retellMs = remoteSilenceMs / 2.5;

interface Present<M> {
  readonly sinceMs: number;
  readonly clientIds: Set<number>;
  /** The first frame of a socket may take over ids from an older one of the same author: it has reconnected. */
  hasSpoken: boolean;
  /** Hears of the others, since its own client ids are known. */
  hears: boolean;
  readonly member: M;
}

interface State<M> {
  readonly member: M;
  readonly clientClock: number;
  readonly json: string;
  readonly seenAtMs: number;
  /** Set when it goes out. */
  clock: number;
}

/** The maps change in place: copying thousands of entries for every cursor that moves is what this avoids. */
interface Context<M> {
  readonly members: Map<M, Present<M>>;
  readonly owners: Map<number, M>;
  readonly states: Map<number, State<M>>;
  /** Client ids whose change the others have not been told yet. */
  readonly changed: Set<number>;
}

export interface PresenceOptions<M> {
  readonly clock: Clock;
  readonly limits: Pick<RoomLimits, "awareness.state" | "awareness.states">;
  readonly deliver: (entries: readonly OutgoingEntry[], to: readonly M[]) => void;
  /** To the other nodes. */
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
        const user = toUser(member.identity);
        for (const clientId of context.members.get(member)?.clientIds ?? []) {
          const state = context.states.get(clientId);
          if (state === undefined) continue;
          context.states.set(clientId, { ...state, json: JSON.stringify({ ...JSON.parse(state.json), user }) });
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
      if (clientClock >= clientClockEnd && !isStampedFor(member, state)) return false;
      if (!introduce(context, present, clientId)) return false;
    }
    const before = context.states.get(clientId);
    if (state === null) return context.states.delete(clientId);
    if (before?.member === member && clientClock < before.clientClock) return false;
    const json = JSON.stringify({ ...state, user: toUser(member.identity) });
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

  /** What is here goes before what is told of elsewhere. */
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
    /** The member's name may have changed. */
    rename(member: M): void {
      store.trigger.renamed({ member });
      membersChanged = true;
      schedule();
    },
    /** The member wrote text under this client id, which nobody spoke for. */
    claim(member: M, clientId: number): void {
      if (!now().owners.has(clientId)) store.trigger.claimed({ member, clientId });
    },
    /** False for what a stock client sends back as it heard it from somebody who is here. */
    isOwnWord(member: M, clientId: number, entryClock: number): boolean {
      if (entryClock < clientClockEnd) return true;
      const owner = now().owners.get(clientId);
      return owner === undefined ? remote.state(clientId) === undefined : owner === member;
    },
    /** Somebody else speaks under this client id on another node; without an author, anybody. */
    isElsewhere,
    /** Another node tells. */
    hearNode(nodeId: string, news: PresenceNews): void {
      remote.hear(nodeId, news, clock.now());
      schedule();
    },
    /** Another node wants to know. */
    tellAll,
    ownerOf(clientId: number): M | undefined {
      return now().owners.get(clientId);
    },
    /** False when a state is not JSON. States that are too large, and what is not the member's to say, are dropped. */
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
    /** From now on it hears of the others, and first of all that are there. */
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

/** The state went through the server before, as one of the same author. */
function isStampedFor({ identity: { author } }: Member, state: object): boolean {
  const user: unknown = (state as { readonly user?: unknown }).user;
  if (typeof user !== "object" || user === null) return false;
  const { username, kind } = user as { readonly username?: unknown; readonly kind?: unknown };
  return username === author.username && kind === author.kind;
}

interface ReadEntry {
  readonly clientId: number;
  readonly clock: number;
  readonly state: object | null;
}

/** Undefined when it is no JSON object and not `null`. */
function readState(json: Uint8Array): object | null | undefined {
  try {
    const state: unknown = JSON.parse(text.decode(json));
    return typeof state === "object" && !Array.isArray(state) ? state : undefined;
  } catch {
    return undefined;
  }
}
