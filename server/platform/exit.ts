/**
 * Defines how the process ends: exit codes after sysexits(3), and the message for each kind of failure.
 *
 * It does not end the process itself.
 */
import { SecretKeyError } from "./secretKeyFile.ts";
import { StorageDamagedError, StorageFullError, StorageUnavailableError } from "./storage/port.ts";

export const exitCodes = {
  done: 0,
  usage: 2,
  storeDamaged: 65,
  storeUnreachable: 69,
  bug: 70,
  disk: 74,
  settings: 78,
} as const;

/** The server cannot listen on its address or port. The message contains the address and the reason. */
export class CannotListen extends Error {
  override readonly name = "CannotListen";
}

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export interface Ending {
  readonly code: ExitCode;
  readonly message: string;
}

const listenAdvice = "Another server may be running: stop it, or set another PORT and DATA_DIR. Otherwise choose another HOST or PORT.";
const codesOfSettings = new Set(["EACCES", "EPERM", "EROFS", "ENOTDIR", "EEXIST", "ENAMETOOLONG"]);
const codesOfDisk = new Set(["EIO", "ENOSPC", "EDQUOT"]);

/** Returns the exit code and the message for a failed start or a failed server. */
export function toEnding(reason: unknown): Ending {
  const message = reason instanceof Error ? reason.message : String(reason);
  if (reason instanceof StorageDamagedError) return { code: exitCodes.storeDamaged, message };
  if (reason instanceof StorageUnavailableError) return { code: exitCodes.storeUnreachable, message };
  if (reason instanceof StorageFullError)
    return { code: exitCodes.disk, message: `${message} Free some space, or lower DISK_RESERVE_MIB.` };
  if (reason instanceof SecretKeyError) return { code: exitCodes.settings, message };
  if (reason instanceof CannotListen) return { code: exitCodes.settings, message: `${message}. ${listenAdvice}` };
  const { code } = (reason ?? {}) as NodeJS.ErrnoException;
  if (code !== undefined && codesOfSettings.has(code))
    return { code: exitCodes.settings, message: `${message}. Choose another DATA_DIR, or correct its permissions.` };
  if (code !== undefined && codesOfDisk.has(code)) return { code: exitCodes.disk, message };
  return { code: exitCodes.bug, message: reason instanceof Error ? (reason.stack ?? message) : message };
}
