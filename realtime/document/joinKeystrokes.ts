/**
 * joinKeystrokes joins the keystrokes of a batch that continue each other into one insertion.
 *
 * A client that types quickly sends one update for each character. Yjs joins the characters of such updates when it has
 * integrated them, so the joined update has the same content. One joined update costs less to apply, to relay and to keep.
 * The log keeps the updates as they were sent, because each of them has its author.
 */
import type { BatchedUpdate } from "./applyBatch.ts";
import { type PlainUpdate, readPlainUpdate } from "./plainUpdate.ts";

/** Insertions of one client id, each directly behind the last character of the one before it. */
interface Run<Sender> {
  readonly first: BatchedUpdate<Sender>;
  readonly clientId: number;
  readonly rightId: number;
  readonly rightClock: number;
  /** Offset of the text in the first update. All bytes before it are the same in the joined update. */
  readonly textAt: number;
  readonly texts: Uint8Array[];
  textBytes: number;
  /** Clock behind the run. */
  to: number;
}

/** The number of deletions at the end of an update. */
const noDeletion = 0;

/** Expects the updates of each sender side by side and in their order. */
export function joinKeystrokes<Sender>(batch: readonly BatchedUpdate<Sender>[]): readonly BatchedUpdate<Sender>[] {
  if (batch.length < 2) return batch;
  const joined: BatchedUpdate<Sender>[] = [];
  let run: Run<Sender> | undefined;
  for (const update of batch) {
    const plain = readInsertion(update.update);
    if (plain !== undefined && run !== undefined && continues(plain, update, run)) {
      run.texts.push(textOf(plain));
      run.textBytes += plain.textBytes;
      run.to = plain.to;
      continue;
    }
    if (run !== undefined) joined.push(toUpdate(run));
    run = plain === undefined ? undefined : toRun(plain, update);
    if (run === undefined) joined.push(update);
  }
  if (run !== undefined) joined.push(toUpdate(run));
  return joined;
}

/** Reads an update that inserts text and deletes nothing. */
function readInsertion(update: Uint8Array): PlainUpdate | undefined {
  const plain = readPlainUpdate(update, 0);
  return plain?.clientId === -1 ? undefined : plain;
}

/** The condition under which Yjs joins two items (`Item.mergeWith`). */
function continues<Sender>(plain: PlainUpdate, { sender, mayBePending }: BatchedUpdate<Sender>, run: Run<Sender>): boolean {
  return (
    plain.clientId === run.clientId &&
    plain.from === run.to &&
    plain.leftId === run.clientId &&
    plain.leftClock === run.to - 1 &&
    plain.rightId === run.rightId &&
    (plain.rightId === -1 || plain.rightClock === run.rightClock) &&
    sender === run.first.sender &&
    mayBePending === run.first.mayBePending
  );
}

function toRun<Sender>(plain: PlainUpdate, first: BatchedUpdate<Sender>): Run<Sender> {
  const { clientId, rightId, rightClock, textAt, textBytes, to } = plain;
  return { first, clientId, rightId, rightClock, textAt, texts: [textOf(plain)], textBytes, to };
}

/** The text ends before the number of deletions, which is the last byte. */
function textOf({ bytes, textBytes }: PlainUpdate): Uint8Array {
  return bytes.subarray(bytes.length - 1 - textBytes, bytes.length - 1);
}

function toUpdate<Sender>({ first, texts, textAt, textBytes }: Run<Sender>): BatchedUpdate<Sender> {
  if (texts.length === 1) return first;
  const { sender, update, mayBePending } = first;
  const joined = new Uint8Array(textAt + maxLengthBytes + textBytes + 1);
  joined.set(update.subarray(0, textAt));
  let at = writeLength(joined, textAt, textBytes);
  for (const text of texts) {
    joined.set(text, at);
    at += text.length;
  }
  joined[at] = noDeletion;
  return { sender, update: joined.subarray(0, at + 1), mayBePending };
}

/** Bytes of a variable-length integer below 2^32. */
const maxLengthBytes = 5;

/** Writes a variable-length integer and returns the offset behind it. */
function writeLength(bytes: Uint8Array, start: number, length: number): number {
  let at = start;
  let rest = length;
  for (; rest > 127; rest >>>= 7) {
    bytes[at] = 128 | (rest & 127);
    at += 1;
  }
  bytes[at] = rest;
  return at + 1;
}
