/**
 * A storage whose process dies at its n-th write, directly before or after it. That write and all later calls never
 * answer. Earlier writes stay in the storage below.
 */
import type { Storage } from "../../server/platform/storage/port.ts";

export interface DyingStorage extends Storage {
  /** Number of writes that were started. */
  readonly writes: number;
  /** True once the fatal write has ended: with "after", its changes are in the storage below. */
  readonly dead: boolean;
  /** The process dies now, between two writes. */
  die(): void;
}

export function createDyingStorage(beneath: Storage, dieAt: number, when: "before" | "after"): DyingStorage {
  let writes = 0;
  let dying = false;
  let dead = false;
  const never = new Promise<never>(() => {});

  async function write<Result>(run: () => Promise<Result>): Promise<Result> {
    if (dying) return never;
    writes += 1;
    if (writes !== dieAt) return run();
    dying = true;
    if (when === "after") await run();
    dead = true;
    return never;
  }
  const read = <Result>(run: () => Promise<Result>): Promise<Result> => (dying ? never : run());

  return {
    ...beneath,
    records: {
      ...beneath.records,
      get: (type, key) => read(() => beneath.records.get(type, key)),
      getMany: (type, keys) => read(() => beneath.records.getMany(type, keys)),
    },
    due: {
      ...beneath.due,
      // A look for due rows counts as a write only if it finds one.
      claim: async (options) => {
        if (dying) return never;
        const { oldestDueAtMs } = await beneath.due.stats();
        if (oldestDueAtMs === undefined || oldestDueAtMs > beneath.now()) return [];
        return write(() => beneath.due.claim(options));
      },
      renew: (row, leaseMs) => write(() => beneath.due.renew(row, leaseMs)),
    },
    blobs: { ...beneath.blobs, put: (partition, bytes) => write(() => beneath.blobs.put(partition, bytes)) },
    commit: (batch) => write(() => beneath.commit(batch)),
    get writes() {
      return writes;
    },
    get dead() {
      return dead;
    },
    die() {
      dying = true;
      dead = true;
    },
  };
}
