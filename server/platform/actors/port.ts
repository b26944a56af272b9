/**
 * Defines the actor runtime for services and machines. Every event is decided, persisted and then acted on.
 *
 * A persisted actor is one record with the machine's state and context. The pure `transition()` of the machine decides
 * an event. One commit holds the new record, the effect rows that the transition requests and everything else that must
 * change together with them. Effects run only after the commit. The record is authoritative, not a live actor tree.
 * Machines do not use `after` or `invoke`; each event carries the current time.
 *
 * A machine requests effects and timers with named actions. An action that the kind lists under `effects` becomes an
 * effect with the params of the action. The action `timer` with params `{ name, atMs, event }` schedules a row that
 * sends `event` at that time, unless the actor has taken another event before. With `{ name, atMs, event, keep: true }`
 * the timer survives other events. A timer scheduled under the same name replaces the earlier one, and
 * `{ name, atMs: null }` cancels it. The action `drop` with params `{ effects }` removes pending requests of the named effects that
 * earlier transitions made. An action that the kind lists under `facts` reports that something happened, which is
 * recorded in the same commit. See `machines/effect.ts`.
 */
import type { AnyStateMachine, EventObject } from "xstate";
import type { Batch, ClaimedRow, CommitResult, Conflict, Json, Partition, RecordType, Requirement, Stored } from "../storage/port.ts";

/** A requested effect that has no result yet. */
export interface PendingEffect {
  /** `<actor id>:<step>:<index>`. This is the id of the effect's due row while it has one, and its idempotency key. */
  readonly id: string;
  readonly effect: string;
  readonly params: Json;
}

export interface ArmedTimer {
  /** Id of the timer's due row. */
  readonly row: string;
  /** True if the timer stays armed when the actor takes other events. */
  readonly keep: boolean;
}

/** The stored record of an actor. `context` holds the domain's fields; it must be JSON. */
export interface ActorRecord<Context> {
  readonly id: string;
  /** XState state value. */
  readonly state: Json;
  readonly context: Context;
  /** Version of the machine that wrote the record. The record type upgrades older versions. */
  readonly machineVersion: number;
  /**
   * Number of events that the actor has taken, including its creation. A write of the record without an event does not
   * count.
   */
  readonly step: number;
  /**
   * In the order of the requests. Only the first effect has a due row, so the effects run one at a time and in order.
   */
  readonly pending: readonly PendingEffect[];
  /** Armed timers by name. */
  readonly timers: Readonly<Record<string, ArmedTimer>>;
  /** Id of the last effect whose result was accepted. A repeated result of this effect is refused as already seen. */
  readonly lastEffectId?: string;
}

/** Every event carries the store time at which it was decided. */
export interface ActorEvent extends EventObject {
  readonly nowMs: number;
}

/** An event before the runtime adds the time. Distributes over a union of events. */
export type Timeless<Event> = Event extends unknown ? Omit<Event, "nowMs"> : never;

/** Runs one effect. A thrown error counts as a failed attempt. */
export type RunEffect<Context, Event extends ActorEvent> = (effect: {
  /** The same in all attempts, so it can be the idempotency key for external services. */
  readonly id: string;
  readonly actorId: string;
  readonly params: Json;
  /** Counts from 1, including attempts that died with their process. */
  readonly attempt: number;
  readonly context: Context;
  /** Aborts when the lease is lost or the server drains. */
  readonly signal: AbortSignal;
  /**
   * The due row of the effect, as a precondition. Add it to `require` in each commit that the effect makes, so that an
   * effect that lost its lease cannot write.
   */
  readonly guard: Requirement & { readonly kind: "due" };
}) => Promise<EffectOutcome<Context, Event>>;

export type EffectOutcome<Context, Event extends ActorEvent> =
  /**
   * The event is committed together with the removal of the effect and with `alongside`. If the machine no longer
   * accepts the event, the event and its `alongside` are dropped and the effect is still removed.
   */
  | { readonly kind: "event"; readonly event: Timeless<Event>; readonly alongside?: Alongside | MakeAlongside<Context> }
  | { readonly kind: "done"; readonly alongside?: Alongside | MakeAlongside<Context> }
  /**
   * Like `event`, but computed from the current actor. It is computed again each time a conflict makes the runtime
   * decide again.
   */
  | { readonly kind: "decide"; readonly decide: (previous: Stored<ActorRecord<Context>>) => Promise<DecidedOutcome<Context, Event>> }
  /** Retries at that time. The number of such retries is not limited, but each one counts as an attempt. */
  | { readonly kind: "retry"; readonly atMs: number; readonly reason: string };

export interface DecidedOutcome<Context, Event extends ActorEvent> {
  readonly event: Timeless<Event>;
  readonly alongside?: MakeAlongside<Context>;
}

/** A fact that a machine reports during a transition (`fact()` in `machines/effect.ts`). */
export interface ToldFact<Context> {
  /** `<actor id>:<step>:fact:<index>`. The id stays the same if the transition is decided again. */
  readonly id: string;
  readonly params: Json;
  readonly nowMs: number;
  /** The actor after the whole transition. */
  readonly next: ActorRecord<Context>;
}

/** Further writes in the commit of an event, in addition to the actor itself. */
export interface Alongside extends Omit<Batch, "partition"> {
  /** Called after the commit has succeeded. */
  readonly started?: () => void;
}

/**
 * Computes the further writes from the actor before and after the event. It is called again each time a conflict makes
 * the runtime decide again.
 */
export type MakeAlongside<Context> = (
  next: ActorRecord<Context>,
  previous: Stored<ActorRecord<Context>> | null,
) => Alongside | Promise<Alongside>;

/**
 * The definition of an actor kind. It is pure, so services can use it before the effects of the kind exist.
 * `provide.ts` adds the functions that run the effects.
 */
export interface ActorKind<Context, Event extends ActorEvent, Effect extends string = string> {
  readonly name: string;
  /**
   * The input of the machine is the input of `create` plus `nowMs`. Entering a state with the tag `removed` deletes the
   * record.
   */
  readonly machine: AnyStateMachine;
  readonly machineVersion: number;
  readonly record: RecordType<ActorRecord<Context>>;
  /** Names of the actions that are effects. Effects of one actor run one at a time, in order. */
  readonly effects: readonly Effect[];
  /**
   * Fact name → writes for the fact in the commit of the transition, in the order in which the facts were reported. The
   * function must be pure, because it is called again each time the transition is decided again. Two facts of one
   * transition must not write the same record.
   */
  readonly facts?: Readonly<Record<string, (fact: ToldFact<Context>) => Omit<Batch, "partition">>>;
  /** Events that callers may send; refusals list only these. Their guards must accept an event without a payload. */
  readonly commands?: readonly Event["type"][];
  /**
   * Waits after failed attempts in milliseconds (default: 1 s, 5 s, 30 s, 2 min, 10 min). After the last one the actor
   * receives `<effect>.exhausted` with `reason` and `attempts`. If the machine does not accept that event, the effect
   * is retried further.
   */
  readonly backoffMs?: readonly number[];
  /** Number of effects of this kind that may run at once in this process. */
  readonly maxInFlight?: number;
  /**
   * A further limit for effects that share a name, such as all deliveries to one endpoint. It is fixed when the row of
   * the effect is written.
   */
  readonly lane?: (context: Context, effect: string) => Lane | undefined;
}

/** An actor kind with the functions that run its effects. */
// biome-ignore-start lint/suspicious/noExplicitAny: a list of kinds mixes contexts and events; each is used with its own only
export interface ProvidedKind {
  readonly kind: ActorKind<any, any>;
  /** Effect name → function that runs the effect. */
  readonly effects: Readonly<Record<string, RunEffect<any, any>>>;
  /**
   * Called after every successful commit that changed the actor. Use it for wake-ups and counts only, because the call
   * is lost if the process ends.
   */
  readonly committed?: (next: ActorRecord<any>) => void;
}
// biome-ignore-end lint/suspicious/noExplicitAny: see above

/** At most `max` tasks that name this lane run at once in this process. */
export interface Lane {
  readonly name: string;
  readonly max: number;
  /**
   * Applies instead of `max` while another lane of the same task is at least half full, so that a few names cannot use
   * up that lane.
   */
  readonly maxInCrowd?: number;
}

export interface SendOptions<Context> {
  /** Further writes in the same commit. */
  readonly alongside?: MakeAlongside<Context>;
  /** Requires this revision of the actor's record; otherwise the call fails with `precondition_failed`. */
  readonly atRevision?: number;
  /** Replaces `storage.commit`, so that the idempotent answer of a call is part of the commit (`Call.commit`). */
  readonly commit?: (batch: Batch, next: ActorRecord<Context>, revision: number) => Promise<CommitResult>;
}

/** The events that the actor's machine accepts now, as data for answers and pages. */
export interface AllowedEvents {
  /** Nested states are joined with dots. */
  readonly state: string;
  readonly allowed: readonly string[];
}

/** The commit met a conflict that a new decision cannot solve: a unique rule, a lease or a row of `alongside`. */
export class CommitConflict extends Error {
  override readonly name = "CommitConflict";
  readonly conflict: Conflict;
  constructor(conflict: Conflict) {
    super(`the commit met a conflict: ${JSON.stringify(conflict)}`);
    this.conflict = conflict;
  }
}

/** A change of an actor that another module commits. `started` must be called after that commit has succeeded. */
export interface ActorChange<Context> {
  readonly next: ActorRecord<Context>;
  readonly batch: Omit<Batch, "partition">;
  readonly started: () => void;
}

export interface ActorRuntime {
  /** Registers actor kinds, so that effects and timers of their actors can run. Call it before the pump starts. */
  register(kinds: readonly ProvidedKind[]): void;
  /** Creates an actor in the initial state of its machine. Fails with `already_exists` if the id is taken. */
  create<Context, Event extends ActorEvent>(
    kind: ActorKind<Context, Event>,
    id: string,
    input: object,
    options?: SendOptions<Context>,
  ): Promise<Stored<ActorRecord<Context>>>;
  /**
   * Decides and commits one event. Fails with `invalid_transition` (`currentState`, `allowed`) if the machine does not
   * accept the event, and with `not_found` if the actor does not exist. After a record conflict the runtime reloads the
   * record and decides again; other conflicts are thrown as `CommitConflict`.
   */
  send<Context, Event extends ActorEvent>(
    kind: ActorKind<Context, Event>,
    id: string,
    event: Timeless<Event>,
    options?: SendOptions<Context>,
  ): Promise<Stored<ActorRecord<Context>>>;
  /**
   * Deletes the actor's record and all its rows in one commit. Returns false if the actor has changed since it was
   * read. The id must never be used again.
   */
  remove<Context, Event extends ActorEvent>(
    kind: ActorKind<Context, Event>,
    id: string,
    replacing: Stored<ActorRecord<Context>>,
    alongside?: Alongside,
  ): Promise<boolean>;
  /** Pure. Prepares the creation of an actor inside another commit. */
  birth<Context, Event extends ActorEvent>(kind: ActorKind<Context, Event>, id: string, input: object): ActorChange<Context>;
  /** Pure. Decides an event inside another commit and refuses like `send`. The caller must retry after a conflict. */
  move<Context, Event extends ActorEvent>(
    kind: ActorKind<Context, Event>,
    previous: Stored<ActorRecord<Context>>,
    event: Timeless<Event>,
  ): ActorChange<Context>;
  allowed<Context, Event extends ActorEvent>(kind: ActorKind<Context, Event>, record: ActorRecord<Context>): AllowedEvents;
}

/**
 * Processes a due row. The worker must be idempotent, because a row may be delivered twice. A thrown error is logged
 * and the row is retried later.
 */
export type DueWorker = (row: ClaimedRow, signal: AbortSignal) => Promise<DueOutcome>;

export type DueOutcome =
  | { readonly kind: "done" }
  /** The worker has acknowledged or replaced the row in its own commit. */
  | { readonly kind: "settled" }
  | { readonly kind: "retry"; readonly atMs: number };

export interface DueWorkerOptions {
  /** The lanes of a row. The row waits until each of them has room. */
  readonly lanes?: (row: ClaimedRow) => readonly Lane[];
}

/** Claims due rows in all partitions and gives each row to the worker of its kind. */
export interface DuePump {
  register(kind: string, worker: DueWorker, options?: DueWorkerOptions): void;
  /** Runs a row at once that a commit of this node has just written under its own lease. */
  adopt(row: ClaimedRow): void;
  /** Makes the pump claim at `dueAtMs` instead of waiting for the next poll, because a new row falls due then. */
  wake(partition: Partition, dueAtMs: number): void;
  start(): void;
  /**
   * Stops claiming and waits for the running rows until the signal aborts. Then the remaining rows are returned to the
   * store.
   */
  drain(signal: AbortSignal): Promise<void>;
}
