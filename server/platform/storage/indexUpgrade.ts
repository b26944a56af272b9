/**
 * IndexUpgrade completes the index rows of a store that an earlier version of the server has written.
 *
 * A list with a new index would miss every record that was stored before. So at the start, before the first request, each
 * record whose row has an older `indexVersion` than its type is written again, which adds its index rows. The rows
 * themselves say what is left: an upgrade that was interrupted continues with them, and nodes that start together share
 * the work. When nothing is left, a mark is stored, so that later starts read no records.
 */
import type { Logger } from "pino";
import { type Partition, partitionCount, type RecordType, type Storage, StorageFullError, type Stored } from "./port.ts";
import { type AnyRecordType, defineRecord } from "./recordType.ts";

/** The index versions for which the whole store has its rows. */
interface IndexMark {
  readonly id: "indexes";
  /** Name of the record type → `indexVersion`. */
  readonly versions: Readonly<Record<string, number>>;
}

const markKey = "indexes";

export const indexMarkRecord = defineRecord<IndexMark>({
  name: "indexMark",
  version: 1,
  partitionOf: () => 0,
  keyOf: ({ id }) => id,
});

export interface IndexUpgradeOptions {
  readonly storage: Pick<Storage, "records" | "commit">;
  readonly recordTypes: readonly AnyRecordType[];
  readonly log: Pick<Logger, "info" | "warn">;
  /** Records of one commit. */
  readonly atOnce?: number;
}

const partitions: readonly Partition[] = Array.from({ length: partitionCount }, (_, partition) => partition);
/** Most partitions that are read at the same time. */
const partitionsAtOnce = 32;
const logEveryMs = 5000;

/** If the disk is full, the store is opened as it is and the next start continues. */
export async function upgradeIndexes({ storage, recordTypes, log, atOnce = 100 }: IndexUpgradeOptions): Promise<void> {
  const types = (recordTypes as readonly unknown[] as readonly RecordType<unknown>[]).filter(({ indexVersion = 1 }) => indexVersion > 1);
  const mark = await storage.records.get(indexMarkRecord, markKey);
  const left = types.filter(({ name, indexVersion = 1 }) => (mark?.value.versions[name] ?? 1) < indexVersion);
  if (left.length === 0) return;
  let upgraded = 0;
  let loggedAtMs = performance.now();

  /** Writes the records as they are. Returns false if another process has changed one of them, and writes nothing then. */
  async function write(type: RecordType<unknown>, partition: Partition, records: readonly Stored<unknown>[]): Promise<boolean> {
    const puts = records.map((stored) => ({ op: "put", type, value: stored.value, replacing: stored }) as const);
    const result = await storage.commit({ partition, records: puts });
    if (!result.ok) return false;
    upgraded += records.length;
    if (performance.now() - loggedAtMs >= logEveryMs) {
      loggedAtMs = performance.now();
      log.info({ type: type.name, partition, upgraded }, "completing the indexes of a store of an earlier version");
    }
    return true;
  }

  /** Returns false if records were left because of conflicts. */
  async function upgradeOnce(type: RecordType<unknown>, partition: Partition): Promise<boolean> {
    let isComplete = true;
    let batch: Stored<unknown>[] = [];
    const flush = async () => {
      const records = batch;
      batch = [];
      if (records.length === 0 || (await write(type, partition, records))) return;
      // One conflict refuses all of them, so each is written alone.
      for (const stored of records) isComplete = (await write(type, partition, [stored])) && isComplete;
    };
    for await (const stored of storage.records.scanOlder(type, partition)) {
      batch.push(stored);
      if (batch.length === atOnce) await flush();
    }
    await flush();
    return isComplete;
  }

  try {
    const work = left.flatMap((type) => partitions.map((partition) => ({ type, partition })));
    for (let at = 0; at < work.length; at += partitionsAtOnce) {
      await Promise.all(
        work.slice(at, at + partitionsAtOnce).map(async ({ type, partition }) => {
          while (!(await upgradeOnce(type, partition)));
        }),
      );
    }
    const versions = Object.fromEntries(types.map(({ name, indexVersion = 1 }) => [name, indexVersion]));
    // A node that starts at the same time stores the same mark.
    const value: IndexMark = { id: markKey, versions: { ...mark?.value.versions, ...versions } };
    await storage.commit({ partition: 0, records: [{ op: "put", type: indexMarkRecord, value, replacing: mark ?? null }] });
  } catch (reason) {
    if (!(reason instanceof StorageFullError)) throw reason;
    log.warn({ err: reason, upgraded }, "the indexes could not be completed: lists may miss records; the next start continues");
    return;
  }
  if (upgraded > 0) log.info({ upgraded }, "the indexes of a store of an earlier version are complete");
}
