/**
 * A process that owns a store and moves parcels through it until it is killed: `actorChild.ts <directory> <journal>
 * <count> <wall>`, where <wall> is the error of the wall clock in milliseconds. It appends every run of an effect to
 * the journal and writes acknowledgements to stdout.
 */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import pino from "pino";
import { AppError } from "../../api/schema/error.ts";
import { createDuePump } from "../../server/platform/actors/due.ts";
import { createActorRuntime } from "../../server/platform/actors/runtime.ts";
import { createSeededIds } from "../../server/platform/storage/ids.ts";
import { createLmdbStorage } from "../../server/platform/storage/lmdb/lmdbStorage.ts";
import { createParcelKind, parcelRecord } from "../support/parcelMachine.ts";

const [directory = "", journal = "", count = "0", wall = "0"] = process.argv.slice(2);
const trueNow = Date.now;
Date.now = () => trueNow() + Number(wall);
const storage = await createLmdbStorage({ directory: join(directory, "store") });
const log = pino({ level: "silent" });
const pump = createDuePump({ storage, log, leaseMs: 300, pollMs: 50 });
const actors = createActorRuntime({ storage, pump, log, leaseMs: 300 });
const kind = createParcelKind(async (effect) => {
  const { part } = effect.params as { part: string };
  appendFileSync(journal, `${effect.id}\n`);
  return { kind: "event", event: { type: "part.sent", part } };
});
actors.register([kind]);
pump.start();

const ids = createSeededIds(Buffer.alloc(16, 1), 1_800_000_000_000);
const all = Array.from({ length: Number(count) }, (_, at) => ids.next("art", at % 64));
const unless = (code: string) => (reason: unknown) => {
  if (!(reason instanceof AppError && reason.code === code)) throw reason;
};
for (const id of all) {
  await actors.create(kind, id, {}).catch(unless("already_exists"));
  await actors
    .send(kind, id, { type: "parcel.send", parts: ["a", "b"], ringAtMs: storage.now() + 100 })
    .catch(unless("invalid_transition"));
  process.stdout.write(`acked ${id}\n`);
}
const isOver = async (id: string) => {
  const stored = await storage.records.get(parcelRecord, id);
  return stored?.value.state === "sent" && stored.value.context.rang > 0;
};
for (const id of all) while (!(await isOver(id))) await new Promise((resolve) => setTimeout(resolve, 10));
for (const id of all) process.stdout.write(`end ${JSON.stringify((await storage.records.get(parcelRecord, id))?.value.context)}\n`);
process.stdout.write(`rows ${(await storage.due.stats()).rows}\n`);
await pump.drain(AbortSignal.timeout(1000));
await storage.close();
