/**
 * Housekeeping performs the due rows of the store itself: it deletes expired records and removes blobs without
 * references.
 *
 * Both tasks can be interrupted anywhere and repeated safely. An expired record and its due row are removed in one
 * commit, and a blob is removed before its due row.
 */
import { collectKind, expireKind } from "./derive.ts";
import type { ClaimedRow, Storage } from "./port.ts";
import type { RecordTypes } from "./recordType.ts";
import { conflict, retryOnConflict } from "./retryOnConflict.ts";

/** Kinds of due rows that `createHousekeeping` handles. */
export const housekeepingKinds: readonly string[] = [expireKind, collectKind];

/** The worker has nothing left to do under this claim: the row was acknowledged or postponed, or another worker changed it. */
interface Settled {
  readonly kind: "settled";
}

const settled: Settled = { kind: "settled" };

export function createHousekeeping(
  storage: Pick<Storage, "records" | "blobs" | "commit" | "now">,
  recordTypes: RecordTypes,
): (row: ClaimedRow) => Promise<Settled> {
  async function acknowledge({ partition, id, fence }: ClaimedRow): Promise<Settled> {
    await storage.commit({ partition, due: [{ op: "acknowledge", id, fence }] });
    return settled;
  }

  async function expire(row: ClaimedRow): Promise<Settled> {
    const { partition, id, fence } = row;
    const payload = row.payload as { readonly type: string; readonly key: string };
    const type = recordTypes.get(payload.type);
    if (type === undefined) throw new Error(`a ${payload.type} record is to expire, but no such type is listed`);
    return retryOnConflict("record.expire", async () => {
      const stored = await storage.records.get(type, payload.key);
      if (stored === undefined) return acknowledge(row);
      const dueAtMs = type.expiresAtMs?.(stored.value);
      if (dueAtMs === undefined) return acknowledge(row);
      if (dueAtMs > storage.now()) {
        await storage.commit({ partition, due: [{ op: "postpone", id, fence, dueAtMs, attempts: 0 }] });
        return settled;
      }
      const result = await storage.commit({
        partition,
        records: [{ op: "delete", type, replacing: stored }],
        due: [{ op: "acknowledge", id, fence }],
      });
      return result.ok || result.conflict.kind === "due" ? settled : conflict;
    });
  }

  async function collect(row: ClaimedRow): Promise<Settled> {
    await storage.blobs.collect(row.partition, (row.payload as { readonly sha256: string }).sha256);
    return acknowledge(row);
  }

  return (row) => {
    if (row.kind === expireKind) return expire(row);
    if (row.kind === collectKind) return collect(row);
    throw new Error(`housekeeping does not perform ${row.kind}`);
  };
}
