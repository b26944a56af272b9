/**
 * A process that uses the embedded store until it is killed. The fault tests start it with `fork`.
 *
 * `hold DIRECTORY`: opens the store and reports it. `hammer DIRECTORY SEED`: writes to the store as fast as possible
 * and reports acknowledgements on stdout, one JSON object per line. `type DIRECTORY`: the same with one log.
 */
import { createLmdbStorage } from "../../server/platform/storage/lmdb/lmdbStorage.ts";
import { hammer, typeAlone } from "./storageHammer.ts";

const [, , task, directory, seed] = process.argv;
if (directory === undefined) throw new Error("usage: storageChild.ts hold|hammer|type DIRECTORY [SEED]");
const storage = await createLmdbStorage({ directory, regroupEveryMs: 20, regroupBytes: 64 * 1024 });
if (task === "hammer") await hammer(storage, Number(seed));
else if (task === "type") await typeAlone(storage);
else {
  process.send?.("open");
  // The channel to the parent keeps the process running.
  process.on("message", () => undefined);
}
