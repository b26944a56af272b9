/**
 * This module encodes and decodes the bytes of logs on disk: the group, one value with all log writes of one
 * transaction, and the chunk, a longer run of one log. Both contain runs: consecutive entries, each packed as u32
 * length and bytes. No other module knows these layouts.
 *
 * A group is a list of sections. Each section starts with u8 operation, u16 key length, and the bytes of the log's key.
 * An append continues with f64 first position, u32 count, u32 size and the run; a trim with f64 position; a drop with
 * nothing. A chunk is u32 count and the run; its first position is in its key.
 */
import { type LogEntry, StorageDamagedError } from "./port.ts";

/** Consecutive entries in packed form. Single entries are extracted only when they are read. */
export interface Run {
  readonly first: number;
  readonly count: number;
  readonly packed: Uint8Array;
}

export type LogSection =
  | { readonly op: "append"; readonly key: string; readonly run: Run }
  | { readonly op: "trim"; readonly key: string; readonly through: number }
  | { readonly op: "drop"; readonly key: string };

/** A section that is not encoded yet. An append collects all entries that one transaction writes to a log. */
export type UnwrittenSection =
  | { readonly op: "append"; readonly key: string; readonly first: number; readonly entries: Uint8Array[] }
  | Exclude<LogSection, { op: "append" }>;

const operations = { append: 1, trim: 2, drop: 3 } as const;
const headerBytes = 3;
const runHeaderBytes = 16;

function packedSize(entries: readonly Uint8Array[]): number {
  let size = 0;
  for (const entry of entries) size += 4 + entry.byteLength;
  return size;
}

function pack(target: Buffer, start: number, entries: readonly Uint8Array[]): number {
  let at = start;
  for (const entry of entries) {
    at = target.writeUInt32LE(entry.byteLength, at);
    target.set(entry, at);
    at += entry.byteLength;
  }
  return at;
}

/**
 * Encodes a group. The returned sections are the same as after decoding: their runs are views into `value`, so the
 * given entries are no longer referenced.
 */
export function encodeGroup(unwritten: readonly UnwrittenSection[]): { readonly value: Buffer; readonly sections: readonly LogSection[] } {
  let size = 0;
  for (const section of unwritten) {
    size += headerBytes + section.key.length;
    if (section.op === "append") size += runHeaderBytes + packedSize(section.entries);
    else if (section.op === "trim") size += 8;
  }
  const value = Buffer.allocUnsafe(size);
  const sections: LogSection[] = [];
  let at = 0;
  for (const section of unwritten) {
    at = value.writeUInt8(operations[section.op], at);
    at = value.writeUInt16LE(section.key.length, at);
    at += value.write(section.key, at, "latin1");
    if (section.op === "append") {
      const { key, first, entries } = section;
      const start = at + runHeaderBytes;
      const end = pack(value, start, entries);
      value.writeDoubleLE(first, at);
      value.writeUInt32LE(entries.length, at + 8);
      value.writeUInt32LE(end - start, at + 12);
      sections.push({ op: "append", key, run: { first, count: entries.length, packed: value.subarray(start, end) } });
      at = end;
    } else {
      if (section.op === "trim") at = value.writeDoubleLE(section.through, at);
      sections.push(section);
    }
  }
  return { value, sections };
}

function guarded<Result>(what: string, read: () => Result): Result {
  try {
    return read();
  } catch (reason) {
    throw new StorageDamagedError(`${what} cannot be read`, { cause: reason });
  }
}

export function decodeGroup(value: Buffer, number: number): readonly LogSection[] {
  return guarded(`log group ${number}`, () => {
    const sections: LogSection[] = [];
    let at = 0;
    while (at < value.length) {
      const op = value.readUInt8(at);
      const keyEnd = at + headerBytes + value.readUInt16LE(at + 1);
      const key = value.toString("latin1", at + headerBytes, keyEnd);
      at = keyEnd;
      if (op === operations.append) {
        const start = at + runHeaderBytes;
        const end = start + value.readUInt32LE(at + 12);
        if (end > value.length) throw new RangeError("a run passes the end of its group");
        const run = { first: value.readDoubleLE(at), count: value.readUInt32LE(at + 8), packed: value.subarray(start, end) };
        sections.push({ op: "append", key, run });
        at = end;
      } else if (op === operations.trim) {
        sections.push({ op: "trim", key, through: value.readDoubleLE(at) });
        at += 8;
      } else if (op === operations.drop) sections.push({ op: "drop", key });
      else throw new RangeError(`there is no log operation ${op}`);
    }
    return sections;
  });
}

/** Encodes consecutive runs as one chunk. */
export function encodeChunk(runs: readonly Run[]): Buffer {
  const count = Buffer.allocUnsafe(4);
  count.writeUInt32LE(runs.reduce((sum, run) => sum + run.count, 0));
  return Buffer.concat([count, ...runs.map((run) => run.packed)]);
}

export function decodeChunk(value: Buffer, first: number): Run {
  return guarded("a log chunk", () => ({ first, count: value.readUInt32LE(0), packed: value.subarray(4) }));
}

/** Collects entries from a given position on, until the limit of entries or bytes is reached. */
export class LogReader {
  readonly entries: LogEntry[] = [];
  #next: number;
  readonly #limit: number;
  #bytesLeft: number;

  constructor(after: number, limit: number, maxBytes: number) {
    this.#next = after + 1;
    this.#limit = limit;
    this.#bytesLeft = maxBytes;
  }

  get next(): number {
    return this.#next;
  }

  get full(): boolean {
    return this.entries.length >= this.#limit || this.#bytesLeft <= 0;
  }

  take({ first, count, packed }: Run): void {
    if (this.#next < first || this.#next >= first + count) return;
    const bytes = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
    let at = 0;
    for (let position = first; position < first + count && !this.full; position += 1) {
      const length = guarded("a log entry", () => bytes.getUint32(at, true));
      if (position >= this.#next) {
        this.entries.push({
          position,
          bytes: guarded("a log entry", () => new Uint8Array(packed.buffer, packed.byteOffset + at + 4, length)),
        });
        this.#next = position + 1;
        this.#bytesLeft -= length;
      }
      at += 4 + length;
    }
  }
}
