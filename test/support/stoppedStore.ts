/** Opens the store of a stopped server, for tests that change what a server finds at its start. */
import { createLmdbStorage } from "../../server/platform/storage/lmdb/lmdbStorage.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { createRedisStorage } from "../../server/platform/storage/redis/redisStorage.ts";
import type { RunningServer } from "./server.ts";

/** Runs the work on the store and closes the store. */
export async function withStoreOf<Result>(
  { store, dataDir }: Pick<RunningServer, "store" | "dataDir">,
  work: (storage: Storage) => Promise<Result>,
): Promise<Result> {
  const address = store?.redis?.address;
  const storage = address === undefined ? await createLmdbStorage({ directory: dataDir }) : await createRedisStorage({ address });
  try {
    return await work(storage);
  } finally {
    await storage.close();
  }
}
