/**
 * A process that uses the embedded store until it is killed, run by the fault tests with `fork`.
 *
 * `hold DIRECTORY`: opens the store and says so. `hammer DIRECTORY SEED`: writes to it as fast as it can and
 * reports on stdout, a line of JSON each, what was acknowledged.
 */
import { createLmdbStorage } from "../../server/platform/storage/lmdb/lmdbStorage.ts";
import { hammer } from "./storageHammer.ts";

const [, , task, directory, seed] = process.argv;
if (directory === undefined) throw new Error("usage: storageChild.ts hold|hammer DIRECTORY [SEED]");
const storage = await createLmdbStorage({ directory, regroupEveryMs: 20, regroupBytes: 64 * 1024 });
if (task === "hammer") await hammer(storage, Number(seed));
else {
  process.send?.("open");
  // The channel to the parent keeps the process alive.
  process.on("message", () => undefined);
}
