/**
 * This module provides the functions that declare a record type and collect all record types of a server.
 *
 * A declaration is checked when its module loads. A missing upgrade or a duplicate name therefore fails at the first
 * start of the server, not at the first read of an old row.
 */
import type { RecordType } from "./port.ts";

/** A record type of any value, as used in lists of record types. */
export type AnyRecordType = RecordType<never>;

/** Record types by name. A type from this map must only be given values that were read from its own rows. */
export type RecordTypes = ReadonlyMap<string, RecordType<unknown>>;

/** Declares a record type. Throws if the name or the version is invalid, or if an upgrade from an older version is missing. */
export function defineRecord<Value>(type: RecordType<Value>): RecordType<Value> {
  if (!/^[a-zA-Z][a-zA-Z0-9.-]{0,62}$/.test(type.name)) throw new Error(`record type name ${JSON.stringify(type.name)} is not usable`);
  if (!Number.isInteger(type.version) || type.version < 1) throw new Error(`record type ${type.name} needs a version from 1`);
  if (!Number.isInteger(type.indexVersion ?? 1)) throw new Error(`record type ${type.name} needs a whole number as indexVersion`);
  for (let older = 1; older < type.version; older += 1) {
    if (type.upgrades?.[older] === undefined) throw new Error(`record type ${type.name} has no upgrade from version ${older}`);
  }
  return type;
}

/** Returns a map of all record types by name. Throws if two different types have the same name. */
export function createRecordTypes(types: readonly AnyRecordType[]): RecordTypes {
  const byName = new Map<string, RecordType<unknown>>();
  for (const type of types as readonly unknown[] as readonly RecordType<unknown>[]) {
    if (byName.has(type.name) && byName.get(type.name) !== type) throw new Error(`two record types are named ${type.name}`);
    byName.set(type.name, type);
  }
  return byName;
}
