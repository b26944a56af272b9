/**
 * ActorRuntime decides an event, persists the result in one commit, then runs the effects.
 *
 * One queue for each actor prevents conflicts within this node. A write of another node causes a conflict, and the
 * event is then decided again on the current record. `unit.ts` gathers the commit, `actorRows.ts` performs the due rows
 * of actors.
 */
import type { Logger } from "pino";
import { AppError, notFound } from "../../../api/schema/error.ts";
import type { Partition, Storage, Stored } from "../storage/port.ts";
import { conflict, retryOnConflict } from "../storage/retryOnConflict.ts";
import { type ActorObserver, registerActorRows } from "./actorRows.ts";
import type { After } from "./after.ts";
import { type AnyActorKind, decideEvent, toAllowed, toInvalidTransition } from "./decide.ts";
import type { DuePump } from "./duePort.ts";
import { createKeyedQueue } from "./keyedQueue.ts";
import type { ActorKind, ActorRecord, ActorRuntime, OpenUnit, ProvidedKind, SendOptions } from "./port.ts";
import { commitOnce, createActorUnit } from "./unit.ts";

export interface ActorRuntimeOptions {
  readonly storage: Pick<Storage, "records" | "commit" | "now">;
  readonly pump: DuePump;
  readonly log: Logger;
  readonly leaseMs: number;
  readonly after?: After;
  readonly observe?: ActorObserver;
}

export function createActorRuntime({ storage, pump, log, leaseMs, after, observe }: ActorRuntimeOptions): ActorRuntime {
  const kinds = new Map<string, ProvidedKind>();
  const queue = createKeyedQueue();

  function requireRegistered(kind: AnyActorKind): ProvidedKind {
    const provided = kinds.get(kind.name);
    if (provided?.kind !== kind) throw new Error(`the actor kind ${kind.name} is not registered`);
    return provided;
  }

  const openUnit = (partition: Partition) => createActorUnit({ storage, pump, log, leaseMs, requireRegistered }, partition);

  /** Runs the attempts for one actor after earlier ones of this process have ended. */
  function inTurn<Value>(kind: AnyActorKind, id: string, attempt: () => Promise<Value | typeof conflict>): Promise<Value> {
    requireRegistered(kind);
    return queue.run(`${kind.name}/${id}`, () => retryOnConflict(`actor.${kind.name}`, attempt));
  }

  /** Adds the changes of the caller to the unit in which `decided` was made, and commits it. */
  async function persist<Context>(
    kind: AnyActorKind,
    unit: OpenUnit,
    decided: ActorRecord<Context>,
    previous: Stored<ActorRecord<Context>> | null,
    { gather, commit }: SendOptions<Context>,
  ): Promise<Stored<ActorRecord<Context>> | typeof conflict> {
    await Promise.resolve(gather?.(unit, decided, previous));
    // `gather` may have sent further events to the same actor. An actor that the event has removed is not in the unit.
    const next: ActorRecord<Context> = (await unit.read(kind, decided.id))?.value ?? decided;
    const revision = (previous?.revision ?? 0) + 1;
    const met = await commitOnce(unit, (batch) => (commit === undefined ? storage.commit(batch) : commit(batch, next, revision)));
    return met ?? { value: next, revision };
  }

  registerActorRows({ storage, pump, log, kinds, inTurn, openUnit, after, observe });

  return {
    register(more) {
      for (const provided of more) {
        const { name } = provided.kind;
        if (kinds.has(name)) throw new Error(`two actor kinds are named ${name}`);
        kinds.set(name, provided);
      }
    },
    create<Context, Event extends never>(kind: ActorKind<Context, Event>, id: string, input: object, options: SendOptions<Context> = {}) {
      return inTurn(kind, id, async () => {
        const unit = openUnit(kind.record.partitionOf(id));
        const created = await persist<Context>(kind, unit, unit.create(kind, id, input), null, options);
        if (created !== conflict || (await storage.records.get(kind.record, id)) === undefined) return created;
        throw new AppError("already_exists", `There is already a ${kind.name} with the id ${id}.`);
      });
    },
    send(kind, id, event, options = {}) {
      return inTurn(kind, id, async () => {
        const unit = openUnit(kind.record.partitionOf(id));
        const previous = await unit.read(kind, id);
        if (previous === undefined) throw notFound();
        if (options.atRevision !== undefined && options.atRevision !== previous.revision) {
          throw new AppError("precondition_failed", "The resource was changed meanwhile. Read it again and retry.");
        }
        return persist(kind, unit, await unit.send(kind, id, event), previous, options);
      });
    },
    remove(kind, id, replacing) {
      requireRegistered(kind);
      return queue.run(`${kind.name}/${id}`, async () => {
        const unit = openUnit(kind.record.partitionOf(id));
        unit.remove(kind, replacing);
        return (await commitOnce(unit, (batch) => storage.commit(batch))) !== conflict;
      });
    },
    commitUnit: ({ operation, partition, committer }, gather) =>
      retryOnConflict(operation, async () => {
        const unit = openUnit(partition);
        const value = await gather(unit);
        if (unit.isEmpty) return value;
        return (await commitOnce(unit, (batch) => committer.commit(batch, value))) ?? value;
      }),
    openUnit,
    refusal(kind, record, event) {
      const nowMs = storage.now();
      const accepted = decideEvent(kind, record, event, undefined, { nowMs, leaseMs }) !== undefined;
      return accepted ? undefined : toInvalidTransition(kind, record, event.type, nowMs);
    },
    allowed: (kind, record) => toAllowed(kind, record, storage.now()),
  };
}
