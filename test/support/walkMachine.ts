/**
 * Visits every situation of a persisted machine and sends every event in each of them. Each step starts from the record
 * as stored (through JSON), like in the runtime. Then one live machine takes each path again and must end at the same
 * place.
 *
 * The walk finds states that are never entered and declared transitions that are never taken. The path finders of
 * `xstate/graph` merge situations by their first example. That is wrong here, because events contain times and numbers
 * from the context. Therefore the walk is made here.
 */
import { isDeepStrictEqual } from "node:util";
import { type AnyStateNode, type AnyTransitionDefinition, createActor } from "xstate";
import { type AnyActorKind, decideCreation, decideEvent, toAllowed, toInvalidTransition } from "../../server/platform/actors/decide.ts";
import type { ActorEvent, ActorRecord } from "../../server/platform/actors/port.ts";

export interface WalkOptions<Context, Event extends ActorEvent> {
  readonly kind: AnyActorKind;
  /** Inputs of the machine, one walk for each. Each has `nowMs`. */
  readonly inputs: readonly { readonly nowMs: number; readonly [field: string]: unknown }[];
  /** Returns the events to try in a situation, including times and events that the machine refuses. */
  readonly events: (context: Context, state: unknown) => readonly Event[];
  /** Returns what distinguishes two situations in the same state. */
  readonly facts: (context: Context) => unknown;
  /** Called for every step, with the record before and after it. */
  readonly check?: (step: { before: ActorRecord<Context>; event: Event; after: ActorRecord<Context> }) => void;
}

export interface Walk {
  /** Number of paths, one to each situation. */
  readonly paths: number;
  readonly steps: number;
  /** Names of the states that were entered. */
  readonly states: ReadonlySet<string>;
  /** `state event` of every refusal. */
  readonly refusals: ReadonlySet<string>;
  /** States that no path enters. */
  readonly unreachedStates: readonly string[];
  /** Declared transitions that no path takes. */
  readonly untakenTransitions: readonly string[];
}

const maxSituations = 10_000;
const turnAt = (nowMs: number) => ({ nowMs, leaseMs: 5000 });
const stored = <Context>(record: ActorRecord<Context>): ActorRecord<Context> => JSON.parse(JSON.stringify(record));
const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

function declaredTransitions(root: AnyStateNode): Map<AnyTransitionDefinition, string> {
  const declared = new Map<AnyTransitionDefinition, string>();
  const visit = (node: AnyStateNode) => {
    for (const [event, definitions] of node.transitions) {
      for (const [index, definition] of definitions.entries()) declared.set(definition, `${node.id} ${event} ${index}`);
    }
    for (const child of Object.values(node.states)) visit(child);
  };
  visit(root);
  return declared;
}

function atomicStates(node: AnyStateNode): readonly string[] {
  const children = Object.values(node.states);
  return children.length === 0 ? [node.path.join(".")] : children.flatMap(atomicStates);
}

export function walkMachine<Context, Event extends ActorEvent>(options: WalkOptions<Context, Event>): Walk {
  const { kind, inputs, events, facts, check } = options;
  const { machine } = kind;
  const declared = declaredTransitions(machine.root);
  const taken = new Set<string>();
  const states = new Set<string>();
  const refusals = new Set<string>();
  const situations = new Map<string, ActorRecord<Context>>();
  let paths = 0;
  let steps = 0;

  const toSituation = ({ state, context }: ActorRecord<Context>) => JSON.stringify([state, facts(context)]);

  /** Sends one event to the stored record; returns `undefined` if the event is refused. */
  function take(record: ActorRecord<Context>, event: Event): ActorRecord<Context> | undefined {
    const previous = stored(record);
    const before = machine.resolveState({ value: previous.state as never, context: previous.context as never });
    for (const definition of machine.getTransitionData(before, event)) taken.add(declared.get(definition) ?? "");
    const after = decideEvent<Context>(kind, previous, event, undefined, turnAt(event.nowMs))?.next;
    if (after !== undefined) check?.({ before: previous, event, after });
    return after;
  }

  function compareWithLive(input: object, path: readonly Event[], record: ActorRecord<Context>): void {
    const actor = createActor(machine, { input });
    actor.start();
    for (const event of path) actor.send(event);
    const { value, context } = actor.getSnapshot();
    const [live, restored] = [plain([value, context]), plain([record.state, record.context])];
    if (isDeepStrictEqual(live, restored)) return;
    const way = path.map((event) => event.type).join(", ");
    throw new Error(`after ${way} the restored machine is at ${JSON.stringify(restored)}, the live one at ${JSON.stringify(live)}`);
  }

  for (const input of inputs) {
    const born = decideCreation<Context>(kind, "walked", input, turnAt(input.nowMs)).next;
    const open: { record: ActorRecord<Context>; path: readonly Event[] }[] = [{ record: born, path: [] }];
    const seen = new Set([toSituation(born)]);
    for (let at = open.shift(); at !== undefined; at = open.shift()) {
      const { record, path } = at;
      situations.set(toSituation(record), record);
      compareWithLive(input, path, record);
      paths += 1;
      for (const event of events(record.context, record.state)) {
        steps += 1;
        const after = take(record, event);
        if (after === undefined || seen.has(toSituation(after))) continue;
        if (seen.size >= maxSituations) throw new Error("the machine has too many situations: tell fewer facts apart");
        seen.add(toSituation(after));
        open.push({ record: after, path: [...path, event] });
      }
    }
  }

  for (const record of situations.values()) {
    const { nowMs } = inputs[0] ?? { nowMs: 0 };
    const { state, allowed } = toAllowed(kind, record, nowMs);
    states.add(state);
    for (const type of kind.commands ?? []) {
      if (allowed.includes(type)) continue;
      refusals.add(`${state} ${type}`);
      const { facts: told, message } = toInvalidTransition(kind, record, type, nowMs);
      const complete = told.currentState === state && JSON.stringify(told.allowed) === JSON.stringify(allowed);
      if (!complete || !allowed.every((event) => message.includes(event)))
        throw new Error(`the refusal of ${type} in ${state} says too little`);
      if (decideEvent(kind, stored(record), { type }, undefined, turnAt(nowMs)) !== undefined)
        throw new Error(`${type} is not refused in ${state}`);
    }
  }

  return {
    paths,
    steps,
    states,
    refusals,
    unreachedStates: atomicStates(machine.root).filter((name) => !states.has(name)),
    untakenTransitions: [...declared.values()].filter((name) => !taken.has(name)),
  };
}
