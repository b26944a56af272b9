/** Tests deliveries whose webhook changes meanwhile: its address, events, secret, endpoint and deletion. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { endpointRecord, webhookEventRecord, webhookRecord } from "../../server/domain/webhooks/records.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import type { Receiver } from "../support/receiver.ts";
import { useDeliveries } from "./webhookDeliveryFixture.ts";
import type { WebhookRig } from "./webhookFixture.ts";
import { verifyOwn, verifyStandard } from "./webhookVerify.ts";

/** Puts a gate before a receiver: the first connection passes only when the test opens it, like a slow endpoint. */
async function startGate(receiver: Receiver) {
  let dial = () => {};
  let open = () => {};
  const dialled = new Promise<void>((resolve) => {
    dial = resolve;
  });
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const server = createServer((near) => {
    near.on("error", () => {}).once("close", end);
    dial();
    void opened.then(() => {
      const far = connect(receiver.port, "127.0.0.1").on("error", () => {});
      near.pipe(far).pipe(near);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `https://127.0.0.1:${port}/hook`, dialled, open, ended, close: () => void server.close() };
}

const { clock, open, receive, stateOf, untilStates } = useDeliveries();

describe("deliveries of changed webhooks", () => {
  test.each([
    ["deleted", (rig: WebhookRig, path: string) => rig.request("DELETE", path), undefined],
    ["disabled", (rig: WebhookRig, path: string) => rig.request("PATCH", path, { body: { active: false } }), "webhook_disabled"],
    [
      "unsubscribed",
      (rig: WebhookRig, path: string) => rig.request("PATCH", path, { body: { events: ["review.replied"] } }),
      "event_unsubscribed",
    ],
  ] as const)("[WH7] a queued attempt is skipped once the webhook is %s", async (_what, change, reason) => {
    const rig = await open({ scheduleMs: [0, 3_600_000] });
    const receiver = await receive(() => ({ status: 500 }));
    const { webhookId } = await rig.make(receiver.url);
    await Promise.all(Array.from({ length: 20 }, () => rig.happen()));
    await untilStates(webhookId, ...Array(20).fill("waiting"));
    expect((await change(rig, rig.path(webhookId))).status).toBeLessThan(300);
    clock.aheadMs = 3_700_000;
    await untilStates(webhookId, ...(reason === undefined ? [] : Array(20).fill("skipped")));
    for (const { context } of await rig.deliveries(webhookId)) expect(context.skipReason).toBe(reason);
    expect(receiver.received.length).toBe(20);
  });

  test.each([
    ["deleted", (rig: WebhookRig, path: string) => rig.request("DELETE", path), []],
    ["disabled", (rig: WebhookRig, path: string) => rig.request("PATCH", path, { body: { active: false } }), ["skipped"]],
    [
      "unsubscribed",
      (rig: WebhookRig, path: string) => rig.request("PATCH", path, { body: { events: ["review.mentioned"] } }),
      ["skipped"],
    ],
    ["moved", (rig: WebhookRig, path: string, url: string) => rig.request("PATCH", path, { body: { url } }), ["delivered"]],
  ] as const)("[WH7] a slow connection sends nothing once the webhook is %s", async (_what, change, states) => {
    const rig = await open();
    const [before, after] = [await receive(), await receive()];
    const gate = await startGate(before);
    const { webhookId } = await rig.make(gate.url);
    await rig.happen();
    await gate.dialled;
    expect((await change(rig, rig.path(webhookId), after.url)).status).toBeLessThan(300);
    gate.open();
    await gate.ended;
    await untilStates(webhookId, ...states);
    expect([before.received.length, after.received.length]).toEqual([0, states.filter((state) => state === "delivered").length]);
    gate.close();
  });

  test("[WH7] the current address is called, and an enabled webhook receives the later events", async () => {
    const rig = await open({ scheduleMs: [0, 3_600_000, 10] });
    const [before, after] = [await receive(() => ({ status: 500 })), await receive()];
    const { webhookId } = await rig.make(before.url);
    await rig.happen({ n: 1 });
    await untilStates(webhookId, "waiting");
    await rig.request("PATCH", rig.path(webhookId), { body: { active: false } });
    await rig.happen({ n: 2 });
    await rig.request("PATCH", rig.path(webhookId), { body: { active: true, url: after.url } });
    clock.aheadMs = 3_700_000;
    await untilStates(webhookId, "delivered");
    expect([before.received.length, after.received.length]).toEqual([1, 1]);
    expect(after.received[0]?.headers["x-svc-attempt"]).toBe("2");
  });

  test("[WH4] for a day after a rotation both secrets sign, then only the new one", async () => {
    const rig = await open();
    const receiver = await receive();
    const { webhookId, secret: old } = await rig.make(receiver.url);
    const { secret } = (await rig.request("PATCH", rig.path(webhookId), { body: { rotateSecret: true } })).body;
    await rig.happen();
    const [during] = await receiver.waitForCount(1);
    if (during === undefined) throw new Error("nothing came");
    expect([verifyOwn(during, secret), verifyOwn(during, old)]).toEqual([true, false]);
    expect(verifyOwn(during, old, "x-svc-signature-previous")).toBe(true);
    expect([verifyStandard(during, secret), verifyStandard(during, old)]).toEqual([true, true]);
    expect(during.headers["webhook-signature"]?.split(" ").length).toBe(2);
    clock.aheadMs = 24 * 3_600_000;
    await rig.happen();
    const [, afterwards] = await receiver.waitForCount(2);
    if (afterwards === undefined) throw new Error("nothing came");
    expect(afterwards.headers).not.toHaveProperty("x-svc-signature-previous");
    expect([verifyOwn(afterwards, secret), verifyStandard(afterwards, old)]).toEqual([true, false]);
  });

  test("[WH9] the endpoint's state is stored apart and never disables the webhook by itself", async () => {
    const rig = await open({ scheduleMs: [0, 20, 20, 20] });
    const receiver = await receive((_request, n) => ({ status: n < 3 ? 410 : 200 }));
    const { webhookId } = await rig.make(receiver.url);
    const endpoint = async () => (await rig.storage.records.get(endpointRecord, webhookId))?.value;
    expect((await endpoint())?.state).toBe("healthy");
    await rig.happen();
    await receiver.waitForCount(2);
    await expect.poll(endpoint, { timeout: 10_000 }).toMatchObject({ state: "failing", context: { lastStatusCode: 410 } });
    await untilStates(webhookId, "delivered");
    expect((await endpoint())?.state).toBe("healthy");
    expect((await rig.request("GET", rig.path(webhookId))).headers.get("etag")).toBe('"r1"');
    await rig.request("PATCH", rig.path(webhookId), { body: { active: false } });
    expect(await endpoint()).toMatchObject({ state: "disabled", context: { disabledReason: "patch" } });
    await rig.request("PATCH", rig.path(webhookId), { body: { active: true } });
    expect((await endpoint())?.state).toBe("healthy");
    await rig.request("DELETE", rig.path(webhookId));
    expect(await endpoint()).toBeUndefined();
  });

  test("[WH9] if the operator chose so, a 410 disables the webhook and skips its queued attempts", async () => {
    const rig = await open({ autoDisable: { onGone: true }, scheduleMs: [0, 100] });
    const receiver = await receive(() => ({ status: 410 }));
    const { webhookId } = await rig.make(receiver.url);
    await rig.happen();
    await untilStates(webhookId, "skipped");
    expect(receiver.received.length).toBe(1);
    expect((await rig.request("GET", rig.path(webhookId))).body.active).toBe(false);
    expect(rig.logged.some((line) => line.includes('"event":"webhook.disabled"'))).toBe(true);
  });

  test("[WH14] a deleted webhook loses its log; finished deliveries and then their events expire", async () => {
    const rig = await open({ limits: { "keep.deliveries": 3_600_000 } });
    const receiver = await receive();
    const [one, two] = [await rig.make(receiver.url), await rig.make(receiver.url)];
    for (let n = 0; n < 5; n += 1) await rig.happen();
    await untilStates(one.webhookId, ...Array(5).fill("delivered"));
    await untilStates(two.webhookId, ...Array(5).fill("delivered"));
    const eventId = (await rig.deliveries(one.webhookId))[0]?.context.eventId ?? "";
    await rig.request("DELETE", rig.path(one.webhookId));
    await untilStates(one.webhookId);
    expect(await stateOf(two.webhookId)).toHaveLength(5);
    expect(await rig.storage.records.get(webhookEventRecord, eventId)).toBeDefined();
    clock.aheadMs = 3_700_000;
    await untilStates(two.webhookId);
    clock.aheadMs = 26 * 3_600_000;
    await expect.poll(() => rig.storage.records.get(webhookEventRecord, eventId), { timeout: 10_000 }).toBeUndefined();
    await expect.poll(async () => (await rig.storage.due.stats()).rows, { timeout: 10_000 }).toBe(0);
  });

  test("[WH14] an unsent delivery is kept, however long it takes", async () => {
    const rig = await open({ scheduleMs: [0, 7_200_000], limits: { "keep.deliveries": 3_600_000 } });
    const receiver = await receive((_request, n) => ({ status: n === 1 ? 500 : 200 }));
    const { webhookId } = await rig.make(receiver.url);
    await rig.happen();
    await untilStates(webhookId, "waiting");
    const dueSoon = async () => (await rig.storage.due.stats()).oldestDueAtMs ?? 0;
    clock.aheadMs = 3_700_000;
    // The due event has been processed once no row is due.
    await expect.poll(async () => (await dueSoon()) > rig.storage.now(), { timeout: 10_000 }).toBe(true);
    clock.aheadMs = 7_300_000;
    await untilStates(webhookId, "delivered");
    expect(receiver.received[1]?.body.equals(receiver.received[0]?.body ?? Buffer.alloc(0))).toBe(true);
  });

  test("[WH5] a webhook whose secret cannot be opened fails normally until its secret is rotated", async () => {
    const rig = await open({ scheduleMs: [0, 3_600_000, 10] });
    const receiver = await receive();
    const { webhookId } = await rig.make(receiver.url);
    const stored = await rig.storage.records.get(webhookRecord, webhookId);
    if (stored === undefined) throw new Error("the webhook is not there");
    const value = { ...stored.value, secret: `${stored.value.secret.slice(0, -4)}AAAA` };
    await rig.storage.commit({
      partition: partitionOfId(webhookId),
      records: [{ op: "put", type: webhookRecord, value, replacing: stored }],
    });
    await rig.happen();
    await untilStates(webhookId, "waiting");
    expect((await rig.deliveries(webhookId))[0]?.context.attempts).toMatchObject([{ error: "secret_unavailable" }]);
    const { secret } = (await rig.request("PATCH", rig.path(webhookId), { body: { rotateSecret: true } })).body;
    clock.aheadMs = 3_700_000;
    await untilStates(webhookId, "delivered");
    expect(receiver.received.map((request) => verifyOwn(request, secret))).toEqual([true]);
  });
});
