/**
 * Creates and reads the secret key of a server without `SVC_SECRET_KEY`.
 *
 * The key is created once in the data directory and is readable only by its owner. It must be durable before data is
 * sealed with it, and two servers that start at the same time must use the same key. If a store exists without its key
 * file, no new key is created, because webhook secrets and sessions would be lost without notice.
 */
import { randomBytes } from "node:crypto";
import { closeSync, existsSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { toKey } from "./settings/values.ts";

export const secretKeyFileName = "secret.key";

/** The key cannot be read or created. The message says what to do. */
export class SecretKeyError extends Error {
  override readonly name = "SecretKeyError";
}

/**
 * Reads the key file, or creates it if `storeExists` is false. `storeExists` means that data may already be sealed with
 * an earlier key. Throws a `SecretKeyError`.
 */
export function readSecretKeyFile(directory: string, storeExists: boolean): Uint8Array {
  const path = join(directory, secretKeyFileName);
  if (!existsSync(path)) {
    if (storeExists) {
      throw new SecretKeyError(
        `${directory} holds a store, but its key file ${secretKeyFileName} is gone. Put the file back, or set SVC_SECRET_KEY to the key that ` +
          "this store was made with. Without it webhook secrets and sessions cannot be read.",
      );
    }
    makeKeyFile(directory, path);
  }
  if (process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0) {
    throw new SecretKeyError(`${path} can be read by others than its owner; run chmod 600 on it.`);
  }
  const key = toKey(readFileSync(path, "utf8").trim());
  if (key === undefined) throw new SecretKeyError(`${path} does not contain a key of 32 bytes as hex or base64. Restore the correct file.`);
  return key;
}

function makeKeyFile(directory: string, path: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const fresh = `${path}.${process.pid}.${randomBytes(4).toString("hex")}`;
  const file = openSync(fresh, "wx", 0o600);
  try {
    writeSync(file, `${randomBytes(32).toString("hex")}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  try {
    // Unlike a rename, a link does not replace a file that another process has just created.
    linkSync(fresh, path);
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code !== "EEXIST") throw reason;
  } finally {
    rmSync(fresh, { force: true });
  }
  syncDirectory(directory);
}

/** Syncs the directory, because the name of a new file is durable only after that. */
function syncDirectory(directory: string): void {
  if (process.platform === "win32") return;
  const handle = openSync(directory, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
