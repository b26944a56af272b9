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
      const key = redisKeys.blob(partition, sha256);
      const count = Number(await calls.read(partition, ["HGET", key, "n"]));
      if (count === 0) return undefined;
      const pieces: Buffer[] = [];
      while (pieces.length < count) {
        const fields = Array.from({ length: Math.min(piecesAtOnce, count - pieces.length) }, (_, at) => String(pieces.length + at));
        const found = (await calls.read(partition, ["HMGET", key, ...fields])) as readonly Reply[];
        // The blob was removed during the read.
        if (found.includes(null)) return undefined;
        pieces.push(...(found as readonly Buffer[]));
      }
      return new Uint8Array(Buffer.concat(pieces));
    },
    async collect(partition, sha256) {
      const keys = [redisKeys.blob(partition, sha256), redisKeys.blobReferences(partition)];
      await calls.run({ partition, script: redisScripts.collectBlob, keys, args: [sha256, String(now())], repeatable: true });
    },
  };
}
