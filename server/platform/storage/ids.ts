/**
 * This module makes the ids of the server: a prefix, then a ULID whose characters 11 and 12 encode the partition. The
 * partition of an id is therefore known without a look-up.
 *
 * There are two sources of ids: one uses the system's randomness and a clock, the other uses a seed. The seeded source
 * makes repeated requests idempotent: the same seed gives the same ids in the same order.
 */
import { createHash, randomFillSync, randomInt } from "node:crypto";
import { crockford, type IdPrefix } from "../../../api/schema/id.ts";
import { type Partition, partitionCount } from "./port.ts";

export interface IdSource {
  next(prefix: IdPrefix, partition: Partition): string;
  bytes(count: number): Uint8Array;
}

const timeCharacters = 10;
const randomCharacters = 14;
/** 2^48: the first time that a ULID does not allow. Ten characters could hold more bits. */
const timeEndMs = 2 ** 48;

function toTime(timeMs: number): string {
  if (!(timeMs >= 0 && timeMs < timeEndMs)) throw new RangeError(`an id cannot hold the time ${timeMs}`);
  let left = Math.floor(timeMs);
  let text = "";
  for (let at = 0; at < timeCharacters; at += 1) {
    text = crockford[left % 32] + text;
    left = Math.floor(left / 32);
  }
  return text;
}

function toId(prefix: IdPrefix, timeMs: number, partition: Partition, random: Uint8Array): string {
  if (!Number.isInteger(partition) || partition < 0 || partition >= partitionCount)
    throw new RangeError(`there is no partition ${partition}`);
  let id = `${prefix}_${toTime(timeMs)}${crockford[partition >> 5]}${crockford[partition & 31]}`;
  for (const byte of random) id += crockford[byte & 31];
  return id;
}

/** Returns the partition encoded in an id. Throws a RangeError if the text is not an id of this server. */
export function partitionOfId(id: string): Partition {
  const at = id.indexOf("_") + 1 + timeCharacters;
  const high = crockford.indexOf(id.charAt(at) || "?");
  const low = crockford.indexOf(id.charAt(at + 1) || "?");
  if (id.length !== at + 2 + randomCharacters || high < 0 || high > 1 || low < 0) {
    throw new RangeError(`${JSON.stringify(id.slice(0, 64))} is not an id that carries a partition`);
  }
  return high * 32 + low;
}

/** A random partition for a new workspace or account. */
export function randomPartition(): Partition {
  return randomInt(partitionCount);
}

/** Makes ids with the clock's time and the system's randomness. */
export function createIds(clock: { now(): number }): IdSource {
  // Random bytes are read in blocks, because a system call for every id costs more than making the id.
  const pool = new Uint8Array(4096);
  let used = pool.length;
  function bytes(count: number): Uint8Array {
    if (count > pool.length) return randomFillSync(new Uint8Array(count));
    if (used + count > pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    used += count;
    return pool.slice(used - count, used);
  }
  return { bytes, next: (prefix, partition) => toId(prefix, clock.now(), partition, bytes(randomCharacters)) };
}

/** Makes ids that depend only on the seed, the given time, and the number of ids and bytes taken before. */
export function createSeededIds(seed: Uint8Array, timeMs: number): IdSource {
  if (seed.byteLength < 16) throw new RangeError("a seed of ids needs at least 16 bytes");
  const kept = Uint8Array.from(seed);
  let counter = 0;
  function bytes(count: number): Uint8Array {
    const made = new Uint8Array(count);
    for (let at = 0; at < count; at += 32) {
      const block = createHash("sha256").update(kept).update(`/${counter}`).digest();
      counter += 1;
      made.set(block.subarray(0, Math.min(32, count - at)), at);
    }
    return made;
  }
  return { bytes, next: (prefix, partition) => toId(prefix, timeMs, partition, bytes(randomCharacters)) };
}
