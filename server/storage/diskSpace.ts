/**
 * Whether the disk takes writes: free space against a reserve, looked at each second, and what the last
 * commit said. It decides between "full", which passes, and a broken disk, which does not.
 *
 * It writes nothing. After a failed commit only a successful one makes the disk good again; `probe` asks
 * for one as soon as there is space.
 */
import { statfsSync } from "node:fs";
import { StorageFullError, StorageUnavailableError } from "./port.ts";

const MiB = 1024 * 1024;
const checkEveryMs = 1000;
const defaultReserveMiB = 256;
/** LMDB says "input/output error" of a write that was cut short; with less than this free it was the space. */
const nearlyFullMiB = 16;

export interface DiskSpace {
  /** The error a write gets now; undefined when it may be tried. */
  refusal(): Error | undefined;
  freeMiB(): number;
  committed(): void;
  /** Sorts the failure of a write; the error is the one its callers get. */
  failed(reason: unknown): Error;
  close(): void;
}

export interface DiskSpaceOptions {
  readonly directory: string;
  /** Free space below which writes are refused; at most a tenth of the file system. */
  readonly reserveMiB?: number;
  /** Try one commit: there is space again after one has failed. */
  readonly probe: () => void;
  /** A write failed though there is space: the disk is broken and the process should end. */
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

function saysFull(reason: unknown): boolean {
  if (!(reason instanceof Error)) return false;
  if (codesOfFull.has((reason as { code?: unknown }).code) || /No space left|MDB_MAP_FULL|ENOSPC/.test(reason.message)) return true;
  return saysFull(reason.cause);
}

export function createDiskSpace(options: DiskSpaceOptions): DiskSpace {
  const { directory, reserveMiB = defaultReserveMiB, probe, onDiskError, readSpace = readFileSystem } = options;
  let freeBytes = 0;
  let totalBytes = 0;
  let lastFailed = false;
  let broken: Error | undefined;

  function look(): void {
    ({ freeBytes, totalBytes } = readSpace(directory));
  }
  const toReserve = (MiBs: number) => Math.min(MiBs * MiB, totalBytes / 10);
  const short = () => freeBytes < toReserve(reserveMiB);
  look();
  const timer = setInterval(() => {
    look();
    if (lastFailed && !short() && broken === undefined) probe();
  }, checkEveryMs);
  timer.unref();

  return {
    refusal() {
      if (broken !== undefined) return new StorageUnavailableError(`the disk failed: ${broken.message}`, { cause: broken });
      if (!short() && !lastFailed) return undefined;
      return new StorageFullError(
        short()
          ? `${Math.floor(freeBytes / MiB)} MiB are free in ${directory}; writes need ${Math.ceil(toReserve(reserveMiB) / MiB)} MiB`
          : `the last write to ${directory} failed`,
      );
    },
    freeMiB: () => Math.floor(freeBytes / MiB),
    committed() {
      lastFailed = false;
    },
    failed(reason) {
      look();
      if (saysFull(reason) || freeBytes < toReserve(Math.max(reserveMiB, nearlyFullMiB))) {
        lastFailed = true;
        return new StorageFullError(`there is no space left in ${directory}`, { cause: reason });
      }
      broken = reason instanceof Error ? reason : new Error(String(reason));
      onDiskError(broken);
      return new StorageUnavailableError(`the disk failed: ${broken.message}`, { cause: broken });
    },
    close: () => clearInterval(timer),
  };
}
