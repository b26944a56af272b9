import { expect, test } from "vitest";
import { defaultLimits } from "../../../api/limits.ts";
import { createMemoryStorage } from "../../platform/storage/memoryStorage.ts";
import { createIdempotency, type IdempotencyDemand } from "./idempotency.ts";

test("[API14] a replay that is found under the lease releases the lease once, even if the release fails", async () => {
  const storage = createMemoryStorage({ now: () => 1_900_000_000_000 });
  const demand: IdempotencyDemand = {
    principalId: "usr_1",
    operation: "articles.create",
    key: "key-1",
    request: "request",
    partition: 3,
    workPartition: 3,
    secret: false,
  };
  const options = { limits: defaultLimits, owner: "node", leaseMs: 5000 };
  const first = await createIdempotency({ storage, ...options }).start(demand);
  if (first.kind !== "run") throw new Error("the first attempt must run");
  await first.run.keep("answer");
  await first.run.release();

  let reads = 0;
  let releases = 0;
  const late = createIdempotency({
    ...options,
    storage: {
      ...storage,
      // The first attempt ends between the first read and the lease.
      records: { ...storage.records, get: async (type, key) => (++reads === 1 ? undefined : storage.records.get(type, key)) },
      leases: {
        ...storage.leases,
        release: async () => {
          releases += 1;
          throw new Error("the store went away");
        },
      },
    },
  });
  await expect(late.start(demand)).rejects.toThrow("the store went away");
  expect(releases).toBe(1);
});
