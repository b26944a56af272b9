/**
 * This module encodes a record as text: `{"v":<version>,"r":<revision>,"d":<value>}`. All stores use the same format.
 * Before `"d"`, a row whose type has an `indexVersion` above 1 has this version as `"i"`, which older servers ignore.
 *
 * A row of an older version is upgraded when it is read. Values must be plain JSON. A value that JSON would silently
 * change (bytes, dates, NaN) is refused at the write, so the error does not appear only at a later read.
 */
import { type RecordType, StorageDamagedError, type Stored } from "./port.ts";

function refuseNonJson(value: unknown, path: string): void {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "undefined":
      return;
    case "number":
      if (!Number.isFinite(value)) throw new TypeError(`${path} is ${value}, which JSON cannot hold`);
      return;
    case "object": {
      if (value === null) return;
      if (Array.isArray(value)) {
        for (let at = 0; at < value.length; at += 1) {
          if (value[at] === undefined) throw new TypeError(`${path}[${at}] is undefined, which JSON cannot hold in a list`);
          refuseNonJson(value[at], path);
        }
        return;
      }
      const prototype = Object.getPrototypeOf(value);
      if (prototype !== Object.prototype && prototype !== null) throw new TypeError(`${path} is not plain JSON`);
      for (const name of Object.keys(value)) refuseNonJson((value as Record<string, unknown>)[name], name);
      return;
    }
    default:
      throw new TypeError(`${path} is a ${typeof value}, which JSON cannot hold`);
  }
}

/** Converts a value to JSON text. Throws a TypeError if JSON would change the value. */
export function toJsonText(value: unknown, what: string): string {
  if (value === undefined) throw new TypeError(`${what} is undefined`);
  refuseNonJson(value, what);
  return JSON.stringify(value);
}

export function encodeRow<Value>(type: RecordType<Value>, stored: Stored<Value>): string {
  const { version, indexVersion = 1 } = type;
  const index = indexVersion === 1 ? "" : `,"i":${indexVersion}`;
  return `{"v":${version},"r":${stored.revision}${index},"d":${toJsonText(stored.value, type.name)}}`;
}

/** True if the index rows of the stored record were derived by an earlier `indexes` of the type, so that some may be missing. */
export function hasOlderIndex({ indexVersion = 1 }: Pick<RecordType<never>, "indexVersion">, text: string): boolean {
  const written = /^\{"v":\d+,"r":\d+,"i":(\d+),/.exec(text)?.[1] ?? "1";
  return Number(written) < indexVersion;
}

/** Reads the revision without parsing the value. */
export function revisionOfRow(text: string): number {
  return Number.parseInt(text.slice(text.indexOf(',"r":') + 5), 10);
}

export function decodeRow<Value>(type: RecordType<Value>, text: string): Stored<Value> {
  const row = JSON.parse(text) as { v: number; r: number; d: unknown };
  if (row.v > type.version) {
    throw new StorageDamagedError(`a ${type.name} record has version ${row.v}; this server knows versions up to ${type.version}`);
  }
  let value = row.d;
  for (let version = row.v; version < type.version; version += 1) {
    const upgrade = type.upgrades?.[version];
    if (upgrade === undefined) throw new Error(`record type ${type.name} has no upgrade from version ${version}`);
    value = upgrade(value);
  }
  return { value: value as Value, revision: row.r };
}
