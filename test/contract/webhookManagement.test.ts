/** Tests the management of a workspace's webhooks over REST by owner, admin, member and stranger. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { webhookRecord } from "../../server/domain/webhooks/records.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { createWebhookRig, otherWorkspaceId, rigRecordTypes, type WebhookRig, workspaceId } from "./webhookFixture.ts";

const url = "https://hooks.example.com/in?token=abc";
const zone: Record<string, readonly string[]> = {
  "hooks.example.com": ["93.184.215.14"],
  "more.example.com": ["93.184.215.15"],
  "inside.example.com": ["10.0.0.5"],
};
const open = (limits: Record<string, number> = {}, around = (storage: Storage) => storage) =>
  createWebhookRig({
    storage: around(createMemoryStorage({ recordTypes: rigRecordTypes as never })),
    resolve: async (hostname) => zone[hostname] ?? [],
    allowCidrs: [],
    limits,
  });

let rig: WebhookRig;
beforeEach(async () => {
  rig = await open();
});
afterEach(() => rig.close());

const all = ["review.mentioned", "review.replied", "article.updated"];
const problem = (status: number, code: string) => ({ status, body: { code } });

describe("managing webhooks", () => {
  test("[WH2] a new webhook shows its secret once and has only the specified fields", async () => {
    const made = await rig.request("POST", rig.path(), { body: { url } });
    expect(made.status).toBe(201);
    const { webhookId, secret, createdAt } = made.body;
    expect(made.body).toEqual({ webhookId, workspaceId, url, events: all, active: true, createdAt, updatedAt: createdAt, secret });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(made.headers.get("location")).toBe(rig.path(webhookId));
    expect(made.headers.get("cache-control")).toBe("no-store");

    const got = await rig.request("GET", rig.path(webhookId));
    const { secret: _, ...shown } = made.body;
    expect(got).toMatchObject({ status: 200, body: shown });
    expect(Object.keys(got.body)).not.toContain("secret");
    expect(got.headers.get("etag")).toBe('"r1"');
    const listed = await rig.request("GET", rig.path());
    expect(listed.body).toEqual({ webhooks: [shown] });
  });

  test("[WH10] events are merged and kept in one order, and none or unknown ones are refused", async () => {
    const some = await rig.make(url, ["article.updated", "review.mentioned", "article.updated"]);
    expect((await rig.request("GET", rig.path(some.webhookId))).body.events).toEqual(["review.mentioned", "article.updated"]);
    for (const events of [[], ["article.deleted"], ["agent.run_started"], "article.updated", null, {}]) {
      const refused = await rig.request("POST", rig.path(), { body: { url, events } });
      expect([events, refused.status, refused.body.code]).toEqual([events, 422, "validation_failed"]);
      expect(refused.body.errors[0].pointer).toMatch(/^\/events/);
    }
    expect((await rig.request("GET", rig.path())).body.webhooks.length).toBe(1);
  });

  test("[OB1] a forbidden address is refused at create and update, and nothing changes", async () => {
    const { webhookId } = await rig.make(url);
    const before = await rig.request("GET", rig.path(webhookId));
    for (const [bad, code] of [
      ["http://hooks.example.com/", "url_not_https"],
      ["https://inside.example.com/", "url_not_public"],
      ["https://127.0.0.1/", "url_not_public"],
      ["https://hooks.example.com:6379/", "url_not_public"],
      ["https://missing.example.com/", "url_unresolvable"],
      ["not a url", "validation_failed"],
      ["https://hooks.example.com\\@more.example.com/", "validation_failed"],
      [`https://hooks.example.com/${"a".repeat(2048)}`, "validation_failed"],
    ] as const) {
      for (const [method, path] of [
        ["POST", rig.path()],
        ["PATCH", rig.path(webhookId)],
      ] as const) {
        const refused = await rig.request(method, path, { body: { url: bad, events: ["article.updated"] } });
        expect([bad, method, refused.status, refused.body.code]).toEqual([bad, method, 422, code]);
        expect(refused.body.errors).toMatchObject([{ pointer: "/url", code }]);
      }
    }
    expect((await rig.request("GET", rig.path())).body.webhooks).toEqual([before.body]);
    expect((await rig.request("GET", rig.path(webhookId))).headers.get("etag")).toBe('"r1"');
  });

  test("[OB12] a webhook keeps its normalised address, and the same address in another form changes nothing", async () => {
    const made = await rig.make("HTTPS://Hooks.Example.com:443/a/../in");
    const { body } = await rig.request("GET", rig.path(made.webhookId));
    expect(body.url).toBe("https://hooks.example.com/in");
    const same = await rig.request("PATCH", rig.path(made.webhookId), { body: { url: "https://hooks.example.com/./in" } });
    expect(same).toMatchObject({ status: 200, body });
    const moved = await rig.request("PATCH", rig.path(made.webhookId), { body: { url: "https://more.example.com" } });
    expect(moved.body.url).toBe("https://more.example.com/");
  });

  test("[WH10] lists are newest first and paged", async () => {
    const made: string[] = [];
    for (let n = 0; n < 5; n += 1) made.unshift((await rig.make(url)).webhookId);
    const seen: string[] = [];
    for (let token: string | undefined, page = 0; page < 5; page += 1) {
      const { body } = await rig.request("GET", `${rig.path()}?limit=2${token === undefined ? "" : `&nextToken=${token}`}`);
      seen.push(...body.webhooks.map((webhook: { webhookId: string }) => webhook.webhookId));
      token = body.nextToken;
      if (token === undefined) break;
    }
    expect(seen).toEqual(made);
    expect(await rig.request("GET", `${rig.path()}?limit=101`)).toMatchObject(problem(422, "validation_failed"));
  });

  test("[WH10] a change is in the answer and moves updatedAt and the entity tag; no change moves nothing", async () => {
    const { webhookId } = await rig.make(url);
    const before = (await rig.request("GET", rig.path(webhookId))).body;
    for (const body of [{}, { active: true, url }, { events: all }, { rotateSecret: false }]) {
      const same = await rig.request("PATCH", rig.path(webhookId), { body });
      expect(same).toMatchObject({ status: 200, body: before });
      expect(same.headers.get("etag")).toBe('"r1"');
    }
    await expect.poll(() => rig.storage.now()).toBeGreaterThan(Date.parse(before.updatedAt));
    const moved = await rig.request("PATCH", rig.path(webhookId), {
      body: { url: "https://more.example.com/", events: ["article.updated"], active: false },
    });
    const changes = { url: "https://more.example.com/", events: ["article.updated"], active: false, updatedAt: moved.body.updatedAt };
    expect(moved.body).toEqual({ ...before, ...changes });
    expect(Date.parse(moved.body.updatedAt)).toBeGreaterThan(Date.parse(before.updatedAt));
    expect(moved.headers.get("etag")).toBe('"r2"');
    expect((await rig.request("PATCH", rig.path(webhookId), { body: { active: true } })).body.active).toBe(true);
  });

  test("[WH10] If-Match guards change and removal", async () => {
    const { webhookId } = await rig.make(url);
    await rig.request("PATCH", rig.path(webhookId), { body: { active: false } });
    const stale = { "if-match": '"r1"' };
    expect(await rig.request("PATCH", rig.path(webhookId), { body: { active: true }, headers: stale })).toMatchObject(
      problem(412, "precondition_failed"),
    );
    expect(await rig.request("DELETE", rig.path(webhookId), { headers: stale })).toMatchObject(problem(412, "precondition_failed"));
    expect((await rig.request("GET", rig.path(webhookId))).body.active).toBe(false);
    expect((await rig.request("DELETE", rig.path(webhookId), { headers: { "if-match": '"r2"' } })).status).toBe(204);
  });

  test("[WH4] only a rotation returns a new secret", async () => {
    const { webhookId, secret } = await rig.make(url);
    const rotated = await rig.request("PATCH", rig.path(webhookId), { body: { rotateSecret: true } });
    expect(rotated.body.secret).toMatch(/^whsec_/);
    expect(rotated.body.secret).not.toBe(secret);
    const again = await rig.request("PATCH", rig.path(webhookId), { body: { active: false } });
    expect(Object.keys(again.body)).not.toContain("secret");
  });

  test("[WH10] a deleted webhook and a webhook of another workspace look missing", async () => {
    const { webhookId } = await rig.make(url);
    const foreign = await rig.make(url, undefined, otherWorkspaceId);
    for (const missing of [foreign.webhookId, "whk_01KAHX0000050123456789ABCD"]) {
      for (const method of ["GET", "PATCH", "DELETE"]) {
        const answer = await rig.request(method, rig.path(missing), method === "PATCH" ? { body: { active: false } } : {});
        expect([method, answer.status, answer.body.code]).toEqual([method, 404, "not_found"]);
      }
    }
    expect((await rig.request("DELETE", rig.path(webhookId))).status).toBe(204);
    expect(await rig.request("DELETE", rig.path(webhookId))).toMatchObject(problem(404, "not_found"));
    expect((await rig.request("GET", rig.path())).body).toEqual({ webhooks: [] });
    expect((await rig.request("GET", rig.path(foreign.webhookId, otherWorkspaceId))).body.active).toBe(true);
  });

  test("[WH11] owner and admin manage webhooks, a member may not, and a stranger sees no workspace", async () => {
    const { webhookId } = await rig.make(url);
    const calls = [
      ["POST", rig.path(), { url }],
      ["GET", rig.path(), undefined],
      ["GET", rig.path(webhookId), undefined],
      ["PATCH", rig.path(webhookId), { active: true }],
      ["DELETE", rig.path(webhookId), undefined],
    ] as const;
    for (const [method, path, body] of calls) {
      const call = (more: object) => rig.request(method, path, { ...(body === undefined ? {} : { body }), ...more });
      expect(await call({ as: "cal" })).toMatchObject(problem(403, "insufficient_role"));
      expect(await call({ as: "dan" })).toMatchObject(problem(404, "not_found"));
      expect(await call({ key: "ana|workspaces:read" })).toMatchObject(problem(403, "insufficient_scope"));
      const allowed = method === "DELETE" || method === "POST" ? { as: "ben" } : { key: "ana|workspaces:write" };
      expect((await call(allowed)).status).toBeLessThan(300);
    }
  });

  test("[WH12] there are never more webhooks than allowed, under concurrent requests", async () => {
    await rig.close();
    // The disk is slow, so other requests read in the meantime.
    rig = await open({ "webhook.perWorkspace": 5 }, (storage) => ({
      ...storage,
      async commit(batch) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        return storage.commit(batch);
      },
    }));
    const answers = await Promise.all(Array.from({ length: 20 }, () => rig.request("POST", rig.path(), { body: { url } })));
    expect(answers.filter((answer) => answer.status === 201).length).toBe(5);
    for (const answer of answers.filter((one) => one.status !== 201)) expect(answer).toMatchObject(problem(409, "limit_reached"));
    const { webhooks } = (await rig.request("GET", rig.path())).body;
    expect(webhooks.length).toBe(5);
    await rig.request("DELETE", rig.path(webhooks[2].webhookId));
    expect((await rig.request("POST", rig.path(), { body: { url } })).status).toBe(201);
    expect(await rig.request("POST", rig.path(), { body: { url } })).toMatchObject(problem(409, "limit_reached"));
  });

  test("[WH2] a repeat with the same Idempotency-Key returns the same webhook and secret", async () => {
    const headers = { "idempotency-key": "make-1" };
    const first = await rig.request("POST", rig.path(), { body: { url }, headers });
    const second = await rig.request("POST", rig.path(), { body: { url }, headers });
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect((await rig.request("GET", rig.path())).body.webhooks.length).toBe(1);
    const path = rig.path(first.body.webhookId);
    const [one, two] = [
      await rig.request("PATCH", path, { body: { rotateSecret: true }, headers }),
      await rig.request("PATCH", path, { body: { rotateSecret: true }, headers }),
    ];
    expect(one.body.secret).not.toBe(first.body.secret);
    expect(two.body).toEqual(one.body);
    expect((await rig.storage.records.get(webhookRecord, first.body.webhookId))?.revision).toBe(2);
  });

  test("[WH10] unknown fields and path names in the body are refused", async () => {
    const { webhookId } = await rig.make(url);
    for (const [method, path, body] of [
      ["POST", rig.path(), { url, secret: "whsec_mine" }],
      ["POST", rig.path(), { url, workspaceId }],
      ["PATCH", rig.path(webhookId), { active: true, createdAt: "2026-11-21T00:00:00.000Z" }],
      ["PATCH", rig.path(webhookId), { webhookId }],
    ] as const) {
      expect(await rig.request(method, path, { body })).toMatchObject(problem(422, "unknown_field"));
    }
  });
});
