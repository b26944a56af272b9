/**
 * StagedMap holds the changes of one LMDB transaction in memory until all of its jobs have run.
 *
 * Jobs read through it and see the changes of earlier jobs. The changes are then written as one batch that LMDB's own
 * thread executes alone. A transaction whose jobs ran inside it would stop that thread until the event loop has run
 * them, which costs a third more processor time for each commit.
 */
import type { KeyRange, KeyValueReader, KeyValueWriter } from "../keyValue.ts";
import type { LmdbDatabase } from "./database.ts";

const maxKeyBytes = 1978;

export class StagedMap implements KeyValueWriter {
  readonly #stored: KeyValueReader;
  /** Null deletes the key. */
  readonly #changes = new Map<string, string | Uint8Array | null>();

  /** `stored` must show the state after the last transaction. */
  constructor(stored: KeyValueReader) {
    this.#stored = stored;
  }

  has(key: string): boolean {
    return this.#changes.has(key);
  }

  get isEmpty(): boolean {
    return this.#changes.size === 0;
  }

  get changedKeys(): Iterable<string> {
    return this.#changes.keys();
  }

  /** Values of `putBytes` are never read here: only a later transaction reads groups and chunks. */
  get(key: string): string | undefined {
    const staged = this.#changes.get(key);
    if (staged === undefined) return this.#stored.get(key);
    return typeof staged === "string" ? staged : undefined;
  }

  keys(range: KeyRange): readonly string[] {
    const { start, end, reverse = false, limit = Number.POSITIVE_INFINITY } = range;
    const staged: string[] = [];
    for (const key of this.#changes.keys()) if (key >= start && key < end) staged.push(key);
    if (staged.length === 0) return this.#stored.keys(range);
    // Each staged deletion can remove one of the stored keys, so this number of keys more is read.
    const stored = this.#stored.keys(limit === Number.POSITIVE_INFINITY ? range : { ...range, limit: limit + staged.length });
    const found = new Set(stored);
    for (const key of staged) {
      if (this.#changes.get(key) === null) found.delete(key);
      else found.add(key);
    }
    const sorted = [...found].sort();
    return (reverse ? sorted.reverse() : sorted).slice(0, limit);
  }

  put(key: string, value: string): void {
    this.#stage(key, value);
  }

  putBytes(key: string, value: Uint8Array): void {
    this.#stage(key, value);
  }

  delete(key: string): void {
    this.#stage(key, null);
  }

  #stage(key: string, value: string | Uint8Array | null): void {
    if (key.length > maxKeyBytes) throw new RangeError(`a key of ${key.length} bytes does not fit`);
    this.#changes.set(key, value);
  }

  /** Writes all changes in one transaction, all of them or none. Resolves when the transaction is durable. */
  async write(db: Pick<LmdbDatabase, "batch" | "put" | "remove">): Promise<void> {
    await db.batch(() => {
      for (const [key, value] of this.#changes) {
        if (value === null) void db.remove(key);
        else void db.put(key, value);
      }
    });
  }

  clear(): void {
    this.#changes.clear();
  }
}
