/**
 * Implements the unit of work: it gathers the changes of one commit and knows each actor's newest version inside it.
 *
 * Events are decided by `decide.ts`. The commit writes each changed actor once, on the condition that its record is
 * still the one that was read. Effects, wake-ups and `afterCommit` functions run only after the commit.
 */
import type { Logger } from "pino";
import { notFound } from "../../../api/schema/error.ts";
import type { ClaimedRow, DueWrite, LogWrite, Partition, RecordWrite, Requirement, Storage, Stored } from "../storage/port.ts";
import { conflict } from "../storage/retryOnConflict.ts";
import {
  type AnyActorKind,
  type Decided,
  decideCreation,
  decideEvent,
  decideSettled,
  type Turn,
  toCancelled,
  toInvalidTransition,
} from "./decide.ts";
import type { DuePump } from "./duePort.ts";
import { type ActorRecord, CommitConflict, type OpenUnit, type ProvidedKind } from "./port.ts";

// biome-ignore lint/suspicious/noExplicitAny: an actor whose context is not known here
type AnyRecord = ActorRecord<any>;

/** An open unit that can also delete actors and settle the due rows of actors. */
export interface ActorUnit extends OpenUnit {
  /**
   * Acknowledges the row of an effect or a timer of an actor, and decides the event that resulted from it, if any.
   * Returns undefined, and gathers nothing, if the machine does not accept the event. The actor must exist.
   */
  settle(
    kind: AnyActorKind,
    id: string,
    row: Pick<ClaimedRow, "id" | "fence">,
    event?: { readonly type: string },
  ): Promise<AnyRecord | undefined>;
  /** Deletes an actor with all its due rows. */
  remove(kind: AnyActorKind, replacing: Stored<AnyRecord>): void;
}

export interface ActorUnitOptions {
  readonly storage: Pick<Storage, "records" | "now">;
  readonly pump: Pick<DuePump, "adopt" | "wake">;
  readonly log: Pick<Logger, "error">;
  readonly leaseMs: number;
  /** The kind with its effects. Throws if the kind is not registered. */
  readonly requireRegistered: (kind: AnyActorKind) => ProvidedKind;
}

/** An actor that the unit has read or changed. */
interface HeldActor {
  readonly kind: AnyActorKind;
  /** The stored version; null if this unit creates the actor. */
  readonly stored: Stored<AnyRecord> | null;
  current: AnyRecord;
  changed: boolean;
  removed: boolean;
  /** Rows of effects that this unit schedules, in the form in which this process holds them after the commit. */
  readonly scheduled: ClaimedRow[];
  readonly timerTimesMs: number[];
}

/** Commits the unit. Returns `conflict` after a record conflict, because the decision may be made again. */
export async function commitOnce(unit: OpenUnit, commit: Parameters<OpenUnit["commit"]>[0]): Promise<typeof conflict | undefined> {
  const result = await unit.commit(commit);
  if (result.ok) return undefined;
  if (result.conflict.kind === "record") return conflict;
  throw new CommitConflict(result.conflict);
}

export function createActorUnit(options: ActorUnitOptions, partition: Partition): ActorUnit {
  const { storage, pump, log, leaseMs, requireRegistered } = options;
  const records = new Map<string, RecordWrite>();
  const logs: LogWrite[] = [];
  let due: DueWrite[] = [];
  const conditions: Requirement[] = [];
  const listeners: (() => void)[] = [];
  const actors = new Map<string, HeldActor>();

  const turn = (): Turn => ({ nowMs: storage.now(), leaseMs });
  const nameOf = (kind: AnyActorKind, id: string) => `${kind.record.name}/${id}`;

  function hold(kind: AnyActorKind, id: string, stored: Stored<AnyRecord> | null, current: AnyRecord): HeldActor {
    const held: HeldActor = { kind, stored, current, changed: false, removed: false, scheduled: [], timerTimesMs: [] };
    actors.set(nameOf(kind, id), held);
    return held;
  }

  async function find(kind: AnyActorKind, id: string): Promise<HeldActor | undefined> {
    requireRegistered(kind);
    const held = actors.get(nameOf(kind, id));
    if (held !== undefined) return held.removed ? undefined : held;
    const stored = await storage.records.get<AnyRecord>(kind.record, id);
    // Another participant may have read the actor meanwhile: its version is the one of this unit.
    const meanwhile = actors.get(nameOf(kind, id));
    if (meanwhile !== undefined) return meanwhile.removed ? undefined : meanwhile;
    return stored === undefined ? undefined : hold(kind, id, stored, stored.value);
  }

  function apply(held: HeldActor, { next, removed, due: rows, facts, born, timerTimesMs }: Decided<unknown>): AnyRecord {
    held.current = next;
    held.changed = true;
    held.removed = removed;
    if (born !== undefined) held.scheduled.push(born);
    held.timerTimesMs.push(...timerTimesMs);
    for (const row of rows) unit.due(row);
    for (const { name, ...fact } of facts) held.kind.facts?.[name]?.(unit, fact);
    return next;
  }

  function toActorWrites(): readonly RecordWrite<AnyRecord>[] {
    return [...actors].flatMap(([name, { kind, stored, current, changed, removed }]): RecordWrite<AnyRecord>[] => {
      if (!changed || (removed && stored === null)) return [];
      if (records.has(name)) throw new Error(`a commit writes the record ${name} twice`);
      if (removed) return stored === null ? [] : [{ op: "delete", type: kind.record, replacing: stored }];
      return [{ op: "put", type: kind.record, value: current, replacing: stored }];
    });
  }

  /** The commit is stored, so an error must reach neither the caller nor the functions that run next. */
  function runSafely(run: () => void): void {
    try {
      run();
    } catch (err) {
      log.error({ err, partition }, "a function that follows a commit failed; the commit is stored");
    }
  }

  function afterCommit(): void {
    for (const { kind, current, changed, scheduled, timerTimesMs } of actors.values()) {
      if (!changed) continue;
      for (const atMs of timerTimesMs) pump.wake(partition, atMs);
      // A later event of the same unit may have dropped an effect that an earlier one had scheduled.
      for (const row of scheduled) if (row.id === current.pending[0]?.id) pump.adopt(row);
      runSafely(() => requireRegistered(kind).committed?.(current));
    }
    for (const run of listeners) runSafely(run);
  }

  const unit: ActorUnit = {
    partition,
    record(write) {
      const key = write.type.keyOf(write.op === "put" ? write.value : write.replacing.value);
      const name = `${write.type.name}/${key}`;
      if (records.has(name)) throw new Error(`a commit writes the record ${name} twice`);
      records.set(name, write as RecordWrite);
    },
    log: (write) => void logs.push(write),
    due(write) {
      if (write.op === "cancel") due = due.filter((other) => !("row" in other) || other.row.id !== write.id);
      due.push(write);
    },
    require: (condition) => void conditions.push(condition),
    afterCommit: (run) => void listeners.push(run),
    appended: (log) => logs.reduce((sum, write) => (write.op === "append" && write.log === log ? sum + write.entries.length : sum), 0),
    async read(kind, id) {
      const held = await find(kind, id);
      return held === undefined ? undefined : { value: held.current, revision: held.stored?.revision ?? 0 };
    },
    create(kind, id, input) {
      requireRegistered(kind);
      if (actors.has(nameOf(kind, id))) throw new Error(`the unit of work already contains ${kind.name} ${id}, so it cannot create it`);
      const decided = decideCreation<AnyRecord["context"]>(kind, id, input, turn());
      return apply(hold(kind, id, null, decided.next), decided);
    },
    async send(kind, id, event) {
      const held = await find(kind, id);
      if (held === undefined) throw notFound();
      const decided = decideEvent(kind, held.current, event, undefined, turn());
      if (decided === undefined) throw toInvalidTransition(kind, held.current, event.type, storage.now());
      return apply(held, decided);
    },
    async settle(kind, id, row, event) {
      const held = await find(kind, id);
      if (held === undefined) throw new Error(`${kind.name} ${id} does not exist, so its row ${row.id} cannot be settled`);
      const now = turn();
      const decided = event === undefined ? decideSettled(kind, held.current, row, now) : decideEvent(kind, held.current, event, row, now);
      return decided === undefined ? undefined : apply(held, decided);
    },
    remove(kind, replacing) {
      unit.record({ op: "delete", type: kind.record, replacing });
      for (const row of toCancelled(replacing.value)) unit.due(row);
    },
    get isEmpty() {
      const isChanged = [...actors.values()].some(({ changed }) => changed);
      return !isChanged && records.size + logs.length + due.length + conditions.length === 0;
    },
    async commit(commit) {
      const result = await commit({ partition, records: [...toActorWrites(), ...records.values()], due, logs, require: conditions });
      if (result.ok) afterCommit();
      return result;
    },
  };
  return unit;
}
