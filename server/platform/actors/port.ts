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
 *
 * Whatever changes together is gathered in one `UnitOfWork` and committed once.
 */
import type { AnyStateMachine } from "xstate";
import type { AppError } from "../../../api/schema/error.ts";
import type {
  Batch,
  CommitResult,
  Conflict,
  DueWrite,
  Json,
  LogName,
  LogWrite,
  Partition,
  RecordType,
  RecordWrite,
  Requirement,
  Stored,
} from "../storage/port.ts";
import type { ActorEvent, ActorRecord, Timeless } from "./actorRecord.ts";
import type { Lane } from "./duePort.ts";

export type { ActorEvent, ActorRecord, ArmedTimer, PendingEffect, Timeless } from "./actorRecord.ts";

/**
 * The changes of one commit in one partition. Everything that must change together is gathered in one unit: the code
 * of a request, the listeners of other domains and the facts of machines all write into it.
 *
 * The unit knows the newest version of each actor inside the commit: a second event to an actor continues from the
 * result of the first, and the record is written once. Nothing is stored before the commit. If a record changes
 * meanwhile, the unit is discarded and everything is gathered again in a new one.
 */
export interface UnitOfWork {
  readonly partition: Partition;
  /**
   * Adds the write of a record that is not an actor. Throws if the unit writes this record already, because a commit
   * may write a record only once.
   */
  record<Value>(write: RecordWrite<Value>): void;
  log(write: LogWrite): void;
  /** Adds the write of a due row. A `cancel` replaces an earlier `schedule` or `arm` of the same row in this unit. */
  due(write: DueWrite): void;
  /** Adds a condition of the commit. */
  require(requirement: Requirement): void;
  /**
   * The actor as this commit leaves it; `undefined` if there is none. The record is read from the store once, so all
   * code that takes part in the commit sees the same version. `revision` is that of the stored record, 0 for an actor
   * that this unit creates.
   */
  read<Context, Event extends ActorEvent>(kind: ActorKind<Context, Event>, id: string): Promise<Stored<ActorRecord<Context>> | undefined>;
  /** Creates an actor in the initial state of its machine. The commit meets a record conflict if the id is taken. */
  create<Context, Event extends ActorEvent>(kind: ActorKind<Context, Event>, id: string, input: object): ActorRecord<Context>;
  /**
   * Decides an event and returns the actor after it. Throws `invalid_transition` (`currentState`, `allowed`) if the
   * machine does not accept the event, and `not_found` if the actor does not exist.
   */
  send<Context, Event extends ActorEvent>(
    kind: ActorKind<Context, Event>,
    id: string,
    event: Timeless<Event>,
  ): Promise<ActorRecord<Context>>;
  /** Number of entries that the unit appends to this log. */
  appended(log: LogName): number;
  /**
   * Runs `run` after the commit has succeeded. Use it for wake-ups and logging only: it is lost if the process ends. An
   * error of `run` is logged, because the commit is stored.
   */
  afterCommit(run: () => void): void;
}

/** A unit whose commit the caller makes itself, because the caller decides what a conflict means. */
export interface OpenUnit extends UnitOfWork {
  /** True if nothing was gathered, so there is nothing to commit. */
  readonly isEmpty: boolean;
  /** Passes the gathered batch to `commit`. If the commit succeeds, runs the effects and the `afterCommit` functions. */
  commit(commit: (batch: Batch) => Promise<CommitResult>): Promise<CommitResult>;
}

/** Adds further changes to the commit of an event. Called again each time the event is decided again. */
export type Gather<Context> = (
  unit: UnitOfWork,
  next: ActorRecord<Context>,
  previous: Stored<ActorRecord<Context>> | null,
) => void | Promise<void>;

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
   * The event is committed together with the removal of the effect and with the changes of `gather`. If the machine no
   * longer accepts the event, the event and its changes are dropped and the effect is still removed.
   */
  | { readonly kind: "event"; readonly event: Timeless<Event>; readonly gather?: Gather<Context> }
  | { readonly kind: "done"; readonly gather?: Gather<Context> }
  /**
   * Like `event`, but computed from the current actor. It is computed again, with a new unit, each time a conflict makes
   * the runtime decide again.
   */
  | {
      readonly kind: "decide";
      readonly decide: (unit: UnitOfWork, previous: Stored<ActorRecord<Context>>) => Promise<DecidedOutcome<Context, Event>>;
    }
  /**
   * Retries at that time. The number of such retries is not limited, but each one counts as an attempt, unless it is
   * `uncounted`. Use that if the cause has nothing to do with the actor, such as an unavailable store.
   */
  | { readonly kind: "retry"; readonly atMs: number; readonly reason: string; readonly uncounted?: boolean };

export interface DecidedOutcome<Context, Event extends ActorEvent> {
  readonly event: Timeless<Event>;
  readonly gather?: Gather<Context>;
}

/** A fact that a machine reports during a transition (`fact()` in `machines/effect.ts`). */
export interface RecordedFact<Context> {
  /** `<actor id>:<step>:fact:<index>`. The id stays the same if the transition is decided again. */
  readonly id: string;
  readonly params: Json;
  readonly nowMs: number;
  /** The actor after the whole transition. */
  readonly next: ActorRecord<Context>;
}

/** A command in the words of the callers who send it. */
export interface CommandWords<Operation extends string = string> {
  /** A verb phrase: "archive the topic". */
  readonly asked: string;
  /** Operations of the contract that send the command: "topics.archive". */
  readonly operations: readonly Operation[];
}

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
   * Fact name → function that writes the fact into the commit of the transition, in the order in which the facts were
   * reported. The function must depend on the fact only, because it is called again each time the transition is decided
   * again.
   */
  readonly facts?: Readonly<Record<string, (unit: UnitOfWork, fact: RecordedFact<Context>) => void>>;
  /** Events that callers may send; refusals list only these. Their guards must accept an event without a payload. */
  readonly commands?: readonly Event["type"][];
  /** Names the actor in refusals: "topic". By default the name of the kind. */
  readonly noun?: (context: Context) => string;
  /** Words of the commands in refusals. A command without words is named by its event. */
  readonly words?: Readonly<Partial<Record<Event["type"], CommandWords>>>;
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
  /** Adds further changes to the commit of an event that a timer sent. */
  readonly timed?: Gather<any>;
}
// biome-ignore-end lint/suspicious/noExplicitAny: see above

export interface SendOptions<Context> {
  /** Further writes in the same commit. */
  readonly gather?: Gather<Context>;
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
  /** Operations of the contract that send these events, without repeats. */
  readonly operations: readonly string[];
}

/** The commit met a conflict that a new decision cannot solve: a unique rule, a lease, or a due row of the unit. */
export class CommitConflict extends Error {
  override readonly name = "CommitConflict";
  readonly conflict: Conflict;
  constructor(conflict: Conflict) {
    super(`the commit met a conflict: ${JSON.stringify(conflict)}`);
    this.conflict = conflict;
  }
}

/** Makes a commit: the store itself, or a call, which makes its idempotent answer from `value` a part of the commit. */
export interface Committer<Value> {
  commit(batch: Batch, value: Value): Promise<CommitResult>;
}

export interface UnitOptions<Value> {
  /** Name of the operation in the metrics of conflicts. Never a value from a request. */
  readonly operation: string;
  readonly partition: Partition;
  readonly committer: Committer<NoInfer<Value>>;
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
  ): Promise<boolean>;
  /**
   * Gathers one unit and commits it; if nothing was gathered, commits nothing. After a record conflict, gathers again in
   * a new unit, so `gather` must read everything again. Resolves with the value of `gather`, which is passed to the
   * committer too. Other conflicts are thrown as `CommitConflict`.
   */
  commitUnit<Value>(options: UnitOptions<Value>, gather: (unit: UnitOfWork) => Promise<Value>): Promise<Value>;
  openUnit(partition: Partition): OpenUnit;
  /** The error that `send` would throw; `undefined` if the machine accepts the event. Pure. */
  refusal<Context, Event extends ActorEvent>(
    kind: ActorKind<Context, Event>,
    record: ActorRecord<Context>,
    event: Timeless<Event>,
  ): AppError | undefined;
  allowed<Context, Event extends ActorEvent>(kind: ActorKind<Context, Event>, record: ActorRecord<Context>): AllowedEvents;
}
