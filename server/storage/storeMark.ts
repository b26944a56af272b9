/**
 * That a store was made in a directory: the one thing that tells a store that was lost from one that never was.
 *
 * LMDB's lock file and the secret key are there before the first commit, so a first start that was killed leaves them
 * beside an empty data file, too. The mark comes when the first commit is on disk, before anything is acknowledged.
 */
import { closeSync, existsSync, fsyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";

const name = "store.made";
const text =
  "A store was made here: store/data.mdb and blobs/ hold it. While this file is here, the server makes no new one in their place.\n";

export function isMarked(directory: string): boolean {
  return existsSync(join(directory, name));
}

/** Durable once the directory is synced; it says all by being there. */
export function markStore(directory: string): void {
  if (isMarked(directory)) return;
  const file = openSync(join(directory, name), "w", 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** What to say of a marked directory whose store is not there. */
export function toLostStore(directory: string): string {
  return (
    `${directory} held a store, and now ${join(directory, "store", "data.mdb")} is missing or empty. Nothing was changed. ` +
    `Put the whole data directory back from a backup; to begin anew without what was stored, choose another one, or empty this one.`
  );
}
