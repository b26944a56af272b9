/**
 * Directory finds a folder for the index of this process.
 *
 * Several nodes of one machine may have the same setting. Each locks the first numbered folder that is free, so two never
 * write one file, and a node that starts again usually finds the index that it had.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { lockDirectory } from "../../platform/storage/disk/processLock.ts";
import { StorageDamagedError } from "../../platform/storage/port.ts";

export interface IndexDirectory {
  readonly path: string;
  unlock(): Promise<void>;
}

/** More processes on one machine than this share no folder. */
const maxFolders = 64;

/** Throws the error of the file system if the folder cannot be made. */
export async function lockIndexDirectory(parent: string): Promise<IndexDirectory> {
  for (let number = 0; number < maxFolders; number += 1) {
    const path = join(parent, String(number));
    mkdirSync(path, { recursive: true, mode: 0o700 });
    try {
      return { path, unlock: await lockDirectory(path) };
    } catch (reason) {
      if (!(reason instanceof StorageDamagedError)) throw reason;
    }
  }
  throw new Error(`all ${maxFolders} folders in ${parent} are in use; set SEARCH_DIR to another folder`);
}
