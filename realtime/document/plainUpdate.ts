/**
 * plainUpdate reads the frame of an ordinary keystroke: one run of text beside existing text, or one deletion, or both.
 *
 * It accepts a part of what `parseFrame` and `inspectUpdate` accept, without making objects for it, and reads the same values.
 * Every other frame takes the general path. `test/property/plainUpdates.test.ts` shows that both paths decide alike (RT84).
 */
import * as decoding from "lib0/decoding";
import type { RoomLimits } from "../ports.ts";
import { clientIdEnd, updateFrameHead } from "../protocol.ts";
import { clockEnd, structFlags } from "./inspectUpdate.ts";

/** An ordinary keystroke. A client id of -1 means that there is no such part. */
export interface PlainUpdate {
  /** The update itself, without the head of the frame. */
  readonly bytes: Uint8Array;
  /** Client id and clocks of the inserted text. */
  readonly clientId: number;
  readonly from: number;
  readonly to: number;
  /** Offset of the inserted text in `bytes`: its length as a variable-length integer, then `textBytes` bytes of UTF-8. */
  readonly textAt: number;
  readonly textBytes: number;
  /** The characters on the left and on the right of the inserted text. */
  readonly leftId: number;
  readonly leftClock: number;
  readonly rightId: number;
  readonly rightClock: number;
  /** The deleted clocks. */
  readonly deletedId: number;
  readonly deletedFrom: number;
  readonly deletedTo: number;
}

/** The one result object. It is overwritten by the next call, so that a keystroke costs no allocation. */
const plain = {
  bytes: new Uint8Array() as Uint8Array,
  clientId: -1,
  from: 0,
  to: 0,
  textAt: 0,
  textBytes: 0,
  leftId: -1,
  leftClock: 0,
  rightId: -1,
  rightClock: 0,
  deletedId: -1,
  deletedFrom: 0,
  deletedTo: 0,
};

let source: Uint8Array = plain.bytes;
let at = 0;
/** Returned for a number that is cut off or has 32 bits or more. No comparison accepts it. */
const noNumber = Number.NaN;

/** Reads a variable-length integer below 2^32. */
function readNumber(): number {
  let number = 0;
  let factor = 1;
  for (let count = 0; count < 5; count += 1) {
    const byte = source[at];
    if (byte === undefined) return noNumber;
    at += 1;
    number += (byte & 127) * factor;
    if (byte < 128) return number < clientIdEnd ? number : noNumber;
    factor *= 128;
  }
  return noNumber;
}

/** Returns the update of a frame, valid until the next call, or undefined when the frame is anything but a plain update. */
export function readPlainFrame(frame: Uint8Array, limits: Pick<RoomLimits, "frame.update" | "update.run">): PlainUpdate | undefined {
  if (frame[0] !== updateFrameHead[0] || frame[1] !== updateFrameHead[1]) return undefined;
  source = frame;
  at = 2;
  const length = readNumber();
  if (!(length > 2 && length <= limits["frame.update"] && at + length === frame.length)) return undefined;
  return readPlainUpdate(frame.subarray(at), limits["update.run"]);
}

/** Reads an update, with the same result as `readPlainFrame`. `maxRun`: most characters that it may delete. */
export function readPlainUpdate(bytes: Uint8Array, maxRun: number): PlainUpdate | undefined {
  source = bytes;
  at = 0;
  plain.bytes = bytes;
  plain.clientId = -1;
  plain.leftId = -1;
  plain.rightId = -1;
  plain.deletedId = -1;
  plain.textBytes = 0;
  const sections = readNumber();
  if (sections === 1 ? !readText() : sections !== 0) return undefined;
  const deleting = readNumber();
  if (deleting === 1 ? !readDeletion(maxRun) : deleting !== 0) return undefined;
  return at === bytes.length ? plain : undefined;
}

function readText(): boolean {
  if (readNumber() !== 1) return false;
  plain.clientId = readNumber();
  plain.from = readNumber();
  const info = source[at];
  at += 1;
  if (info === undefined || (info & ~(structFlags.origin | structFlags.rightOrigin)) !== structFlags.string) return false;
  if ((info & structFlags.origin) !== 0) {
    plain.leftId = readNumber();
    plain.leftClock = readNumber();
  }
  if ((info & structFlags.rightOrigin) !== 0) {
    plain.rightId = readNumber();
    plain.rightClock = readNumber();
  }
  // Text without a neighbour names its file, which only the general path checks.
  if (!(plain.leftId >= 0 || plain.rightId >= 0)) return false;
  plain.textAt = at;
  plain.textBytes = readNumber();
  const characters = readCharacters(plain.textAt);
  plain.to = plain.from + characters;
  return characters > 0 && plain.clientId >= 0 && plain.to <= clockEnd;
}

/** Returns the length of the text in UTF-16 units, as Yjs counts clocks, and moves behind it; 0 when it is not valid. */
function readCharacters(start: number): number {
  const end = at + plain.textBytes;
  if (!(end <= source.length)) return 0;
  for (; at < end; at += 1) if ((source[at] ?? 128) >= 128) return readUnicode(start, end);
  return plain.textBytes;
}

function readUnicode(start: number, end: number): number {
  at = end;
  try {
    return decoding.readVarString(decoding.createDecoder(source.subarray(start, end))).length;
  } catch {
    return 0;
  }
}

function readDeletion(maxRun: number): boolean {
  plain.deletedId = readNumber();
  if (!(plain.deletedId >= 0) || readNumber() !== 1) return false;
  plain.deletedFrom = readNumber();
  const length = readNumber();
  plain.deletedTo = plain.deletedFrom + length;
  return length > 0 && length <= maxRun && plain.deletedTo <= clockEnd;
}
