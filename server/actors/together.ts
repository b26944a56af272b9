/**
 * Several changes as one commit: moves and births of actors, and whatever else must be true with them.
 *
 * What is decided is decided on what was read; when a record changed meanwhile, everything is read and decided anew.
 * A batch may write a record once, so a second move of the same actor is folded into the first. It knows no actor.
 */
import { AppError } from "../../api/schema/error.ts";
import type { Batch, CommitResult, Partition, RecordType, RecordWrite, Stored } from "../storage/port.ts";
import { type ActorChange, type ActorRecord, type Alongside, CommitConflict } from "./port.ts";

// biome-ignore lint/suspicious/noExplicitAny: a commit mixes actors; each change was decided by its own machine
export type Part = ActorChange<any> | Alongside;

export interface Decision<Value> {
  /** Nothing in them: nothing is committed. */
  readonly parts: readonly Part[];
  readonly value: Value;
}

const maxDecisions = 100;

/** All parts as one; its `started` calls theirs. */
export function joinParts(parts: readonly Part[]): Alongside & { readonly started: () => void } {
  const batches = parts.map((part): Alongside => ("batch" in part ? part.batch : part));
  return {
    records: batches.flatMap(({ records = [] }) => records),
    logs: batches.flatMap(({ logs = [] }) => logs),
    due: batches.flatMap(({ due = [] }) => due),
    require: batches.flatMap((batch) => batch.require ?? []),
    started() {
      for (const part of parts) part.started?.();
    },
  };
}

type OwnWrite<Context> = Extract<RecordWrite<ActorRecord<Context>>, { op: "put" }>;

function isWriteOf(type: RecordType<never>, id: string) {
  return (write: RecordWrite) => write.op === "put" && write.type.name === type.name && (write.value as ActorRecord<unknown>).id === id;
}

/** The actor as the parts leave it. */
export function leftBy<Context>(
  parts: readonly Part[],
  type: RecordType<ActorRecord<Context>>,
  previous: ActorRecord<Context>,
): ActorRecord<Context> {
  const write = joinParts(parts).records?.find(isWriteOf(type, previous.id)) as OwnWrite<Context> | undefined;
  return write?.value ?? previous;
}

/**
 * The parts with further moves of one actor, made from where the parts leave it. Each move is given the actor as it
 * is after the one before.
 */
export function foldMoves<Context>(
  parts: readonly Part[],
  type: RecordType<ActorRecord<Context>>,
  previous: Stored<ActorRecord<Context>>,
  moves: readonly ((from: Stored<ActorRecord<Context>>) => ActorChange<Context>)[],
): readonly Part[] {
  if (moves.length === 0) return parts;
  const joined = joinParts(parts);
  const isOwn = isWriteOf(type, previous.value.id);
  const before = joined.records?.find(isOwn) as OwnWrite<Context> | undefined;
  const { replacing, value: first } = before ?? { replacing: previous, value: previous.value };
  let value = first;
  const changes: Part[] = [];
  for (const move of moves) {
    // A record that is born in this commit has no revision yet; nothing here depends on it.
    const change = move({ value, revision: replacing?.revision ?? 0 });
    const others = (change.batch.records ?? []).filter((write) => !isOwn(write));
    changes.push({ ...change.batch, records: others, started: change.started });
    value = change.next;
  }
  const own: RecordWrite<ActorRecord<Context>> = { op: "put", type, value, replacing };
  const rest = (joined.records ?? []).filter((write) => !isOwn(write));
  return [{ ...joined, records: [...rest, own] }, ...changes];
}

/**
 * Decides and commits until nothing came between; resolves with the decision's value. Conflicts that deciding again
 * cannot mend, such as a unique rule, are thrown as `CommitConflict`.
 */
export async function commitTogether<Value>(
  partition: Partition,
  /** `Call.commit`, so that the idempotent answer joins the commit. */
  commit: (batch: Batch, value: Value) => Promise<CommitResult>,
  decide: () => Promise<Decision<Value>>,
): Promise<Value> {
  for (let decisions = 0; decisions < maxDecisions; decisions += 1) {
    const { parts, value } = await decide();
    if (parts.length === 0) return value;
    const { started, ...batch } = joinParts(parts);
    const result = await commit({ partition, ...batch }, value);
    if (result.ok) {
      started();
      return value;
    }
    if (result.conflict.kind !== "record") throw new CommitConflict(result.conflict);
  }
  throw new AppError("unavailable", "Too many changes to the same records at once; try again shortly.", { retryAfter: 1 });
}
