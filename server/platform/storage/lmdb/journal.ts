/**
 * The journal stores groups of log writes in two files of fixed size beside LMDB's file, and overwrites them in place.
 *
 * A transaction that only writes logs, such as a keystroke, needs no tree. One synchronous write of about 200 bytes makes it
 * durable; LMDB would write several pages and sync twice. A group without room here goes to LMDB, under the next number of
 * the same sequence. The journal does not know the entries of a group. It upholds ST96 and ST97.
 */
import { randomBytes } from "node:crypto";
import { closeSync, constants, fdatasyncSync, fstatSync, openSync, readSync, write } from "node:fs";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { crc32 } from "node:zlib";
import { syncDirectory } from "../disk/syncDirectory.ts";
import type { KeyValueReader, KeyValueWriter } from "../keyValue.ts";
import { StorageDamagedError } from "../port.ts";

const rowKey = "mjournal";
const fileCount = 2;
/** At 1,000 keystrokes a second, one file holds about 30 s of them. The regular regroup releases it earlier. */
const fileBytes = 4 * 1024 * 1024;
/** A larger group goes to LMDB, where many keystrokes then share the cost of one transaction. */
const maxGroupBytes = 16 * 1024;
const saltBytes = 8;
/**
 * A record is 8 bytes salt, u32 CRC-32 of all that follows, u32 length of the group, f64 group number, f64 store time (Unix
 * milliseconds), the group, and zeros up to a multiple of 8 bytes.
 */
const headerBytes = 32;
const offsets = { crc: 8, length: 12, number: 16, timeMs: 24 };
const advice = "It was left as it is. Put the whole data directory back from a backup.";

const writeAt = promisify(write);

export interface JournalRecord {
  readonly number: number;
  /** Store time of the write, in Unix milliseconds. */
  readonly timeMs: number;
  readonly group: Buffer;
}

interface JournalFile {
  readonly descriptor: number;
  /**
   * Random bytes at the start of every record, also stored in the journal's row in LMDB. A released file gets a new salt.
   * Therefore bytes of an earlier use are never read as a record, not even if a client made them look like one.
   */
  salt: Buffer;
  /** Where the next record begins. 0: the file is free. */
  end: number;
  lastGroup: number;
}

const toPath = (folder: string, index: number) => join(folder, `journal.${index}`);
const toRecordBytes = (groupBytes: number) => Math.ceil((headerBytes + groupBytes) / 8) * 8;
const newSalts = () => Array.from({ length: fileCount }, () => randomBytes(saltBytes).toString("hex"));

export class Journal {
  readonly #folder: string;
  #found: readonly JournalRecord[] = [];
  #files: readonly JournalFile[] = [];
  /** The file that `append` writes to. Undefined if there is no journal, or only one whose creation is not committed. */
  #current: JournalFile | undefined;
  /** The salts that the running transaction gives to the files. */
  #staged: readonly string[] | undefined;

  /**
   * Opens the journal in `folder`, if the row in `store` says that there is one. Throws a StorageDamagedError if a file is
   * missing or damaged.
   */
  constructor(folder: string, store: KeyValueReader) {
    this.#folder = folder;
    const row = store.get(rowKey);
    try {
      if (row !== undefined) this.#open(JSON.parse(row) as readonly string[]);
      this.#found = this.#files.flatMap((file, index) => readRecords(file, toPath(folder, index)));
    } catch (reason) {
      this.close();
      throw reason;
    }
    for (const file of this.#files) if (file.lastGroup >= (this.#current?.lastGroup ?? 0)) this.#current = file;
  }

  get isOpen(): boolean {
    return this.#current !== undefined;
  }

  /**
   * Returns the groups that were found when the journal was opened, in the order of their numbers within each file. Only
   * the first call returns them, because they keep the whole content of the files in memory.
   */
  takeFound(): readonly JournalRecord[] {
    const found = this.#found;
    this.#found = [];
    return found;
  }

  /** True if `append` takes a group of this size. Any other group must be written to LMDB. */
  hasRoom(groupBytes: number): boolean {
    if (this.#current === undefined || groupBytes > maxGroupBytes) return false;
    if (this.#current.end + toRecordBytes(groupBytes) <= fileBytes) return true;
    const free = this.#files.find(({ end }) => end === 0);
    if (free !== undefined) this.#current = free;
    return free !== undefined;
  }

  /** True if every file holds groups. A regroup should then release one before the current file is full. */
  get needsRelease(): boolean {
    return this.isOpen && this.#files.every(({ end }) => end > 0);
  }

  /** Writes a group. Resolves when it is durable. Requires `hasRoom`; only one write may run at a time. */
  async append({ number, timeMs, group }: JournalRecord): Promise<void> {
    const file = this.#current;
    if (file === undefined) throw new Error("the journal is not open");
    const record = Buffer.alloc(toRecordBytes(group.length));
    file.salt.copy(record, 0);
    record.writeUInt32LE(group.length, offsets.length);
    record.writeDoubleLE(number, offsets.number);
    record.writeDoubleLE(timeMs, offsets.timeMs);
    record.set(group, headerBytes);
    record.writeUInt32LE(toChecksum(record, group.length), offsets.crc);
    try {
      for (let written = 0; written < record.length; ) {
        const { bytesWritten } = await writeAt(file.descriptor, record, written, record.length - written, file.end + written);
        written += bytesWritten;
      }
    } catch (reason) {
      // Nothing may follow an incomplete record until the file is released. The record may also be readable: the writer
      // therefore gives its number to a group in LMDB, which replaces the record.
      Object.assign(file, { end: fileBytes, lastGroup: number });
      throw reason;
    }
    file.end += record.length;
    file.lastGroup = number;
  }

  /** Creates the files. They are used from `committed` on, after a transaction that called `stage`. */
  async create(): Promise<void> {
    const paths = Array.from({ length: fileCount }, (_, index) => toPath(this.#folder, index));
    try {
      for (const path of paths) {
        // Written, not only allocated: overwriting such blocks changes no metadata of the file system.
        const file = await open(path, "w", 0o600);
        try {
          await file.writeFile(Buffer.alloc(fileBytes));
          await file.sync();
        } finally {
          await file.close();
        }
      }
      await syncDirectory(this.#folder);
    } catch (reason) {
      // On a disk that is full now, the files would take the last space.
      for (const path of paths) await rm(path, { force: true });
      throw reason;
    }
  }

  /** Opens the files that were just created, and stages their row. */
  stage(store: KeyValueWriter): void {
    const salts = newSalts();
    this.#open(salts);
    this.#staged = salts;
    store.put(rowKey, JSON.stringify(salts));
  }

  /**
   * Releases the files whose groups all have numbers up to `through`, by staging new salts for them. Must be part of the
   * transaction that removes these groups.
   */
  stageRelease(store: KeyValueWriter, through: number): void {
    const isDone = ({ end, lastGroup }: JournalFile) => end > 0 && lastGroup <= through;
    if (!this.#files.some(isDone)) return;
    const fresh = newSalts();
    this.#staged = this.#files.map((file, index) => (isDone(file) ? (fresh[index] as string) : file.salt.toString("hex")));
    store.put(rowKey, JSON.stringify(this.#staged));
  }

  /** Must be called when a transaction that staged something is durable. */
  committed(): void {
    const salts = this.#staged;
    this.#staged = undefined;
    if (salts === undefined) return;
    this.#current ??= this.#files[0];
    for (const [index, file] of this.#files.entries()) {
      const salt = Buffer.from(salts[index] as string, "hex");
      if (!salt.equals(file.salt)) Object.assign(file, { salt, end: 0, lastGroup: 0 });
    }
  }

  /** Must be called after a rollback. */
  undo(): void {
    this.#staged = undefined;
    if (!this.isOpen) this.close();
  }

  close(): void {
    for (const { descriptor } of this.#files) closeSync(descriptor);
    this.#files = [];
    this.#current = undefined;
  }

  #open(salts: readonly string[]): void {
    this.close();
    for (const [index, salt] of salts.entries()) {
      const descriptor = openFile(toPath(this.#folder, index));
      this.#files = [...this.#files, { descriptor, salt: Buffer.from(salt, "hex"), end: 0, lastGroup: 0 }];
    }
  }
}

/** Opens a file for writes that are durable when they return (`O_DSYNC`). */
function openFile(path: string): number {
  try {
    return openSync(path, constants.O_RDWR | constants.O_DSYNC);
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code !== "ENOENT") throw reason;
    throw new StorageDamagedError(`${path} is missing. It contained the latest writes. ${advice}`, { cause: reason });
  }
}

function toChecksum(record: Buffer, groupBytes: number): number {
  return crc32(record.subarray(offsets.length, headerBytes + groupBytes));
}

/** The record at this offset; undefined if there is none, or only a part of one. */
function readRecord(bytes: Buffer, at: number, salt: Buffer): (JournalRecord & { readonly end: number }) | undefined {
  if (at + headerBytes > bytes.length || !bytes.subarray(at, at + saltBytes).equals(salt)) return undefined;
  const length = bytes.readUInt32LE(at + offsets.length);
  const end = at + toRecordBytes(length);
  if (end > bytes.length || toChecksum(bytes.subarray(at), length) !== bytes.readUInt32LE(at + offsets.crc)) return undefined;
  return {
    number: bytes.readDoubleLE(at + offsets.number),
    timeMs: bytes.readDoubleLE(at + offsets.timeMs),
    group: bytes.subarray(at + headerBytes, at + headerBytes + length),
    end,
  };
}

function readRecords(file: JournalFile, path: string): readonly JournalRecord[] {
  // A file of a copy that was just restored may not be on disk yet, and `append` syncs only what it writes.
  fdatasyncSync(file.descriptor);
  const { size } = fstatSync(file.descriptor);
  const bytes = Buffer.alloc(size);
  if (size !== fileBytes || readSync(file.descriptor, bytes, 0, size, 0) !== size) {
    throw new StorageDamagedError(`${path} has ${size} bytes and should have ${fileBytes}. ${advice}`);
  }
  const records: JournalRecord[] = [];
  for (let record = readRecord(bytes, 0, file.salt); record !== undefined; record = readRecord(bytes, record.end, file.salt)) {
    records.push(record);
    file.end = record.end;
    file.lastGroup = record.number;
  }
  // One record is written at a time, so only the last one can be incomplete. Its salt is at `end`. A salt after it means
  // that the file is damaged.
  const next = bytes.indexOf(file.salt, file.end + 1);
  if (next !== -1) throw new StorageDamagedError(`${path} is damaged before byte ${next}. ${advice}`);
  return records;
}
