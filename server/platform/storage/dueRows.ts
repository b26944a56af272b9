/**
 * This module stores due rows in an ordered map: each row under its id, and an order entry under its due time.
 *
 * A claim moves the due time into the future, so the row of a crashed worker becomes due again without further action.
 *
 * It compares fences but does not know which worker holds a row.
 */
import { applyChanges, type Change, dueKey, dueOrderTable, type KeyValueReader, type KeyValueWriter } from "./keyValue.ts";
import { afterAll, fromByteText, fromSortableNumber, toByteText, toSortableNumber } from "./orderedKey.ts";
import type { ClaimedRow, DueRow, Partition } from "./port.ts";
import { toJsonText } from "./recordRow.ts";

/** A row as stored; its id is part of the key. */
export type KeptRow = Omit<ClaimedRow, "partition">;

const sortableDigits = 16;

function orderKey(partition: Partition, row: Pick<KeptRow, "id" | "dueAtMs">): string {
  return dueOrderTable(partition) + toSortableNumber(row.dueAtMs) + toByteText(row.id);
}

export function readDueRow(store: KeyValueReader, partition: Partition, id: string): KeptRow | undefined {
  const text = store.get(dueKey(partition, id));
  return text === undefined ? undefined : { id, ...(JSON.parse(text) as Omit<KeptRow, "id">) };
}

export function hasDueRow(store: KeyValueReader, partition: Partition, id: string): boolean {
  return store.get(dueKey(partition, id)) !== undefined;
}

/** Returns the changes that replace `current` by `next`, or remove it if `next` is null. Throws if `next` cannot be stored. */
export function toDueChanges(partition: Partition, current: KeptRow | undefined, next: KeptRow | null): readonly Change[] {
  const changes: Change[] = [];
  if (current !== undefined && next?.dueAtMs !== current.dueAtMs) changes.push([orderKey(partition, current), null]);
  if (next === null) {
    if (current !== undefined) changes.push([dueKey(partition, current.id), null]);
    return changes;
  }
  const { kind, dueAtMs, payload, attempts, fence } = next;
  changes.push([dueKey(partition, next.id), toJsonText({ kind, dueAtMs, payload, attempts, fence }, "a due row")]);
  if (current?.dueAtMs !== dueAtMs) changes.push([orderKey(partition, next), "1"]);
  return changes;
}

/**
 * The row after a schedule over `current`. Its fence is raised, so later writes of the worker that holds the old row
 * are refused.
 */
export function toScheduled(current: KeptRow | undefined, row: DueRow): KeptRow {
  const { id, kind, dueAtMs, payload, attempts } = row;
  return { id, kind, dueAtMs, payload, attempts, fence: (current?.fence ?? 0) + 1 };
}

interface Candidate {
  readonly partition: Partition;
  readonly id: string;
  readonly dueAtMs: number;
}

/** Returns the rows that are due at `nowMs`, oldest first over all given partitions. */
export function findDue(store: KeyValueReader, partitions: readonly Partition[], nowMs: number, limit: number): readonly Candidate[] {
  const found: Candidate[] = [];
  for (const partition of partitions) {
    const start = dueOrderTable(partition);
    for (const key of store.keys({ start, end: start + toSortableNumber(nowMs) + afterAll, limit })) {
      const dueAtMs = fromSortableNumber(key.slice(start.length, start.length + sortableDigits));
      found.push({ partition, id: fromByteText(key.slice(start.length + sortableDigits)), dueAtMs });
    }
  }
  return found.sort((one, other) => one.dueAtMs - other.dueAtMs).slice(0, limit);
}

/** Claims due rows. Each returned row has its due time and number of claims from before this claim, and the new fence. */
export function claimDue(
  store: KeyValueWriter,
  options: { readonly partitions: readonly Partition[]; readonly limit: number; readonly leaseMs: number },
  nowMs: number,
): readonly ClaimedRow[] {
  return findDue(store, options.partitions, nowMs, options.limit).map(({ partition, id }) => {
    const current = readDueRow(store, partition, id);
    if (current === undefined) throw new Error(`due row ${id} is in the order but not in the table`);
    const dueAtMs = nowMs + options.leaseMs;
    const fence = current.fence + 1;
    applyChanges(store, toDueChanges(partition, current, { ...current, dueAtMs, fence, attempts: current.attempts + 1 }));
    return { ...current, partition, fence };
  });
}

export function renewDue(
  store: KeyValueWriter,
  row: Pick<ClaimedRow, "partition" | "id" | "fence">,
  leaseMs: number,
  nowMs: number,
): boolean {
  const current = readDueRow(store, row.partition, row.id);
  if (current === undefined || current.fence !== row.fence) return false;
  applyChanges(store, toDueChanges(row.partition, current, { ...current, dueAtMs: nowMs + leaseMs }));
  return true;
}

/** The earliest due time of all rows, including claimed ones. */
export function oldestDue(store: KeyValueReader, partitions: readonly Partition[]): number | undefined {
  let oldest: number | undefined;
  for (const partition of partitions) {
    const start = dueOrderTable(partition);
    const [key] = store.keys({ start, end: start + afterAll, limit: 1 });
    if (key === undefined) continue;
    const dueAtMs = fromSortableNumber(key.slice(start.length, start.length + sortableDigits));
    oldest = oldest === undefined ? dueAtMs : Math.min(oldest, dueAtMs);
  }
  return oldest;
}
