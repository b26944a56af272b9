/**
 * The actor runtime as services and machines see it: decide, persist, act.
 *
 * A persisted actor is one record: the machine's state and context. An event is decided by the pure
 * `transition()` of its machine; the new record, the effect rows that the transition asks for and whatever
 * else must be true with it go into one commit; only then are the effects run. No live actor tree is the
 * truth, no machine uses `after` or `invoke`, and the time is an argument of the event.
 *
 * A machine asks for effects and timers with its named actions: an action whose name the kind lists under
 * `effects` becomes an effect with the action's params; the action `timer` with params
 * `{ name, atMs, event }` becomes a row that sends `event` at that time if the actor has not moved since,
 * or, with `{ name, atMs, event, keep: true }`, whatever it did meanwhile (scheduled again under the same
 * name it replaces the earlier one; `{ name, atMs: null }` cancels it); the action `drop` with params `{ effects }`
 * takes back what earlier moves asked of the effects it names. An action whose name the kind lists under
 * `facts` says that something happened, which is recorded in the same commit. See `machines/effect.ts`.
 */
import type { AnyStateMachine, EventObject } from "xstate";
import type { Batch, ClaimedRow, CommitResult, Conflict, Json, Partition, RecordType, Requirement, Stored } from "../storage/port.ts";

/** An effect that was asked for and has no result yet. */
export interface PendingEffect {
  /** `<actor id>:<step>:<index>`: the id of its due row while it has one, and its idempotency key. */
  readonly id: string;
  readonly effect: string;
  readonly params: Json;
}

export interface ArmedTimer {
  /** Id of its due row. */
  readonly row: string;
  /** Fires whatever the actor did since it was armed. */
  readonly keep: boolean;
}

/** What is kept of an actor. `context` holds the domain's fields; it must be JSON. */
export interface ActorRecord<Context> {
  readonly id: string;
  /** XState state value. */
  readonly state: Json;
  readonly context: Context;
  /** Version of the machine that wrote it; older ones are upgraded by the record type. */
  readonly machineVersion: number;
  /** Events taken in so far, the birth included. Writing the record without an event does not count. */
  readonly step: number;
  /** In the order they were asked for. Only the first has a due row: so they run one at a time, in order. */
  readonly pending: readonly PendingEffect[];
  /** By name. */
  readonly timers: Readonly<Record<string, ArmedTimer>>;
  /** Id of the last effect whose result was taken in; a repeat of it is refused as already seen. */
  readonly lastEffectId?: string;
}

/** Every event carries the store time at which it was decided. */
export interface ActorEvent extends EventObject {
  readonly nowMs: number;
}

/** An event before the runtime puts the time on it; distributes over a union of events. */
export type Timeless<Event> = Event extends unknown ? Omit<Event, "nowMs"> : never;

/** Runs one effect. A thrown error is a failed attempt. */
export type RunEffect<Context, Event extends ActorEvent> = (effect: {
  /** Stable over all attempts: the idempotency key towards the outside. */
  readonly id: string;
  readonly actorId: string;
  readonly params: Json;
  /** From 1. An attempt that died with its process counts. */
  readonly attempt: number;
  readonly context: Context;
  /** Aborts when the lease is lost or the server drains. */
  readonly signal: AbortSignal;
  /** The row it runs under, as a condition: `require` it in what is committed on the way, and a lost lease writes nothing more. */
  readonly guard: Requirement & { readonly kind: "due" };
}) => Promise<EffectOutcome<Context, Event>>;

export type EffectOutcome<Context, Event extends ActorEvent> =
  /**
   * Committed together with the removal of the effect (and `alongside`). When the machine does not take the
   * event any more, it is dropped with its `alongside` and the effect is removed all the same.
   */
  | { readonly kind: "event"; readonly event: Timeless<Event>; readonly alongside?: Alongside | MakeAlongside<Context> }
  | { readonly kind: "done"; readonly alongside?: Alongside | MakeAlongside<Context> }
  /** Like `event`, worked out from the actor as it is, anew each time a conflict makes the runtime decide again. */
  | { readonly kind: "decide"; readonly decide: (previous: Stored<ActorRecord<Context>>) => Promise<DecidedOutcome<Context, Event>> }
  /** Try again at that time, however often; the attempt counts. */
  | { readonly kind: "retry"; readonly atMs: number; readonly reason: string };

export interface DecidedOutcome<Context, Event extends ActorEvent> {
  readonly event: Timeless<Event>;
  readonly alongside?: MakeAlongside<Context>;
}

/** What a machine tells in the course of a move (`fact()` in `machines/effect.ts`). */
export interface ToldFact<Context> {
  /** `<actor id>:<step>:fact:<index>`: the same however often the move is decided. */
  readonly id: string;
  readonly params: Json;
  readonly nowMs: number;
  /** The actor after the whole move. */
  readonly next: ActorRecord<Context>;
}

/** What else changes in the commit of an event, beside the actor itself. */
export interface Alongside extends Omit<Batch, "partition"> {
  /** Called once the commit stands. */
  readonly started?: () => void;
}

/** Made from the actor before and after the event, anew each time a conflict makes the runtime decide again. */
export type MakeAlongside<Context> = (
  next: ActorRecord<Context>,
  previous: Stored<ActorRecord<Context>> | null,
) => Alongside | Promise<Alongside>;

export interface ActorKind<Context, Event extends ActorEvent> {
  readonly name: string;
  /** Its input is what `create` is given plus `nowMs`. Entering a state with the tag `removed` deletes the record. */
  readonly machine: AnyStateMachine;
  readonly machineVersion: number;
  readonly record: RecordType<ActorRecord<Context>>;
  /** Effect name → who runs it. Effects of one actor run one at a time, in order. */
  readonly effects: Readonly<Record<string, RunEffect<Context, Event>>>;
  /**
   * Fact name → what is written of it in the commit of the move, in the order in which the facts were told. Pure: it is asked
   * anew each time the move is decided again. No two facts of a move may write one record.
   */
  readonly facts?: Readonly<Record<string, (fact: ToldFact<Context>) => Omit<Batch, "partition">>>;
  /** Called once a commit that changed the actor stands, however it came about: for wake-ups and counts, never for the truth. */
  readonly committed?: (next: ActorRecord<Context>) => void;
  /** Events that callers may send; only these are told in refusals. Their guards must bear an event without payload. */
  readonly commands?: readonly Event["type"][];
  /**
   * Waits after failed attempts in milliseconds (default: 1 s, 5 s, 30 s, 2 min, 10 min). At the end the actor is sent
   * `<effect>.exhausted` with `reason` and `attempts`; a machine that does not take it has the effect tried on.
   */
  readonly backoffMs?: readonly number[];
  /** Effects of this kind that may run at once in this process. */
  readonly maxInFlight?: number;
  /** A further cap for effects that share a name, such as all deliveries to one endpoint. Fixed when the row of the effect is written. */
  readonly lane?: (context: Context, effect: string) => Lane | undefined;
}

/** At most `max` of what names this lane runs at once in this process. */
export interface Lane {
  readonly name: string;
  readonly max: number;
  /** Holds instead of `max` while another lane of the same work is half full, so that a few cannot take it all. */
  readonly maxInCrowd?: number;
}

export interface SendOptions<Context> {
  /** Further changes of the same commit. */
  readonly alongside?: MakeAlongside<Context>;
  /** Demand that the actor still has this record revision; else `precondition_failed`. */
  readonly atRevision?: number;
  /** Replaces `storage.commit`, so that a call's idempotent answer joins the commit (`Call.commit`). */
  readonly commit?: (batch: Batch, next: ActorRecord<Context>, revision: number) => Promise<CommitResult>;
}

/** What may happen to an actor now: the events its machine takes, as data for answers and pages. */
export interface AllowedEvents {
  /** Nested states are joined with dots. */
  readonly state: string;
  readonly allowed: readonly string[];
}

/** A commit was refused for a reason that deciding again cannot mend: a unique rule, a lease or a row of `alongside`. */
export class CommitConflict extends Error {
  override readonly name = "CommitConflict";
  readonly conflict: Conflict;
  constructor(conflict: Conflict) {
    super(`the commit met a conflict: ${JSON.stringify(conflict)}`);
    this.conflict = conflict;
  }
}

/** A change of an actor for somebody else's commit. `started` must be called once that commit stands. */
export interface ActorChange<Context> {
  readonly next: ActorRecord<Context>;
  readonly batch: Omit<Batch, "partition">;
  readonly started: () => void;
}

export interface ActorRuntime {
  /** Makes kinds known, so that effects and timers of their actors can be taken over. Call before the pump starts. */
  // biome-ignore lint/suspicious/noExplicitAny: a list of kinds mixes contexts and events; each is used with its own only
  register(kinds: readonly ActorKind<any, any>[]): void;
  /** Makes an actor in its machine's initial state. Fails with `already_exists` when the id is taken. */
  create<Context, Event extends ActorEvent>(
    kind: ActorKind<Context, Event>,
    id: string,
    input: object,
    options?: SendOptions<Context>,
  ): Promise<Stored<ActorRecord<Context>>>;
  /**
   * Decides one event. Refuses with `invalid_transition` (`currentState`, `allowed`) when the machine does not
   * take it, `not_found` when there is no such actor. Conflicts of records reload and decide again; others are
   * thrown as `CommitConflict`.
   */
  send<Context, Event extends ActorEvent>(
    kind: ActorKind<Context, Event>,
    id: string,
    event: Timeless<Event>,
    options?: SendOptions<Context>,
  ): Promise<Stored<ActorRecord<Context>>>;
  /**
   * The removal of an actor: its record and all its rows, in one commit. False when it changed meanwhile. The id
   * must never be used again.
   */
  remove<Context, Event extends ActorEvent>(
    kind: ActorKind<Context, Event>,
    id: string,
    replacing: Stored<ActorRecord<Context>>,
    alongside?: Alongside,
  ): Promise<boolean>;
  /** Pure: an actor born in another commit. */
  birth<Context, Event extends ActorEvent>(kind: ActorKind<Context, Event>, id: string, input: object): ActorChange<Context>;
  /** Pure: an event decided inside another commit; refuses like `send`. A conflict is the caller's to retry. */
  move<Context, Event extends ActorEvent>(
    kind: ActorKind<Context, Event>,
    previous: Stored<ActorRecord<Context>>,
    event: Timeless<Event>,
  ): ActorChange<Context>;
  allowed<Context, Event extends ActorEvent>(kind: ActorKind<Context, Event>, record: ActorRecord<Context>): AllowedEvents;
}

/** Does the work of a due row. Idempotent: a row may come twice. A thrown error is logged and tried again later. */
export type DueWorker = (row: ClaimedRow, signal: AbortSignal) => Promise<DueOutcome>;

export type DueOutcome =
  | { readonly kind: "done" }
  /** The worker has acknowledged or replaced the row in its own commit. */
  | { readonly kind: "settled" }
  | { readonly kind: "retry"; readonly atMs: number };

export interface DueWorkerOptions {
  /** A row waits until there is room in each of its lanes. */
  readonly lanes?: (row: ClaimedRow) => readonly Lane[];
}

/** Claims what falls due in all partitions and hands it to the worker of its kind. */
export interface DuePump {
  register(kind: string, worker: DueWorker, options?: DueWorkerOptions): void;
  /** Runs at once a row that a commit of this node has just written, leased to itself. */
  adopt(row: ClaimedRow): void;
  /** Something was written that falls due then: look at that moment, do not wait for the next poll. */
  wake(partition: Partition, dueAtMs: number): void;
  start(): void;
  /** Stops claiming, waits for what is in hand until the signal aborts, then gives it back. */
  drain(signal: AbortSignal): Promise<void>;
}
