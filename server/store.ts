/**
 * Opens the store that is configured, LMDB or Redis, with the record types of all domains.
 *
 * This is the only file outside the storage folder that names the concrete stores. All other files depend on the port.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "./config.ts";
import { articleRecordTypes } from "./domain/articles/records.ts";
import { folderRecordTypes } from "./domain/folders/records.ts";
import { identityRecordTypes } from "./domain/identity/recordTypes.ts";
import { jobRecordTypes } from "./domain/jobs/records.ts";
import { publishingRecordTypes } from "./domain/publishing/records.ts";
import { reviewRecordTypes } from "./domain/reviews/records.ts";
import { runRecordTypes } from "./domain/runs/model/records.ts";
import { templateRecordTypes } from "./domain/templates/records.ts";
import { topicRecordTypes } from "./domain/topics/records.ts";
import { webhookRecordTypes } from "./domain/webhooks/records.ts";
import { callRecordTypes } from "./edge/calls/records.ts";
import { directoryRow } from "./platform/storage/directory.ts";
import { indexMarkRecord } from "./platform/storage/indexUpgrade.ts";
import { isLmdbWriteRejection } from "./platform/storage/lmdb/database.ts";
import { createLmdbStorage } from "./platform/storage/lmdb/lmdbStorage.ts";
import type { Storage } from "./platform/storage/port.ts";
import type { AnyRecordType } from "./platform/storage/recordType.ts";
import { describeRedis } from "./platform/storage/storeAddress.ts";
import { isMarked } from "./platform/storage/storeMark.ts";

/** The record types are listed statically, because the store needs them before any service exists. */
export const recordTypes = [
  directoryRow,
  indexMarkRecord,
  ...callRecordTypes,
  ...identityRecordTypes,
  ...articleRecordTypes,
  ...reviewRecordTypes,
  ...webhookRecordTypes,
  ...publishingRecordTypes,
  ...folderRecordTypes,
  ...templateRecordTypes,
  ...topicRecordTypes,
  ...runRecordTypes,
  ...jobRecordTypes,
] as readonly AnyRecordType[];

type StoreConfig = Pick<Config, "redis" | "dataDir" | "diskReserveMiB">;

/** Opens Redis if it is configured, otherwise LMDB. After `onDiskError` the store is unusable and the process must end. */
export async function openStorage({ redis, dataDir, diskReserveMiB }: StoreConfig, onDiskError: (error: Error) => void): Promise<Storage> {
  if (redis !== undefined) {
    // Imported only here, because the client of Redis takes 20 MB.
    const { createRedisStorage } = await import("./platform/storage/redis/redisStorage.ts");
    return createRedisStorage({ ...redis, recordTypes, onLost: onDiskError });
  }
  return createLmdbStorage({ directory: dataDir, diskReserveMiB, recordTypes, onDiskError });
}

/** Returns the location of the store for messages: the data directory or the Redis address. */
export function describeStore({ redis, dataDir }: Pick<StoreConfig, "redis" | "dataDir">): string {
  return redis === undefined ? dataDir : describeRedis(redis.address);
}

/** True if the data directory holds a store. Always true with Redis, because only opening Redis shows what it holds. */
export function hasStore({ redis, dataDir }: Pick<StoreConfig, "redis" | "dataDir">): boolean {
  return redis !== undefined || existsSync(join(dataDir, "store")) || isMarked(dataDir);
}

/** True for an unhandled rejection that the store causes after it has rejected the affected writes. It is safe to ignore. */
export const isRejectionOfStore = isLmdbWriteRejection;
