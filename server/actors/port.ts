/**
 * The actor runtime as services and machines see it: decide, persist, act.
 *
 * A persisted actor is one record: the machine's state and context. An event is decided by the pure
 * `transition()` of its machine; the new record, the effect rows that the transition asks for and whatever
 * else must be true with it go into one commit; only then are the effects run. No live actor tree is the
 * truth, no machine uses `after` or `invoke`, and the time is an argument of the event.
 *
 * A machine asks for effects and timers with its named actions: an action whose name the kind lists under
 * `effects` becomes an effect row with the action's params; the action `timer` with params
 * `{ name, atMs, event }` becomes a row that sends `event` at that time if the actor has not moved since,
 * or, with `{ name, atMs, event, keep: true }`, whatever it did meanwhile (scheduled again under the same
 * name it replaces the earlier one; `{ name, atMs: null }` cancels it).
 */
import type { AnyStateMachine, EventObject } from "xstate";
import type { Batch, Json, Partition, RecordType, Stored } from "../storage/port.ts";

/** What is kept of an actor. `context` holds the domain's fields; it must be JSON. */
export interface ActorRecord<Context> {
  readonly id: string;
  /** XState state value. */
  readonly state: Json;
  readonly context: Context;
  /** Version of the machine that wrote it; older ones are upgraded by the record type. */
  readonly machineVersion: number;
  /** Id of the last result event taken in; a repeat of it is refused as already seen. */
  readonly lastEffectId?: string;
}

/** Every event carries the store time at which it was decided. */
export interface ActorEvent extends EventObject {
  readonly nowMs: number;
}

/** Runs one effect. Resolves with the event that tells the actor the outcome, or undefined when there is none. */
export type RunEffect<Context, Event extends ActorEvent> = (effect: {
  /** Stable over all attempts: the idempotency key towards the outside. */
  readonly id: string;
  readonly actorId: string;
  readonly params: Json;
  readonly attempt: number;
  readonly context: Context;
  /** Aborts when the lease is lost or the server drains. */
  readonly signal: AbortSignal;
}) => Promise<EffectOutcome<Event>>;

export type EffectOutcome<Event extends ActorEvent> =
  /** Committed together with the removal of the effect row (and `alongside`). */
  | { readonly kind: "event"; readonly event: Omit<Event, "nowMs">; readonly alongside?: Alongside }
  | { readonly kind: "done"; readonly alongside?: Alongside }
  /** Try again at that time; the attempt counts. */
  | { readonly kind: "retry"; readonly atMs: number; readonly reason: string };

/** What else changes in the commit of an event, beside the actor itself. */
export type Alongside = Omit<Batch, "partition">;

export interface ActorKind<Context, Event extends ActorEvent> {
  readonly name: string;
  readonly machine: AnyStateMachine;
  readonly machineVersion: number;
  readonly record: RecordType<ActorRecord<Context>>;
  /** Effect name → who runs it. Effects of one actor run one at a time, in order. */
  readonly effects: Readonly<Record<string, RunEffect<Context, Event>>>;
  /** Backoff of failed attempts (a thrown error counts as one) in milliseconds; its end sends `<effect>.exhausted`. */
  readonly backoffMs?: readonly number[];
  /** Effects of this kind that may run at once in this process. */
  readonly maxInFlight?: number;
}

export interface SendOptions<Context> {
  /** Further changes of the same commit, made from the actor before and after the event. */
  readonly alongside?: (next: ActorRecord<Context>, previous: Stored<ActorRecord<Context>> | null) => Alongside | Promise<Alongside>;
  /** Demand that the actor still has this revision. */
  readonly atRevision?: number;
  /** Replaces `storage.commit`, so that a call's idempotent answer joins the commit (`Call.commit`); `value` gets the new record. */
  readonly commit?: (
    batch: Batch,
    next: ActorRecord<Context>,
    revision: number,
  ) => ReturnType<import("../storage/port.ts").Storage["commit"]>;
}

/** What may happen to an actor now: the events its machine takes, as data for answers and pages. */
export interface AllowedEvents {
  readonly state: string;
  readonly allowed: readonly string[];
}

export interface ActorRuntime {
  /** Makes an actor in its machine's initial state with `input`. Fails with `already_exists` when the id is taken. */
  create<Context, Event extends ActorEvent>(
    kind: ActorKind<Context, Event>,
    id: string,
    input: unknown,
    options?: SendOptions<Context>,
  ): Promise<Stored<ActorRecord<Context>>>;
  /**
   * Decides one event. Refuses with `invalid_transition` (`currentState`, `allowed`) when the machine does not
   * take it, `not_found` when there is no such actor. Conflicts reload and decide again.
   */
  send<Context, Event extends ActorEvent>(
    kind: ActorKind<Context, Event>,
    id: string,
    event: Omit<Event, "nowMs">,
    options?: SendOptions<Context>,
  ): Promise<Stored<ActorRecord<Context>>>;
  /** The removal of an actor: its record and all its rows, in one commit. */
  remove<Context, Event extends ActorEvent>(
    kind: ActorKind<Context, Event>,
    id: string,
    replacing: Stored<ActorRecord<Context>>,
    alongside?: Alongside,
  ): Promise<boolean>;
  /** Pure: the record, and rows to put into somebody else's batch, for an actor born in another commit. */
  birth<Context, Event extends ActorEvent>(
    kind: ActorKind<Context, Event>,
    id: string,
    input: unknown,
  ): { readonly batch: Alongside; readonly started: () => void };
  allowed<Context, Event extends ActorEvent>(kind: ActorKind<Context, Event>, record: ActorRecord<Context>): AllowedEvents;
}

/** A worker for due rows that are not effects of an actor (checkpoints, expiry). Idempotent: a row may come twice. */
export type DueWorker = (row: import("../storage/port.ts").ClaimedRow, signal: AbortSignal) => Promise<DueOutcome>;

export type DueOutcome =
  | { readonly kind: "done" }
  /** The worker has acknowledged or replaced the row in its own commit. */
  | { readonly kind: "settled" }
  | { readonly kind: "retry"; readonly atMs: number };

/** Claims what falls due in all partitions and hands it to the worker of its kind. */
export interface DuePump {
  register(kind: string, worker: DueWorker): void;
  /** Look now: something was written that is due (or nearly). */
  wake(partition: Partition, dueAtMs: number): void;
  start(): void;
  /** Stops claiming, waits for what is in hand until the signal aborts, then gives it back. */
  drain(signal: AbortSignal): Promise<void>;
}
