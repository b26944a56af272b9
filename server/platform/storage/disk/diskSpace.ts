/**
 * This module decides whether the disk accepts writes.
 *
 * It compares the free space with a reserve, at most once a second and only when asked, and remembers the result of the
 * last commit. It distinguishes a full disk, which is temporary, from a broken disk, which is not.
 *
 * It writes nothing itself. After a failed commit, only a successful commit ends the refusal; `probe` requests one as
 * soon as there is space. Only then does it need a timer.
 */
import { statfsSync } from "node:fs";
import { StorageFullError, StorageUnavailableError } from "../port.ts";

const MiB = 1024 * 1024;
const checkEveryMs = 1000;
const defaultReserveMiB = 256;
/**
 * LMDB reports a write that was cut short as "input/output error". If less than this is free, the cause is counted as
 * lack of space.
 */
const nearlyFullMiB = 16;

export interface DiskSpace {
  /** The error for a write that starts now; `undefined` if the write may be tried. */
  refusal(): Error | undefined;
  freeMiB(): number;
  committed(): void;
  /**
   * Decides whether a failed write means a full disk, a broken disk, or a process without a free file descriptor. Returns
   * the error for the callers of the write.
   */
  failed(reason: unknown): Error;
  /** Refuses all later writes and reports the reason to `onDiskError`. */
  breakWith(reason: unknown): Error;
  close(): void;
}

export interface DiskSpaceOptions {
  readonly directory: string;
  /** Reserve of free space, at most a tenth of the file system. Writes are refused if less is free. */
  readonly reserveMiB?: number;
  /** Must try one commit; called when there is space again after a failed commit. */
  readonly probe: () => void;
  /** Called when a write failed although there is space. The store cannot write any more, so the process should end. */
  readonly onDiskError: (error: Error) => void;
  readonly readSpace?: (directory: string) => Space;
}

interface Space {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

function readFileSystem(directory: string): Space {
  const { bavail, blocks, bsize } = statfsSync(directory);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

const codesOfFull = new Set<unknown>(["ENOSPC", "EDQUOT", 28, 122]);

function isDiskFull(reason: unknown): boolean {
  if (!(reason instanceof Error)) return false;
  if (codesOfFull.has((reason as { code?: unknown }).code) || /No space left|MDB_MAP_FULL|ENOSPC/.test(reason.message)) return true;
  return isDiskFull(reason.cause);
}

const codesOfOpenFiles = new Set<unknown>(["EMFILE", "ENFILE"]);

/** Returns the error for a caller if the process or the machine has no free file descriptor. The disk works then. */
export function toOutOfFiles(reason: unknown): StorageUnavailableError | undefined {
  if (!(reason instanceof Error) || !codesOfOpenFiles.has((reason as NodeJS.ErrnoException).code)) return undefined;
  return new StorageUnavailableError("too many files are open: raise the limit of open files (ulimit -n)", { cause: reason });
}

const toUnavailable = (broken: Error) => new StorageUnavailableError(`the disk failed: ${broken.message}`, { cause: broken });

export function createDiskSpace(options: DiskSpaceOptions): DiskSpace {
  const { directory, reserveMiB = defaultReserveMiB, probe, onDiskError, readSpace = readFileSystem } = options;
  let freeBytes = 0;
  let totalBytes = 0;
  let measuredAtMs = 0;
  /** Set after a write that found no space: requests a commit as soon as there is space. */
  let retry: NodeJS.Timeout | undefined;
  let broken: Error | undefined;

  function measure(): void {
    measuredAtMs = performance.now();
    ({ freeBytes, totalBytes } = readSpace(directory));
  }
  function breakWith(reason: unknown): Error {
    broken = reason instanceof Error ? reason : new Error(String(reason));
    onDiskError(broken);
    return broken;
  }
  function measureAgain(): void {
    if (performance.now() - measuredAtMs < checkEveryMs) return;
    try {
      measure();
    } catch (reason) {
      breakWith(reason);
    }
  }
  function stopRetry(): void {
    clearInterval(retry);
    retry = undefined;
  }
  const toReserve = (MiBs: number) => Math.min(MiBs * MiB, totalBytes / 10);
  const short = () => freeBytes < toReserve(reserveMiB);
  measure();

  function startRetry(): void {
    retry ??= setInterval(() => {
      measure();
      if (!short() && broken === undefined) probe();
    }, checkEveryMs).unref();
  }

  return {
    refusal() {
      measureAgain();
      if (broken !== undefined) return toUnavailable(broken);
      if (!short() && retry === undefined) return undefined;
      return new StorageFullError(
        short()
          ? `${Math.floor(freeBytes / MiB)} MiB are free in ${directory}; writes need ${Math.ceil(toReserve(reserveMiB) / MiB)} MiB`
          : `the last write to ${directory} failed`,
      );
    },
    freeMiB() {
      measureAgain();
      return Math.floor(freeBytes / MiB);
    },
    committed: stopRetry,
    breakWith,
    failed(reason) {
      const outOfFiles = toOutOfFiles(reason);
      if (outOfFiles !== undefined) return outOfFiles;
      measure();
      if (isDiskFull(reason) || freeBytes < toReserve(Math.max(reserveMiB, nearlyFullMiB))) {
        startRetry();
        return new StorageFullError(`there is no space left in ${directory}`, { cause: reason });
      }
      return toUnavailable(breakWith(reason));
    },
    close: stopRetry,
  };
}
