/** The storages on which the runtime keeps its promises, each on a held clock. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLmdbStorage } from "../../server/storage/lmdb.ts";
import { createMemoryStorage } from "../../server/storage/memory.ts";
import type { Storage } from "../../server/storage/port.ts";
import type { ManualTime } from "./manualTime.ts";

export interface OpenedStorage {
  readonly storage: Storage;
  close(): Promise<void>;
}

export const actorStorages: readonly [name: string, open: (time: ManualTime) => Promise<OpenedStorage>][] = [
  [
    "memory",
    async (time) => {
      const storage = time.watch(createMemoryStorage({ now: time.now }));
      return { storage, close: () => storage.close() };
    },
  ],
  [
    "lmdb",
    async (time) => {
      const directory = await mkdtemp(join(tmpdir(), "actors-"));
      const storage = time.watch(await createLmdbStorage({ directory, now: time.now }));
      return {
        storage,
        async close() {
          await storage.close();
          await rm(directory, { recursive: true, force: true });
        },
      };
    },
  ],
];
