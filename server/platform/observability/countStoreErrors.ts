/** Returns the same store with a `commit` that counts failed writes. */
import type { Storage } from "../storage/port.ts";
import type { Metrics } from "./metrics.ts";

export function countStoreErrors(storage: Storage, metrics: Pick<Metrics, "storeError">): Storage {
  return {
    ...storage,
    commit: (batch) =>
      storage.commit(batch).catch((reason: unknown) => {
        metrics.storeError();
        throw reason;
      }),
  };
}
