/**
 * This module stores blobs as files, by partition and SHA-256.
 *
 * A file gets its final name only after its bytes are on disk, and a put resolves only after the name is on disk too.
 *
 * It counts no references and does not decide which blobs may be removed.
 */
import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync, unlinkSync } from "node:fs";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Partition } from "../port.ts";
import { syncDirectory } from "./syncDirectory.ts";

/** Larger blobs are hashed outside the event loop. */
const hashOffLoopBytes = 1024 * 1024;

export async function toSha256(bytes: Uint8Array): Promise<string> {
  if (bytes.byteLength <= hashOffLoopBytes) return createHash("sha256").update(bytes).digest("hex");
  const copy = Uint8Array.from(bytes);
  return Buffer.from(await crypto.subtle.digest("SHA-256", copy)).toString("hex");
}

interface BlobFiles {
  put(partition: Partition, sha256: string, bytes: Uint8Array): Promise<void>;
  get(partition: Partition, sha256: string): Promise<Uint8Array | undefined>;
  getPart(partition: Partition, sha256: string, from: number, maxBytes: number): Promise<Uint8Array | undefined>;
  has(partition: Partition, sha256: string): boolean;
  remove(partition: Partition, sha256: string): void;
}

/** Returns undefined if the file does not exist. */
async function unlessMissing(read: () => Promise<Uint8Array>): Promise<Uint8Array | undefined> {
  try {
    return await read();
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw reason;
  }
}

export function createBlobFiles(root: string): BlobFiles {
  const temporary = join(root, "incomplete");
  mkdirSync(temporary, { recursive: true, mode: 0o700 });
  // Removes files that a crash left incomplete. Nothing refers to them.
  for (const name of readdirSync(temporary)) rmSync(join(temporary, name));

  function toPath(partition: Partition, sha256: string): string {
    if (!/^[0-9a-f]{64}$/.test(sha256)) throw new RangeError("a blob is named by 64 hex digits");
    return join(root, `p${String(partition).padStart(2, "0")}`, sha256.slice(0, 2), sha256);
  }

  async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
    const file = await open(path, "wx", 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  return {
    async put(partition, sha256, bytes) {
      const path = toPath(partition, sha256);
      const folder = dirname(path);
      const made = await mkdir(folder, { recursive: true, mode: 0o700 });
      if (!existsSync(path)) {
        const incomplete = join(temporary, randomUUID());
        try {
          await writeSynced(incomplete, bytes);
          await rename(incomplete, path);
        } catch (reason) {
          await rm(incomplete, { force: true });
          throw reason;
        }
      }
      // Also needed if the file already existed: a crash may have come before the directory was synced, so the name may
      // not be durable yet.
      await syncDirectory(folder);
      if (made !== undefined) {
        await syncDirectory(dirname(folder));
        await syncDirectory(root);
      }
    },
    get: (partition, sha256) =>
      unlessMissing(async () => {
        const bytes = await readFile(toPath(partition, sha256));
        return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      }),
    getPart: (partition, sha256, from, maxBytes) =>
      unlessMissing(async () => {
        const file = await open(toPath(partition, sha256), "r");
        try {
          const { size } = await file.stat();
          const part = new Uint8Array(Math.max(0, Math.min(maxBytes, size - from)));
          for (let read = 0; read < part.length; ) {
            const { bytesRead } = await file.read(part, read, part.length - read, from + read);
            if (bytesRead === 0) throw new Error(`the file of blob ${sha256} became shorter while it was read`);
            read += bytesRead;
          }
          return part;
        } finally {
          await file.close();
        }
      }),
    has: (partition, sha256) => existsSync(toPath(partition, sha256)),
    remove(partition, sha256) {
      const path = toPath(partition, sha256);
      if (existsSync(path)) unlinkSync(path);
    },
  };
}
