/** Tests deliveries over real TLS to a receiver of the test, from the commit of the event to the last attempt. */
import { describe, expect, test } from "vitest";
import { idPattern } from "../../api/schema/id.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import type { CommitResult } from "../../server/platform/storage/port.ts";
import { otherWorkspaceId, workspaceId } from "../support/operationServer.ts";
import type { ReceiverAnswer } from "../support/receiver.ts";
import { useDeliveries } from "./webhookDeliveryFixture.ts";
import { rigRecordTypes } from "./webhookFixture.ts";
import { verifyOwn, verifyStandard } from "./webhookVerify.ts";

const { clock, open, receive, untilStates } = useDeliveries();

describe("deliveries", () => {
  test("[WH1][WH3] one event is one signed request with exactly the documented headers and body", async () => {
    const rig = await open();
    const receiver = await receive();
    const { webhookId, secret } = await rig.make(receiver.url);
    const beforeMs = Date.now();
    await rig.happen({ title: "Grüße 🎈", revision: 3 });
    const [request] = await receiver.waitForCount(1);
    if (request === undefined) throw new Error("nothing came");
    const { headers, body } = request;
    const event = JSON.parse(body.toString());
    expect(Object.keys(event)).toEqual(["id", "event", "createdAt", "workspaceId", "data"]);
    expect(event).toMatchObject({ event: "article.updated", workspaceId, data: { title: "Grüße 🎈", revision: 3 } });
    expect(event.id).toMatch(idPattern("evt"));
    expect(new Date(event.createdAt).toISOString()).toBe(event.createdAt);
    expect(request).toMatchObject({ method: "POST", path: "/hook" });
    const timestamp = headers["x-svc-timestamp"] ?? "";
    expect(headers).toEqual({
      host: `127.0.0.1:${receiver.port}`,
      connection: "close",
      "content-length": String(body.length),
      "content-type": "application/json",
      "user-agent": "svc-webhooks/1",
      "x-svc-event": "article.updated",
      "x-svc-delivery": headers["webhook-id"],
      "x-svc-attempt": "1",
      "x-svc-timestamp": timestamp,
      "x-svc-signature": expect.stringMatching(/^v1=[0-9a-f]{64}$/),
      "webhook-id": expect.stringMatching(idPattern("dlv")),
      "webhook-timestamp": timestamp,
      "webhook-signature": expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    });
    expect(partitionOfId(headers["x-svc-delivery"] ?? "")).toBe(partitionOfId(event.id));
    expect(Number(timestamp)).toBeGreaterThanOrEqual(Math.floor(beforeMs / 1000));
    expect(Number(timestamp)).toBeLessThanOrEqual(Math.floor(Date.now() / 1000));
    expect(verifyOwn(request, secret)).toBe(true);
    expect(verifyStandard(request, secret)).toBe(true);
    await untilStates(webhookId, "delivered");
    expect(receiver.received.length).toBe(1);
  });

  test("[API11][WH8] the trace context of an event's cause is sent with every attempt", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const rig = await open({ scheduleMs: [0, 10] });
    const receiver = await receive((_request, n) => ({ status: n === 1 ? 500 : 200 }));
    const { secret } = await rig.make(receiver.url);
    await rig.happen({ title: "A" }, "article.updated", workspaceId, traceparent);
    const requests = await receiver.waitForCount(2);
    expect(requests.map(({ headers }) => headers.traceparent)).toEqual([traceparent, traceparent]);
    expect(requests.every((request) => verifyOwn(request, secret))).toBe(true);
  });

  test("[WH5][WH8] a failure is retried until a 2xx: same body and id, new timestamp and signature", async () => {
    const answers: ReceiverAnswer[] = [
      { status: 500 },
      { status: 302, headers: { location: "https://127.0.0.1:1/" } },
      "reset",
      "hang",
      { status: 410 },
    ];
    const rig = await open({ scheduleMs: [0, 10, 10, 10, 10, 10, 10], limits: { "webhook.totalMs": 1500, "webhook.connectMs": 1500 } });
    const receiver = await receive((_request, n) => answers[n - 1] ?? { status: 200, body: "thanks" });
    const { webhookId, secret } = await rig.make(receiver.url);
    await rig.happen();
    const requests = await receiver.waitForCount(6);
    await untilStates(webhookId, "delivered");
    expect(receiver.received.length).toBe(6);
    expect(requests.map(({ headers }) => headers["x-svc-attempt"])).toEqual(["1", "2", "3", "4", "5", "6"]);
    expect(new Set(requests.map(({ headers }) => headers["x-svc-delivery"])).size).toBe(1);
    expect(new Set(requests.map(({ body }) => body.toString())).size).toBe(1);
    for (const request of requests) expect([verifyOwn(request, secret), verifyStandard(request, secret)]).toEqual([true, true]);
    const [first, last] = [requests[0]?.headers, requests[5]?.headers];
    expect(Number(last?.["x-svc-timestamp"])).toBeGreaterThan(Number(first?.["x-svc-timestamp"]));
    expect(last?.["x-svc-signature"]).not.toBe(first?.["x-svc-signature"]);
    const [delivery] = await rig.deliveries(webhookId);
    expect(delivery?.context.attempts.map(({ n, statusCode, error }) => [n, statusCode ?? error])).toEqual([
      [1, 500],
      [2, 302],
      [3, "connection_reset"],
      [4, "timeout"],
      [5, 410],
      [6, 200],
    ]);
    expect(delivery?.context.exchange).toMatchObject({ requestHeaders: { "x-svc-attempt": "6" }, responseBody: "thanks" });
    expect(rig.attempts).toEqual([...Array(5).fill("failed"), "delivered"]);
    expect((await rig.request("GET", rig.path(webhookId))).body.active).toBe(true);
  });

  test("[WH5] no attempt is early, and after the last one the delivery is dead", async () => {
    const rig = await open({ scheduleMs: [0, 150, 300], random: () => 1 });
    const receiver = await receive(() => ({ status: 503 }));
    const { webhookId } = await rig.make(receiver.url);
    await rig.happen();
    await untilStates(webhookId, "dead");
    const [delivery] = await rig.deliveries(webhookId);
    const attempts = delivery?.context.attempts ?? [];
    expect(attempts.map((attempt) => attempt.statusCode)).toEqual([503, 503, 503]);
    for (const [at, pauseMs] of [150, 300].entries()) {
      const [before, after] = [attempts[at], attempts[at + 1]];
      if (before?.nextAttemptAtMs === undefined || after === undefined) throw new Error("an attempt is missing");
      expect(before.nextAttemptAtMs - before.atMs).toBeGreaterThanOrEqual(pauseMs * 1.2);
      expect(after.atMs).toBeGreaterThanOrEqual(before.nextAttemptAtMs);
    }
  });

  test("[WH6] a receiver that asks for a pause gets it", async () => {
    const rig = await open({ scheduleMs: [0, 10, 10] });
    const receiver = await receive((_request, n) => (n === 1 ? { status: 429, headers: { "retry-after": "3600" } } : { status: 200 }));
    const { webhookId } = await rig.make(receiver.url);
    await rig.happen();
    await untilStates(webhookId, "waiting");
    const [delivery] = await rig.deliveries(webhookId);
    const attempt = delivery?.context.attempts[0];
    expect((attempt?.nextAttemptAtMs ?? 0) - (attempt?.atMs ?? 0)).toBeGreaterThanOrEqual(3_600_000);
    clock.aheadMs = 3_700_000;
    await untilStates(webhookId, "delivered");
  });

  test("[WH1] only active, subscribed webhooks of the workspace receive an event, each once", async () => {
    const rig = await open();
    const receiver = await receive();
    const at = (name: string) => receiver.url.replace("/hook", `/${name}`);
    const both = await rig.make(at("both"), ["article.updated", "review.replied"]);
    await rig.make(at("replies"), ["review.replied"]);
    await rig.make(at("elsewhere"), undefined, otherWorkspaceId);
    const off = await rig.make(at("off"));
    await rig.request("PATCH", rig.path(off.webhookId), { body: { active: false } });
    await rig.happen({ n: 1 }, "article.updated");
    await rig.happen({ n: 2 }, "review.replied");
    await receiver.waitForCount(3);
    await untilStates(both.webhookId, "delivered", "delivered");
    expect(receiver.received.map(({ path }) => path).sort()).toEqual(["/both", "/both", "/replies"]);
    const ids = receiver.received.map(({ headers }) => headers["x-svc-delivery"]);
    expect(new Set(ids).size).toBe(3);
    const shared = receiver.received.filter(({ body }) => JSON.parse(body.toString()).data.n === 2);
    expect(new Set(shared.map(({ body }) => body.toString())).size).toBe(1);
    const none = await rig.enqueue({
      workspaceId,
      event: "review.mentioned",
      createdAtMs: 1,
      ids: { next: () => "evt_1", bytes: () => Buffer.alloc(0) },
      data: {},
    });
    expect(none.isEmpty).toBe(true);
  });

  test("[WH8] an event that is not committed is not sent, and one committed twice is sent once", async () => {
    const rig = await open();
    const receiver = await receive();
    const { webhookId } = await rig.make(receiver.url);
    const ids = { next: () => "evt_01KAHX0000050123456789ABCD", bytes: () => Buffer.alloc(0) };
    const event = { workspaceId, event: "article.updated", createdAtMs: rig.storage.now(), ids, data: {} } as const;
    const dropped = await rig.enqueue(event);
    const refused: CommitResult = { ok: false, conflict: { kind: "due", id: "none" } };
    await dropped.commit(async ({ records = [] }) => {
      expect(records.length).toBe(2);
      return refused;
    });
    const committed = await rig.enqueue(event);
    expect((await committed.commit((batch) => rig.storage.commit(batch))).ok).toBe(true);
    const again = await rig.enqueue(event);
    expect((await again.commit((batch) => rig.storage.commit(batch))).ok).toBe(false);
    await untilStates(webhookId, "delivered");
    expect(receiver.received.length).toBe(1);
  });

  test("[WH13] at most the allowed number of requests to one webhook is open at once", async () => {
    const rig = await open();
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const receiver = await receive(async ({ path }) => {
      if (path === "/hook") await released;
      return { status: 200 };
    });
    const { webhookId } = await rig.make(receiver.url);
    await rig.make(receiver.url.replace("/hook", "/other"));
    await Promise.all(Array.from({ length: 30 }, () => rig.happen()));
    const held = () => receiver.received.filter(({ path }) => path === "/hook").length;
    const others = () => receiver.received.filter(({ path }) => path === "/other").length;
    // All deliveries to the other webhook succeed meanwhile, so only the limit holds back the rest.
    await expect.poll(() => [held(), others()], { timeout: 10_000 }).toEqual([4, 30]);
    release();
    await untilStates(webhookId, ...Array(30).fill("delivered"));
    expect(held()).toBe(30);
  });

  test("[WH2] neither the store nor the log ever contains a secret", async () => {
    const rig = await open({ scheduleMs: [0, 10, 10] });
    const receiver = await receive((_request, n) => ({ status: n % 2 === 0 ? 200 : 500 }));
    const secrets: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      const { webhookId, secret } = await rig.make(receiver.url);
      const rotated = await rig.request("PATCH", rig.path(webhookId), { body: { rotateSecret: true } });
      secrets.push(secret, rotated.body.secret);
    }
    await rig.happen();
    await receiver.waitForCount(5);
    const kept: string[] = [...rig.logged];
    for (const type of rigRecordTypes) {
      for await (const stored of rig.storage.records.scan(type as never, partitionOfId(workspaceId))) kept.push(JSON.stringify(stored));
    }
    expect(kept.some((text) => text.includes('"x-svc-signature"'))).toBe(true);
    const text = kept.join("\n").toLowerCase();
    for (const secret of secrets) {
      const bytes = Buffer.from(secret.slice(6), "base64");
      for (const form of [
        secret,
        secret.slice(6),
        Buffer.from(secret).toString("base64"),
        Buffer.from(secret).toString("hex"),
        bytes.toString("hex"),
      ]) {
        expect(text.includes(form.toLowerCase())).toBe(false);
      }
    }
  });
});
