/**
 * ChangeLog records which searched records were written, in the commit that writes them.
 *
 * The index of each node follows the log `search` of each partition. An entry names the record only; the node reads the
 * record when it follows the entry. So no change can be missing, whichever code commits it, and an entry that is followed
 * twice does no harm ([SR6]).
 */
import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import type { Batch, CommitResult, Partition, Storage } from "../../platform/storage/port.ts";
import type { RecordedChanges } from "./port.ts";

export const changeLog = "search";
/**
 * A longer log is trimmed to half of this. A node that is further behind reads all records of the partition again, which
 * takes about as long.
 */
const defaultMaxEntries = 20_000;

export interface Change {
  /** Name of the record type, or of the dependency. */
  readonly type: string;
  readonly key: string;
}

/** The entry also has random characters, so that equal positions of two histories of a store have different entries. */
function encodeChange({ type, key }: Change): Uint8Array {
  return Buffer.from(JSON.stringify([type, key, randomBytes(6).toString("base64url")]));
}

export function decodeChange(bytes: Uint8Array): Change {
  const [type, key] = JSON.parse(Buffer.from(bytes).toString()) as [string, string];
  return { type, key };
}

/** Identifies an entry among all entries at its position, also those of a store that was restored from a backup. */
export function toMark(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}

/**
 * Returns the same store with a `commit` that also appends the change of each record of these types and the changes on
 * which other records depend, and that wakes the followers of every node afterwards.
 */
export function recordSearchChanges(
  storage: Storage,
  { records, dependencies }: RecordedChanges,
  log: Logger,
  maxEntries = defaultMaxEntries,
): Storage {
  const names = new Set(records.map(({ name }) => name));

  function changesOf(batch: Batch): readonly Change[] {
    const changes: Change[] = [];
    for (const write of batch.records ?? []) {
      const value = write.op === "put" ? write.value : write.replacing.value;
      const key = write.type.keyOf(value as never);
      if (names.has(write.type.name)) changes.push({ type: write.type.name, key });
      for (const { name, record, isAffected } of write.op === "put" && write.replacing !== null ? dependencies : []) {
        if (record.name === write.type.name && isAffected(write.replacing?.value as never, value as never))
          changes.push({ type: name, key });
      }
    }
    return changes;
  }

  /** The writer of an entry at a multiple of half the maximum trims, so there is one trim for each half of the log. */
  function trim(partition: Partition, tail: number, appended: number): void {
    const half = maxEntries / 2;
    if (Math.floor(tail / half) === Math.floor((tail - appended) / half) || tail <= maxEntries) return;
    const logs = [{ op: "trim", log: changeLog, through: tail - half } as const];
    // If the trim fails, the log is trimmed at its next half.
    storage.commit({ partition, logs }).catch((err: unknown) => log.warn({ err, partition }, "the search log could not be trimmed"));
  }

  async function commit(batch: Batch, changes: readonly Change[]): Promise<CommitResult> {
    const { partition, logs = [] } = batch;
    const append = { op: "append", log: changeLog, entries: changes.map(encodeChange) } as const;
    const result = await storage.commit({ ...batch, logs: [...logs, append] });
    if (!result.ok) return result;
    storage.bus.publish(changeLog, Uint8Array.of(partition));
    trim(partition, result.positions.at(-1) ?? 0, changes.length);
    // The caller gets the positions of its own appends.
    return { ...result, positions: result.positions.slice(0, -1) };
  }

  return {
    ...storage,
    commit(batch) {
      const changes = changesOf(batch);
      return changes.length === 0 ? storage.commit(batch) : commit(batch, changes);
    },
  };
}
