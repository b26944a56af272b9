/**
 * This module commits several changes at once: new actors, transitions of actors, and writes that must be atomic with
 * them.
 *
 * Every decision is based on the records that were read. When one of them changes before the commit, all records are
 * read again and the decision is repeated. A batch may write a record only once, so a second transition of the same
 * actor is folded into the first. This module knows no specific actor.
 */
import { AppError } from "../../../api/schema/error.ts";
import { type ActorChange, type ActorRecord, type Alongside, CommitConflict } from "../../platform/actors/port.ts";
import type { Batch, CommitResult, Partition, RecordType, RecordWrite, Stored } from "../../platform/storage/port.ts";

// biome-ignore lint/suspicious/noExplicitAny: a commit mixes actors; each change was decided by its own machine
export type Part = ActorChange<any> | Alongside;

export interface Decision<Value> {
  /** When there are no parts, nothing is committed. */
  readonly parts: readonly Part[];
  readonly value: Value;
}

const maxDecisions = 100;

/** Joins all parts into one. Its `started` calls the `started` of every part. */
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

/** Returns the actor as it is after the parts are applied. */
export function leftBy<Context>(
  parts: readonly Part[],
  type: RecordType<ActorRecord<Context>>,
  previous: ActorRecord<Context>,
): ActorRecord<Context> {
  const write = joinParts(parts).records?.find(isWriteOf(type, previous.id)) as OwnWrite<Context> | undefined;
  return write?.value ?? previous;
}

/**
 * Adds further transitions of one actor to the parts. The first transition starts from the actor as it is after the
 * parts; each later one starts from the result of the transition before it.
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
    // An actor that is created in this commit has no revision yet; the transition does not depend on it.
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
 * Repeats the decision and the commit until no concurrent change interferes. Resolves with the value of the decision.
 * Throws `CommitConflict` for conflicts that a retry cannot resolve, such as a violated unique rule.
 */
export async function commitTogether<Value>(
  partition: Partition,
  /** `Call.commit`, so that the idempotent response is stored in the same commit. */
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
