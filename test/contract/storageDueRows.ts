/** The clock, the rows and the claims of the tests of due rows, expiry and leases. */
import { type ClaimedRow, type DueRow, partitionCount, type Storage } from "../../server/platform/storage/port.ts";
import { batch } from "./storageTypes.ts";

export const partition = 40;
export const startMs = 1_900_000_000_000;
export const partitions = Array.from({ length: partitionCount }, (_, at) => at);

/** The clock moves only when a test moves it. */
export function createClock() {
  let nowMs = startMs;
  return { now: () => nowMs, advance: (ms: number) => (nowMs += ms) };
}

export const row = (id: string, dueAtMs: number, rest: Partial<DueRow> = {}): DueRow => ({
  id,
  kind: "work",
  dueAtMs,
  payload: { id },
  attempts: 0,
  ...rest,
});

export function schedule(storage: Storage, rows: readonly DueRow[], op: "schedule" | "arm" = "schedule", where = partition) {
  return storage.commit(batch(where, { due: rows.map((due) => ({ op, row: due })) }));
}

export const claimAll = (storage: Storage, limit = 100, leaseMs = 1000) => storage.due.claim({ partitions, limit, leaseMs });
export const idsOf = (rows: readonly ClaimedRow[]) => rows.map(({ id }) => id);
