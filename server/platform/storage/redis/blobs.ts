/**
 * This module stores each blob as one hash, split into pieces so that a large blob does not block the Redis server.
 *
 * A blob exists only if its hash has the number of pieces (field `n`). The due row for collecting the blob is written
 * before the first piece, so an unfinished put is removed later.
 */
import { createHash } from "node:crypto";
import { blobGraceMs } from "../blobCollect.ts";
import { type Partition, type Storage, StorageUnavailableError } from "../port.ts";
import type { Calls } from "./commands.ts";
import type { Reply } from "./connection.ts";
import { type Argument, redisKeys } from "./keys.ts";
import { redisScripts } from "./scripts.ts";

const pieceBytes = 512 * 1024;
/** Number of pieces read with one command. */
const piecesAtOnce = 4;

export function createRedisBlobs(calls: Calls, now: () => number): Storage["blobs"] {
  async function putPieces(
    partition: Partition,
    sha256: string,
    count: number,
    first: number,
    pieces: readonly Argument[],
  ): Promise<boolean> {
    const whole = await calls.run({
      partition,
      script: redisScripts.putBlob,
      keys: [redisKeys.blob(partition, sha256), redisKeys.due(partition), redisKeys.dueOrder(partition)],
      args: [sha256, String(now() + blobGraceMs), String(count), String(first), ...pieces],
      // Safe to repeat: the same piece numbers get the same bytes.
      repeatable: true,
      replicated: true,
    });
    return whole === 1;
  }

  /** Reads the pieces from `first` on, up to `end` or to the last one. Returns undefined if the blob does not exist. */
  async function getPieces(partition: Partition, sha256: string, first: number, end: number): Promise<readonly Buffer[] | undefined> {
    const key = redisKeys.blob(partition, sha256);
    const count = Number(await calls.read(partition, ["HGET", key, "n"]));
    if (count === 0) return undefined;
    const wanted = Math.min(count, end) - first;
    const pieces: Buffer[] = [];
    while (pieces.length < wanted) {
      const next = first + pieces.length;
      const fields = Array.from({ length: Math.min(piecesAtOnce, wanted - pieces.length) }, (_, at) => String(next + at));
      const found = (await calls.read(partition, ["HMGET", key, ...fields])) as readonly Reply[];
      // The blob was removed during the read.
      if (found.includes(null)) return undefined;
      pieces.push(...(found as readonly Buffer[]));
    }
    return pieces;
  }

  return {
    async put(partition, bytes) {
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const count = Math.max(1, Math.ceil(all.length / pieceBytes));
      // Sends no pieces at first: if the large blob is already stored, it need not be sent again.
      if (count > 1 && (await putPieces(partition, sha256, count, 0, []))) return sha256;
      let whole = false;
      for (let piece = 0; piece < count; piece += 1) {
        whole = await putPieces(partition, sha256, count, piece, [all.subarray(piece * pieceBytes, (piece + 1) * pieceBytes)]);
      }
      if (!whole) throw new StorageUnavailableError("a blob was removed while it was being put");
      return sha256;
    },
    async get(partition, sha256) {
      const pieces = await getPieces(partition, sha256, 0, Number.POSITIVE_INFINITY);
      return pieces === undefined ? undefined : new Uint8Array(Buffer.concat(pieces));
    },
    async getPart(partition, sha256, from, maxBytes) {
      const first = Math.floor(from / pieceBytes);
      const pieces = await getPieces(partition, sha256, first, Math.ceil((from + maxBytes) / pieceBytes));
      if (pieces === undefined) return undefined;
      const start = from - first * pieceBytes;
      return new Uint8Array(Buffer.concat(pieces).subarray(start, start + maxBytes));
    },
    async collect(partition, sha256) {
      const keys = [redisKeys.blob(partition, sha256), redisKeys.blobReferences(partition)];
      await calls.run({ partition, script: redisScripts.collectBlob, keys, args: [sha256, String(now())], repeatable: true });
    },
  };
}
