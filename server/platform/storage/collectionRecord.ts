/**
 * This module declares and reads the records of collections: plain records that belong to a workspace, are listed by
 * their time of creation, and have no lifecycle of their own.
 *
 * `server/domain/call/collection.ts` serves requests on them.
 */
import { type IdPrefix, idPattern } from "../../../api/schema/id.ts";
import { partitionOfId } from "./ids.ts";
import type { IndexKey, RecordType, Storage, Stored } from "./port.ts";
import { defineRecord } from "./recordType.ts";

export interface CollectionRecord {
  readonly workspaceId: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /**
   * Lowest free number when the record was created, if the collection has a limit. The unique rule on it makes
   * concurrent creations conflict, so that they cannot exceed the limit.
   */
  readonly slot?: number;
}

export interface CollectionType<Value extends CollectionRecord> extends RecordType<Value> {
  /** Field that holds the id, and prefix of the ids. */
  readonly id: { readonly field: keyof Value & string; readonly prefix: IdPrefix };
}

/** Prefix of the index that lists the records of a workspace, ordered by time of creation and id. */
export function collectionList(record: Pick<RecordType<never>, "name">, workspaceId: string): IndexKey {
  return [record.name, workspaceId];
}

/** Name of the unique rule on `slot`. */
export function slotRule(record: Pick<RecordType<never>, "name">): string {
  return `${record.name}.slot`;
}

/** Declares the records of a collection. Their ids carry the partition of the workspace. */
export function defineCollectionRecord<Value extends CollectionRecord>(
  declared: Omit<CollectionType<Value>, "partitionOf" | "keyOf">,
): CollectionType<Value> {
  const keyOf = (value: Value) => String(value[declared.id.field]);
  const record: RecordType<Value> = {
    ...declared,
    keyOf,
    partitionOf: partitionOfId,
    indexes: (value) => [
      [...collectionList(declared, value.workspaceId), value.createdAtMs, keyOf(value)],
      ...(declared.indexes?.(value) ?? []),
    ],
    unique: (value) => [
      ...(value.slot === undefined ? [] : [[slotRule(declared), value.workspaceId, value.slot] as const]),
      ...(declared.unique?.(value) ?? []),
    ],
  };
  return { ...defineRecord(record), id: declared.id };
}

/**
 * Finds a record of a workspace. The id may come unchecked from a request: an invalid id and a record of another
 * workspace both count as not found.
 */
export async function findInCollection<Value extends CollectionRecord>(
  storage: Pick<Storage, "records">,
  record: CollectionType<Value>,
  workspaceId: string,
  id: string,
): Promise<Stored<Value> | undefined> {
  const stored = idPattern(record.id.prefix).test(id) ? await storage.records.get(record, id) : undefined;
  return stored?.value.workspaceId === workspaceId ? stored : undefined;
}

const chunk = 200;

/** Reads all records of a workspace, oldest first. Only for collections with a limit. */
export async function readCollection<Value extends CollectionRecord>(
  storage: Pick<Storage, "index" | "records">,
  record: RecordType<Value>,
  workspaceId: string,
): Promise<readonly Stored<Value>[]> {
  const found: Stored<Value>[] = [];
  const prefix = collectionList(record, workspaceId);
  for (let after: IndexKey | undefined; ; ) {
    const scan = { partition: partitionOfId(workspaceId), prefix, limit: chunk, ...(after === undefined ? {} : { after }) };
    const rows = await storage.index.scan(scan);
    const targets = rows.map((row) => row.target);
    const records = targets.length === 0 ? [] : await storage.records.getMany(record, targets);
    found.push(...records.filter((stored) => stored !== undefined));
    after = rows.at(-1)?.key;
    if (rows.length < chunk || after === undefined) return found;
  }
}
