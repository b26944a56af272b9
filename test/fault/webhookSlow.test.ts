/** Tests receivers that hang, drip and flood next to healthy ones: a slow receiver delays only its own deliveries. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import { createWebhookRig, otherWorkspaceId, rigRecordTypes, type WebhookRig, workspaceId } from "../contract/webhookFixture.ts";
import { type CertificateAuthority, createCertificateAuthority } from "../support/certificateAuthority.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";

const hanging = 50;
const healthy = 10;
const events = 12;

let authority: CertificateAuthority;
let rig: WebhookRig;
let slow: Receiver;
let fast: Receiver;

beforeAll(async () => {
  authority = await createCertificateAuthority();
  slow = await startReceiver({
    authority,
    answer: ({ path }) => (path.startsWith("/hang") ? "hang" : path === "/drip" ? "drip" : "flood"),
  });
  fast = await startReceiver({ authority });
  rig = await createWebhookRig({
    storage: createMemoryStorage({ recordTypes: rigRecordTypes as never }),
    authority,
    // No attempt may time out during the test, so that slots stay occupied. The receivers run in this process, and on
    // a busy machine a hundred handshakes take longer than the default connect timeout or the default lease of this
    // rig.
    limits: { "webhook.totalMs": 120_000, "webhook.connectMs": 120_000, "webhook.perWorkspace": 100 },
    leaseMs: 120_000,
  });
});

afterAll(async () => {
  await rig.close();
  await Promise.all([slow.close(), fast.close()]);
  await authority.remove();
});

test("[WH13] fifty hanging webhooks, one that drips and one that floods do not delay ten healthy ones", async () => {
  const at = (receiver: Receiver, path: string) => receiver.url.replace("/hook", path);
  const slowPaths = [...Array.from({ length: hanging }, (_, n) => `/hang-${n}`), "/drip", "/flood"];
  const made = new Map<string, string>();
  for (const path of slowPaths) made.set(path, (await rig.make(at(slow, path))).webhookId);
  const workspaces = [workspaceId, otherWorkspaceId];
  for (let n = 0; n < healthy; n += 1) await rig.make(at(fast, `/healthy-${n}`), undefined, workspaces[n % 2]);
  const happenEverywhere = (n: number) => Promise.all(workspaces.map((workspace) => rig.happen({ n }, "article.updated", workspace)));

  await happenEverywhere(0);
  // Every slow receiver holds a request before the healthy receivers get their events.
  await Promise.all(slowPaths.map((slowPath) => slow.waitFor(({ path }) => path === slowPath)));
  for (let n = 1; n < events; n += 1) await happenEverywhere(n);
  await fast.waitForCount(healthy * events);

  const ids = new Set(fast.received.map(({ headers }) => headers["x-svc-delivery"]));
  expect(ids.size).toBe(healthy * events);
  expect(slow.connections.most).toBeGreaterThanOrEqual(hanging);
  expect(slow.connections.most).toBeLessThanOrEqual(200);
  const perWebhook = new Map<string, number>();
  for (const { path } of slow.received) perWebhook.set(path, (perWebhook.get(path) ?? 0) + 1);
  for (const [path, count] of perWebhook) if (path.startsWith("/hang")) expect([path, count <= 4]).toEqual([path, true]);
  // A flood starts with a 2xx head and part of a body, so the event is delivered and the rest is not read.
  const floodStates = async () => (await rig.deliveries(made.get("/flood") ?? "")).map(({ state }) => state);
  await expect.poll(floodStates).toEqual(Array.from({ length: events }, () => "delivered"));
});
