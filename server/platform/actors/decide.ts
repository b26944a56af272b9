/**
 * Decides what one event changes in an actor and returns the changes as data for a commit.
 *
 * This is the pure half of the runtime. It runs the machine's `transition()` and turns the resulting actions into rows.
 * Only the first pending effect has a due row. The next effect gets its row in the commit that settles the effect
 * before it. Row ids are never reused, so the fence of an earlier row never matches a later row. This module knows no
 * store and no clock.
 */
import { type AnyMachineSnapshot, initialTransition, transition } from "xstate";
import { AppError } from "../../../api/schema/error.ts";
import type { DropParams, TimerParams } from "../../../machines/effect.ts";
import type { ClaimedRow, DueWrite, Json } from "../storage/port.ts";
import { defineDueKind, type Lane } from "./duePort.ts";
import type { ActorKind, ActorRecord, AllowedEvents, ArmedTimer, PendingEffect, RecordedFact } from "./port.ts";

/** Payload of both kinds of row. It identifies the actor by the name of its kind and its id. */
export interface ActorRowPayload {
  readonly actor: string;
  readonly id: string;
}
export interface EffectRowPayload extends ActorRowPayload {
  readonly lane?: Lane;
}
export interface TimerRowPayload extends ActorRowPayload {
  readonly name: string;
  readonly event: { readonly type: string };
}

export const effectRows = defineDueKind<EffectRowPayload>("actor.effect");
export const timerRows = defineDueKind<TimerRowPayload>("actor.timer");

// biome-ignore lint/suspicious/noExplicitAny: a kind whose context and event are not known here
export type AnyActorKind = ActorKind<any, any>;

/** The claimed row that delivered an event or holds an effect. */
type RowReference = Pick<ClaimedRow, "id" | "fence">;

export interface Turn {
  readonly nowMs: number;
  readonly leaseMs: number;
}

export interface Decided<Context> {
  readonly next: ActorRecord<Context>;
  /** The actor entered a state with the tag `removed`, so its record is deleted. */
  readonly removed: boolean;
  readonly due: readonly DueWrite[];
  /** The facts of this transition with their names, in the order in which they were reported. */
  readonly facts: readonly (RecordedFact<Context> & { readonly name: string })[];
  /** The row of the effect to run next, in the form in which this node holds it after the commit. */
  readonly born?: ClaimedRow;
  readonly timerTimesMs: readonly number[];
}

/** Result of a transition: the next state, and the actions that it requests. */
interface Taken<Context> {
  readonly step: number;
  readonly state: Json;
  readonly context: Context;
  readonly actions: readonly { readonly type: string; readonly params: unknown }[];
  readonly removed: boolean;
}

function toTaken<Context>(
  step: number,
  [snapshot, actions]: readonly [AnyMachineSnapshot, readonly { readonly type: string; readonly params: unknown }[]],
): Taken<Context> {
  return { step, state: snapshot.value as Json, context: snapshot.context as Context, actions, removed: snapshot.hasTag("removed") };
}

function toSnapshot(kind: AnyActorKind, record: ActorRecord<unknown>): AnyMachineSnapshot {
  if (record.machineVersion !== kind.machineVersion) {
    const detail = `has machine version ${record.machineVersion}, not ${kind.machineVersion}: its record type must upgrade it`;
    throw new Error(`${kind.name} ${record.id} ${detail}`);
  }
  return kind.machine.resolveState({ value: record.state as never, context: record.context as never });
}

/** Nested states are joined with dots, parallel states with commas. */
function toStateName(value: unknown): string {
  if (typeof value === "string") return value;
  const names = Object.entries(value as Record<string, unknown>).map(([name, inner]) => {
    const rest = toStateName(inner);
    return rest === "" ? name : `${name}.${rest}`;
  });
  return names.join(", ");
}

export function toAllowed(kind: AnyActorKind, record: ActorRecord<unknown>, nowMs: number): AllowedEvents {
  const snapshot = toSnapshot(kind, record);
  const events: readonly string[] = kind.commands ?? kind.machine.events;
  const allowed = events.filter((type) => snapshot.can({ type, nowMs }));
  const operations = [...new Set(allowed.flatMap((type) => kind.words?.[type]?.operations ?? [type]))];
  return { state: toStateName(record.state), allowed, operations };
}

/** Returns the refusal of an event: it names the request, the state of the actor, and the possible operations. */
export function toInvalidTransition(kind: AnyActorKind, record: ActorRecord<unknown>, type: string, nowMs: number): AppError {
  const { state, operations } = toAllowed(kind, record, nowMs);
  const asked = kind.words?.[type]?.asked ?? `send ${type}`;
  const noun = kind.noun?.(record.context) ?? kind.name;
  const rest = operations.length === 0 ? "No operation is possible in this state" : `Possible operations: ${operations.join(", ")}`;
  return new AppError("invalid_transition", `Cannot ${asked}: this ${noun} is in the state ${state}. ${rest}.`, {
    currentState: state,
    allowed: [...operations],
  });
}

export function decideCreation<Context>(
  kind: ActorKind<Context, never> | AnyActorKind,
  id: string,
  input: object,
  turn: Turn,
): Decided<Context> {
  const taken = toTaken<Context>(1, initialTransition(kind.machine, { nowMs: turn.nowMs, ...input }));
  return toDecided<Context>(kind, id, undefined, taken, undefined, turn);
}

/**
 * Returns `undefined` if the machine does not accept the event. `by` is the row that delivered the event; it is
 * acknowledged.
 */
export function decideEvent<Context>(
  kind: AnyActorKind,
  before: ActorRecord<Context>,
  event: { readonly type: string },
  by: RowReference | undefined,
  turn: Turn,
): Decided<Context> | undefined {
  const snapshot = toSnapshot(kind, before);
  const timed = { ...event, nowMs: turn.nowMs };
  if (!snapshot.can(timed)) return undefined;
  const taken = toTaken<Context>(before.step + 1, transition(kind.machine, snapshot, timed));
  return toDecided(kind, before.id, before, taken, by, turn);
}

/** Acknowledges the row `by` without sending an event to the machine. */
export function decideSettled<Context>(kind: AnyActorKind, before: ActorRecord<Context>, by: RowReference, turn: Turn): Decided<Context> {
  const { id, step, state, context } = before;
  return toDecided(kind, id, before, { step, state, context, actions: [], removed: false }, by, turn);
}

/** Cancels every due row of the actor, for the commit that deletes the actor. */
export function toCancelled(record: ActorRecord<unknown>): readonly DueWrite[] {
  const rows = [...record.pending.slice(0, 1).map((effect) => effect.id), ...Object.values(record.timers).map((timer) => timer.row)];
  return rows.map((id) => ({ op: "cancel", id }));
}

function toDecided<Context>(
  kind: AnyActorKind,
  id: string,
  before: ActorRecord<Context> | undefined,
  taken: Taken<Context>,
  by: RowReference | undefined,
  turn: Turn,
): Decided<Context> {
  const partition = kind.record.partitionOf(id);
  const due: DueWrite[] = by === undefined ? [] : [{ op: "acknowledge", id: by.id, fence: by.fence }];
  const dropped = toDropped(taken);
  const kept = (before?.pending ?? []).filter(({ id: row, effect }) => row !== by?.id && !dropped.has(effect));
  const requested = toPending(kind, id, taken);
  const pending = [...kept, ...requested];
  const { timers, writes, timesMs } = toTimers(kind, id, before, taken, by);
  const settledEffect = by !== undefined && before?.pending[0]?.id === by.id;
  const next: ActorRecord<Context> = {
    id,
    state: taken.state,
    context: taken.context,
    machineVersion: kind.machineVersion,
    step: taken.step,
    pending,
    timers,
    ...(settledEffect ? { lastEffectId: by.id } : before?.lastEffectId === undefined ? {} : { lastEffectId: before.lastEffectId }),
  };
  const facts = toFacts(kind, next, taken, turn);
  if (taken.removed) {
    if (before === undefined) throw new Error(`${kind.name} ${id} starts in a removed state`);
    const rows = toCancelled(before).filter((write) => write.op === "cancel" && write.id !== by?.id);
    return { next: { ...next, pending: [], timers: {} }, removed: true, facts, due: [...due, ...rows], timerTimesMs: [] };
  }
  due.push(...writes);
  const running = before?.pending[0];
  // Cancel the row as well, so that a run in progress loses its lease with this commit.
  if (running !== undefined && running.id !== by?.id && dropped.has(running.effect)) due.push({ op: "cancel", id: running.id });
  const [head] = pending;
  const headHasRow = head !== undefined && head.id === before?.pending[0]?.id;
  if (head === undefined || headHasRow) return { next, removed: false, due, facts, timerTimesMs: timesMs };
  const lane = kind.lane?.(next.context, head.effect);
  const payload: EffectRowPayload = { actor: kind.name, id, ...(lane === undefined ? {} : { lane }) };
  // The stored row counts one attempt already, so that a run that dies with this process counts as an attempt.
  const row = effectRows.row({ id: head.id, dueAtMs: turn.nowMs + turn.leaseMs, payload, attempts: 1 });
  due.push({ op: "schedule", row });
  return { next, removed: false, due, facts, born: { ...row, attempts: 0, partition, fence: 1 }, timerTimesMs: timesMs };
}

function toPending(kind: AnyActorKind, id: string, taken: Taken<unknown>): readonly PendingEffect[] {
  const pending: PendingEffect[] = [];
  for (const { type, params } of taken.actions) {
    if (type === "timer" || type === "drop" || isFact(kind, type)) continue;
    if (!kind.effects.includes(type)) throw new Error(`the machine of ${kind.name} requests ${type}, which is not one of its effects`);
    pending.push({ id: `${id}:${taken.step}:${pending.length}`, effect: type, params: (params ?? null) as Json });
  }
  return pending;
}

/** Names of the effects whose earlier pending requests this transition drops. */
function toDropped({ actions }: Taken<unknown>): ReadonlySet<string> {
  return new Set(actions.flatMap(({ type, params }) => (type === "drop" ? (params as DropParams).effects : [])));
}

function isFact(kind: AnyActorKind, type: string): boolean {
  return kind.facts !== undefined && Object.hasOwn(kind.facts, type);
}

function toFacts<Context>(
  kind: AnyActorKind,
  next: ActorRecord<Context>,
  { actions, step }: Taken<Context>,
  { nowMs }: Turn,
): Decided<Context>["facts"] {
  return actions
    .filter(({ type }) => isFact(kind, type))
    .map(({ type, params }, index) => ({
      name: type,
      id: `${next.id}:${step}:fact:${index}`,
      params: (params ?? null) as Json,
      nowMs,
      next,
    }));
}

interface TimerChanges {
  readonly timers: Record<string, ArmedTimer>;
  readonly writes: readonly DueWrite[];
  readonly timesMs: readonly number[];
}

function toTimers(
  kind: AnyActorKind,
  id: string,
  before: ActorRecord<unknown> | undefined,
  taken: Taken<unknown>,
  by: RowReference | undefined,
): TimerChanges {
  const timers = new Map(Object.entries(before?.timers ?? {}));
  const writes: DueWrite[] = [];
  const timesMs: number[] = [];
  const disarm = (name: string) => {
    const row = timers.get(name)?.row;
    // The row that delivered the event is already acknowledged under its fence.
    if (row !== undefined && row !== by?.id) writes.push({ op: "cancel", id: row });
    timers.delete(name);
  };
  const isNewStep = taken.step !== before?.step;
  for (const [name, armed] of [...timers]) if (armed.row === by?.id || (isNewStep && !armed.keep)) disarm(name);
  for (const { type, params } of taken.actions) {
    if (type !== "timer") continue;
    const timer = params as TimerParams;
    disarm(timer.name);
    if (timer.atMs === null) continue;
    const row = `${id}:${taken.step}:timer:${timer.name}`;
    const payload: TimerRowPayload = { actor: kind.name, id, name: timer.name, event: timer.event };
    timers.set(timer.name, { row, keep: timer.keep === true });
    writes.push({ op: "schedule", row: timerRows.row({ id: row, dueAtMs: timer.atMs, payload }) });
    timesMs.push(timer.atMs);
  }
  return { timers: Object.fromEntries(timers), writes, timesMs };
}
