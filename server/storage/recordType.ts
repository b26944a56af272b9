/**
 * How a part of the server declares its kinds of record, and the list of all of them.
 *
 * A declaration is checked when the module loads, so that a missing upgrade or a doubled name is found at
 * the first start and not at the first old row.
 */
import type { RecordType } from "./port.ts";

/** Any record type, as a list of them takes it. */
export type AnyRecordType = RecordType<never>;

/** Record types by name; each is given nothing but values of its own rows. */
export type RecordTypes = ReadonlyMap<string, RecordType<unknown>>;

/** Declares a record type; throws when a version has no upgrade from the one before. */
export function defineRecord<Value>(type: RecordType<Value>): RecordType<Value> {
  if (!/^[a-zA-Z][a-zA-Z0-9.-]{0,62}$/.test(type.name)) throw new Error(`record type name ${JSON.stringify(type.name)} is not usable`);
  if (!Number.isInteger(type.version) || type.version < 1) throw new Error(`record type ${type.name} needs a version from 1`);
  for (let older = 1; older < type.version; older += 1) {
    if (type.upgrades?.[older] === undefined) throw new Error(`record type ${type.name} has no upgrade from version ${older}`);
  }
  return type;
}

/** All record types of a server by name; throws when two share a name. */
export function createRecordTypes(types: readonly AnyRecordType[]): RecordTypes {
  const byName = new Map<string, RecordType<unknown>>();
  for (const type of types as readonly unknown[] as readonly RecordType<unknown>[]) {
    if (byName.has(type.name) && byName.get(type.name) !== type) throw new Error(`two record types are named ${type.name}`);
    byName.set(type.name, type);
  }
  return byName;
}
