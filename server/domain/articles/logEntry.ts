/**
 * Encodes and decodes one entry of a document's log: the time of the append, the node that wrote it, and the updates with
 * their authors. No other module knows this layout.
 *
 * Each author is written once in an entry, even if several updates have the same author. A reader that needs only the
 * time or the authors decodes the header and does not copy the updates.
 */
import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import { type Author, AuthorKind } from "../../../api/schema/article.ts";
import type { AuthoredUpdate, LoggedBatch } from "../../../realtime/ports.ts";
import { type LogEntry, StorageDamagedError } from "../../platform/storage/port.ts";

const layout = 1;
const kinds = AuthorKind.options;

export interface BatchHeader {
  /** Store time at the append, Unix milliseconds. */
  readonly atMs: number;
  readonly writer: string;
  readonly authors: readonly Author[];
}

export function encodeBatch(atMs: number, writer: string, updates: readonly AuthoredUpdate[]): Uint8Array {
  const authors: Author[] = [];
  const indexes = updates.map(({ author }) => {
    const known = authors.findIndex((other) => other.username === author.username && other.kind === author.kind);
    return known >= 0 ? known : authors.push(author) - 1;
  });
  const encoder = encoding.createEncoder();
  encoding.writeUint8(encoder, layout);
  encoding.writeVarUint(encoder, atMs);
  encoding.writeVarString(encoder, writer);
  encoding.writeVarUint(encoder, authors.length);
  for (const author of authors) {
    encoding.writeUint8(encoder, kinds.indexOf(author.kind));
    encoding.writeVarString(encoder, author.username);
  }
  encoding.writeVarUint(encoder, updates.length);
  for (const [at, { update }] of updates.entries()) {
    encoding.writeVarUint(encoder, indexes[at] ?? 0);
    encoding.writeVarUint8Array(encoder, update);
  }
  return encoding.toUint8Array(encoder);
}

function readHeader(decoder: decoding.Decoder): BatchHeader {
  const found = decoding.readUint8(decoder);
  if (found !== layout) throw new StorageDamagedError(`a document's log contains an entry with the unknown layout ${found}`);
  const atMs = decoding.readVarUint(decoder);
  const writer = decoding.readVarString(decoder);
  const authors: Author[] = [];
  for (let left = decoding.readVarUint(decoder); left > 0; left -= 1) {
    const kind = kinds[decoding.readUint8(decoder)];
    const username = decoding.readVarString(decoder);
    if (kind === undefined) throw new StorageDamagedError("a document's log contains an unknown kind of author");
    authors.push({ username, kind });
  }
  return { atMs, writer, authors };
}

export function decodeHeader(bytes: Uint8Array): BatchHeader {
  return readHeader(decoding.createDecoder(bytes));
}

export function decodeBatch(entry: LogEntry): LoggedBatch & BatchHeader {
  const decoder = decoding.createDecoder(entry.bytes);
  const header = readHeader(decoder);
  const updates: AuthoredUpdate[] = [];
  for (let left = decoding.readVarUint(decoder); left > 0; left -= 1) {
    const author = header.authors[decoding.readVarUint(decoder)];
    if (author === undefined) throw new StorageDamagedError("a document's log refers to an author that it does not contain");
    updates.push({ author, update: decoding.readVarUint8Array(decoder) });
  }
  return { ...header, revision: entry.position, updates };
}
