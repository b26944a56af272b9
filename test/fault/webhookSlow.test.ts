/** Receivers that hang, drip and flood, beside healthy ones: a slow receiver harms only itself. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createMemoryStorage } from "../../server/storage/memory.ts";
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
    // Nothing that hangs ends while the test looks: what is healthy must get through beside it.
    limits: { "webhook.totalMs": 120_000, "webhook.perWorkspace": 100 },
  });
});

afterAll(async () => {
  await rig.close();
  await Promise.all([slow.close(), fast.close()]);
  await authority.remove();
});

test("[WH13] fifty webhooks that hang, one that drips and one that floods keep nothing from ten healthy ones", async () => {
  const at = (receiver: Receiver, path: string) => receiver.url.replace("/hook", path);
  for (let n = 0; n < hanging; n += 1) await rig.make(at(slow, `/hang-${n}`));
  await rig.make(at(slow, "/drip"));
  await rig.make(at(slow, "/flood"));
  const workspaces = [workspaceId, otherWorkspaceId];
  for (let n = 0; n < healthy; n += 1) await rig.make(at(fast, `/healthy-${n}`), undefined, workspaces[n % 2]);

  for (let n = 0; n < events; n += 1) await Promise.all(workspaces.map((workspace) => rig.happen({ n }, "article.updated", workspace)));
  await fast.waitForCount(healthy * events);

  const ids = new Set(fast.received.map(({ headers }) => headers["x-svc-delivery"]));
  expect(ids.size).toBe(healthy * events);
  expect(slow.received.some(({ path }) => path.startsWith("/hang"))).toBe(true);
  expect(slow.connections.most).toBeLessThanOrEqual(200);
  const perWebhook = new Map<string, number>();
  for (const { path } of slow.received) perWebhook.set(path, (perWebhook.get(path) ?? 0) + 1);
  for (const [path, count] of perWebhook) if (path.startsWith("/hang")) expect([path, count <= 4]).toEqual([path, true]);
});
