/**
 * RowCache keeps records that were read, in parsed form: a room reads its article's record at every append.
 *
 * A store may use it only if this process makes every change. The store drops a row when a transaction that changed it
 * becomes visible, and all rows after a failed transaction. Values are frozen because several callers get the same one.
 */
import { LRUCache } from "lru-cache";
import type { Stored } from "./port.ts";
import type { AnyRecordType } from "./recordType.ts";

interface Row {
  /** A reader that declares another version of the type gets its own value. */
  readonly type: AnyRecordType;
  readonly stored: Stored<unknown>;
  /** The row was read since the last sweep. */
  isUsed: boolean;
}

/** Characters of row text. Parsed values take about three times as many bytes. */
const maxCharacters = 2 * 1024 * 1024;
const maxRowCharacters = 64 * 1024;

function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  Object.freeze(value);
  for (const part of Object.values(value)) freeze(part);
}

export class RowCache {
  readonly #rows = new LRUCache<string, Row>({ maxSize: maxCharacters, maxEntrySize: maxRowCharacters });

  get<Value>(type: AnyRecordType, row: string): Stored<Value> | undefined {
    const found = this.#rows.get(row);
    if (found?.type !== type) return undefined;
    found.isUsed = true;
    return found.stored as Stored<Value>;
  }

  /** The revision of a record that is in the cache. */
  revisionOf(row: string): number | undefined {
    return this.#rows.get(row)?.stored.revision;
  }

  add(type: AnyRecordType, row: string, stored: Stored<unknown>, characters: number): void {
    freeze(stored);
    this.#rows.set(row, { type, stored, isUsed: true }, { size: characters });
  }

  drop(rows: Iterable<string>): void {
    for (const row of rows) this.#rows.delete(row);
  }

  clear(): void {
    this.#rows.clear();
  }

  /** Must be called regularly. It removes the rows that were not used since the last call. */
  sweep(): void {
    for (const [row, found] of [...this.#rows.entries()]) {
      if (!found.isUsed) this.#rows.delete(row);
      found.isUsed = false;
    }
  }
}
