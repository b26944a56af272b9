/**
 * A process with a real store that commits events and delivers them to a webhook until it is killed: `webhookChild.ts
 * <directory> <receiver url> <count>`. It writes the webhook's secret, the commits, and at the end the state of the
 * deliveries to stdout. NODE_EXTRA_CA_CERTS names its certificate authority.
 */
import { join } from "node:path";
import { createLmdbStorage } from "../../server/platform/storage/lmdb/lmdbStorage.ts";
import { createWebhookRig, happening, rigRecordTypes } from "../contract/webhookFixture.ts";

const [directory = "", url = "", count = "0"] = process.argv.slice(2);
const say = (...words: readonly string[]) => process.stdout.write(`${words.join(" ")}\n`);
const storage = await createLmdbStorage({ directory: join(directory, "store"), recordTypes: rigRecordTypes as never });
const rig = await createWebhookRig({ storage, leaseMs: 300, scheduleMs: [0, 20, 50, 100, 200, 200, 200, 200, 200, 200] });

const known = (await rig.request("GET", rig.path())).body.webhooks;
let webhookId: string = known[0]?.webhookId ?? "";
if (webhookId === "") {
  const made = await rig.make(url);
  webhookId = made.webhookId;
  say("secret", made.secret);
}

async function committed(): Promise<number> {
  let found = 0;
  for await (const _ of storage.records.scan(happening, happening.partitionOf(webhookId))) found += 1;
  return found;
}

for (let done = await committed(); done < Number(count); done += 1) say("committed", await rig.happen({ n: done }));

const over = new Set(["delivered", "dead", "skipped"]);
let states: readonly string[] = [];
do {
  await new Promise((resolve) => setTimeout(resolve, 20));
  states = (await rig.deliveries(webhookId)).map((delivery) => String(delivery.state));
} while (!states.every((state) => over.has(state)));
say("committed-in-all", String(await committed()));
for (const { id, state } of await rig.deliveries(webhookId)) say("delivery", id, String(state));
await rig.close();
