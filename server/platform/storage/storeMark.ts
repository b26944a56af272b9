/**
 * The store mark is a file which proves that a store was created in a directory. Without it, a lost store could not be
 * distinguished from a store that never existed.
 *
 * LMDB's lock file and the secret key exist before the first commit, so a first start that was killed also leaves them
 * next to an empty data file. The mark is written after the first commit is on disk and before any write is
 * acknowledged.
 */
import { closeSync, existsSync, fsyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";

const name = "store.made";
const text =
  "The server created a store in this directory: store/data.mdb and blobs/. While this file exists, the server creates no new store here.\n";

export function isMarked(directory: string): boolean {
  return existsSync(join(directory, name));
}

/** Creates the mark. It is durable after the directory is synced. Only the existence of the file counts, not its content. */
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

/** Returns the error message for a marked directory whose store is missing. */
export function toLostStore(directory: string): string {
  return (
    `${directory} held a store, and now ${join(directory, "store", "data.mdb")} is missing or empty. Nothing was changed. ` +
    `Put the whole data directory back from a backup. To start with a new, empty store, choose another directory or empty this one.`
  );
}
