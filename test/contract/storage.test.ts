/** Runs the storage suite on every adapter, and on the embedded adapter also with a regroup after each write. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLmdbStorage, type LmdbStorageOptions } from "../../server/platform/storage/lmdb/lmdbStorage.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import { storageSuite } from "./storage.suite.ts";
import type { WithStorage } from "./storageTypes.ts";

function withLmdb(settings: Partial<LmdbStorageOptions>): WithStorage {
  return async (test, options = {}) => {
    const directory = await mkdtemp(join(tmpdir(), "storage-"));
    const storage = await createLmdbStorage({ directory, ...settings, ...options });
    try {
      await test(storage);
    } finally {
      await storage.close();
      await rm(directory, { recursive: true });
    }
  };
}

storageSuite("memory", async (test, options = {}) => {
  const storage = createMemoryStorage(options);
  await test(storage);
  await storage.close();
});
storageSuite("embedded", withLmdb({}));
storageSuite("embedded, always regrouping", withLmdb({ regroupBytes: 1 }));
