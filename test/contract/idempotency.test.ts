/** Tests `Idempotency-Key` over real sockets and on both stores: replays, crashes, races and secrets. */
import { describe, expect, it } from "vitest";
import { contract } from "../../api/contract/contract.ts";
import { AppError } from "../../api/schema/error.ts";
import type { Call } from "../../server/domain/call/call.ts";
import { idempotencyAnswer, idempotencyReservation } from "../../server/edge/calls/records.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import { type Partition, partitionCount } from "../../server/platform/storage/port.ts";
import { defineRecord } from "../../server/platform/storage/recordType.ts";
import { webHeader } from "../support/webPage.ts";
import { baseUrl, credentials, Reply, sampleReply, useSurface, workspaceId } from "./surfaceFixture.ts";

const json = { "content-type": "application/json" };
const article = sampleReply(contract.articles.create).body as Record<string, unknown>;
const made = defineRecord<{ id: string }>({ name: "made", version: 1, partitionOf: partitionOfId, keyOf: (value) => value.id });
const minute = 60_000;

describe.each(["memory", "embedded"] as const)("Idempotency-Key on the %s store", (store) => {
  let nowMs = 1_763_683_200_000;
  const limits = { "rate.default": "off", "rate.writes": "off", "rate.management": "off" } as const;
  const surface = useSurface({ store, now: () => nowMs, limits });
  let keys = 0;
  const newKey = () => {
    keys += 1;
    return `key-${keys}`;
  };

  const post = (path: string, key: string, body: unknown, headers: Record<string, string> = credentials.session) =>
    surface.fetch("POST", path, { headers: { ...headers, ...json, "idempotency-key": key }, body: JSON.stringify(body) });
  const create = (key: string, title = "One", headers = credentials.session as Record<string, string>) =>
    post("/articles", key, { workspaceId, title }, headers);

  /** Creates a row as a service does: with the call's ids, in the call's commit, together with the answer. */
  async function makeOnce(call: Call, partition: Partition = call.access?.partition ?? 0): Promise<Record<string, unknown>> {
    const id = call.ids.next("art", partition);
    const value = { ...article, articleId: id, createdAt: call.nowMs / 1000 };
    const result = await call.commit({ partition, records: [{ op: "put", type: made, value: { id }, replacing: null }] }, value);
    if (!result.ok) throw new Error(`conflict ${JSON.stringify(result.conflict)}`);
    expect(result.revisions).toEqual([1]);
    return value;
  }

  async function rows(type: typeof made | typeof idempotencyAnswer | typeof idempotencyReservation): Promise<unknown[]> {
    const found: unknown[] = [];
    for (let partition = 0; partition < partitionCount; partition += 1) {
      for await (const { value } of surface.storage.records.scan(type as typeof made, partition)) found.push(value);
    }
    return found;
  }

  it("[API14] a repeat gets the stored status, headers and body, and nothing runs again", async () => {
    const key = newKey();
    surface.on("articles.create", async (_, call) => {
      const id = call.ids.next("art", 5);
      return new Reply({ status: 201, headers: { location: `/articles/${id}` }, body: { ...article, articleId: id } });
    });
    const first = await create(key);
    const second = await create(key);
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(await second.text()).toBe(await first.text());
    expect(second.headers.get("location")).toBe(first.headers.get("location"));
    expect([first.headers.get("idempotency-replayed"), second.headers.get("idempotency-replayed")]).toEqual([null, "true"]);
    expect(surface.serve).toHaveBeenCalledTimes(1);
  });

  it("[API14] an answer without a body is replayed too", async () => {
    const key = newKey();
    const logout = () => surface.fetch("POST", "/auth/logout", { headers: { ...credentials.session, "idempotency-key": key } });
    expect((await logout()).status).toBe(204);
    const second = await logout();
    expect([second.status, second.headers.get("idempotency-replayed"), await second.text()]).toEqual([204, "true", ""]);
    expect(surface.serve).toHaveBeenCalledTimes(1);
  });

  it("[API14] tRPC and REST share the key of an operation, however the request is written", async () => {
    const key = newKey();
    const first = await post("/articles", key, { workspaceId, title: "One" });
    const second = await surface.fetch("POST", "/trpc/articles.create", {
      headers: { ...credentials.session, ...json, "idempotency-key": key },
      body: `{ "title": " One ", "workspaceId": "${workspaceId}" }`,
    });
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect((await second.json()).result.data).toEqual(await first.json());
    expect(surface.serve).toHaveBeenCalledTimes(1);
  });

  it("[API14] a request body of raw bytes is compared by its bytes", async () => {
    const key = newKey();
    const patch = (bytes: number[]) =>
      surface.fetch("PATCH", "/articles/art_01KAHX0000050123456789ABCD/content", {
        headers: { ...credentials.session, "content-type": "application/octet-stream", "idempotency-key": key },
        body: Uint8Array.from(bytes),
      });
    expect((await patch([1, 2, 3])).status).toBe(200);
    expect((await patch([1, 2, 3])).headers.get("idempotency-replayed")).toBe("true");
    expect((await patch([1, 2, 4])).status).toBe(422);
  });

  it("[API14] the same key with another request is 422 and runs nothing", async () => {
    const key = newKey();
    await create(key);
    const other = await create(key, "Two");
    expect([other.status, (await other.json()).code]).toEqual([422, "idempotency_key_reused"]);
    expect(surface.serve).toHaveBeenCalledTimes(1);
  });

  it("[API14] a key is separate for each session, API key and operation", async () => {
    const key = newKey();
    await create(key);
    await create(key, "One", credentials.fullKey);
    await post("/workspaces", key, { name: "One", type: "team" });
    expect(surface.serve).toHaveBeenCalledTimes(3);
    // A new session of the same account is the same principal.
    expect((await create(key, "One", credentials.role("owner"))).headers.get("idempotency-replayed")).toBe("true");
  });

  it("[API14] a repeat is refused if the credential has lost its rights since", async () => {
    const key = newKey();
    await create(key);
    expect((await create(key, "One", credentials.role("read"))).status).toBe(403);
  });

  it("[API14] during the first request a repeat is 409 with Retry-After, and later gets its answer", async () => {
    const key = newKey();
    let finish: () => void = () => undefined;
    const running = new Promise<void>((started) => {
      surface.on("articles.create", async () => {
        started();
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        return article;
      });
    });
    const first = create(key);
    await running;
    const early = await create(key);
    expect([early.status, (await early.json()).code]).toEqual([409, "idempotency_in_progress"]);
    expect(Number(early.headers.get("retry-after"))).toBeGreaterThan(0);
    finish();
    expect((await first).status).toBe(201);
    expect((await create(key)).headers.get("idempotency-replayed")).toBe("true");
  });

  it("[API14] of many concurrent requests exactly one runs, and all get its answer in the end", async () => {
    const before = (await rows(made)).length;
    const key = newKey();
    surface.on("articles.create", (_, call) => makeOnce(call));
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(key)));
    for (const answer of answers) expect([201, 409]).toContain(answer.status);
    const bodies = await Promise.all(Array.from({ length: 3 }, async () => (await create(key)).text()));
    expect(new Set(bodies).size).toBe(1);
    expect((await rows(made)).length - before).toBe(1);
  });

  it("[API14] after a crash behind the commit, the repeat gets the stored answer", async () => {
    const key = newKey();
    let done: unknown;
    surface.on("articles.create", async (_, call) => {
      done = await makeOnce(call);
      throw new Error("killed after the commit");
    });
    expect((await create(key)).status).toBe(500);
    const repeat = await create(key);
    expect([repeat.status, await repeat.json()]).toEqual([201, done]);
    expect(surface.serve).toHaveBeenCalledTimes(1);
  });

  it("[API14] after a crash before the commit, the work runs again with the same ids and time", async () => {
    const key = newKey();
    const seen: unknown[] = [];
    surface.on("articles.create", async (_, call) => {
      seen.push([call.nowMs, call.ids.next("art", 5), Buffer.from(call.ids.bytes(16)).toString("hex"), call.ids.next("cmt", 9)]);
      if (seen.length === 1) throw new Error("killed before the commit");
      return article;
    });
    expect((await create(key)).status).toBe(500);
    nowMs += 10_000;
    expect((await create(key)).status).toBe(201);
    expect(seen[1]).toEqual(seen[0]);
  });

  it("[API14] work under a key is marked as repeatable, and other work is not", async () => {
    const told: boolean[] = [];
    surface.on("articles.create", async (_, call) => {
      told.push(call.isRepeatable);
      return article;
    });
    expect((await create(newKey())).status).toBe(201);
    const withoutKey = { headers: { ...credentials.session, ...json }, body: JSON.stringify({ workspaceId, title: "One" }) };
    expect((await surface.fetch("POST", "/articles", withoutKey)).status).toBe(201);
    expect(told).toEqual([true, false]);
  });

  it("[API14] a refusal is not stored, and the repeat is decided again", async () => {
    const key = newKey();
    surface.on("articles.create", () => {
      throw new AppError("limit_reached", "Too many.");
    });
    expect((await create(key)).status).toBe(409);
    surface.on("articles.create", () => article);
    const repeat = await create(key);
    expect([repeat.status, repeat.headers.get("idempotency-replayed")]).toEqual([201, null]);
  });

  it("[API14] an attempt whose lease ended gets the answer of the attempt that overtook it", async () => {
    const before = (await rows(made)).length;
    const key = newKey();
    let go: () => void = () => undefined;
    const slow = new Promise<void>((started) => {
      let first = true;
      surface.on("articles.create", async (_, call) => {
        if (first) {
          first = false;
          started();
          await new Promise<void>((resolve) => {
            go = resolve;
          });
        }
        return makeOnce(call);
      });
    });
    const overtaken = create(key);
    await slow;
    nowMs += minute;
    const winner = await create(key);
    go();
    const loser = await overtaken;
    expect([winner.status, loser.status]).toEqual([201, 201]);
    expect(await loser.text()).toBe(await winner.text());
    expect((await rows(made)).length - before).toBe(1);
  });

  it("[API14] work that was stored in another partition than expected is found again", async () => {
    const key = newKey();
    let runs = 0;
    const workspace = sampleReply(contract.workspaces.create).body as Record<string, unknown>;
    surface.on("workspaces.create", async (_, call) => {
      runs += 1;
      const id = call.ids.next("ws", 33);
      const value = { ...workspace, workspaceId: id };
      await call.commit({ partition: 33, records: [{ op: "put", type: made, value: { id }, replacing: null }] }, value);
      throw new Error("killed after the commit");
    });
    expect((await post("/workspaces", key, { name: "One", type: "team" })).status).toBe(500);
    const repeat = await post("/workspaces", key, { name: "One", type: "team" });
    expect([repeat.status, runs]).toEqual([201, 1]);
    expect(partitionOfId((await repeat.json()).workspaceId)).toBe(33);
  });

  it("[API14] after keep.idempotency the key is free, and the request runs again with other ids", async () => {
    const key = newKey();
    surface.on("articles.create", (_, call) => makeOnce(call));
    const first = await (await create(key)).json();
    nowMs += 24 * 60 * minute;
    const later = await create(key);
    expect([later.status, later.headers.get("idempotency-replayed")]).toEqual([201, null]);
    expect((await later.json()).articleId).not.toBe(first.articleId);
  });

  it("[API14] GET, PUT, DELETE and operations without a credential accept no key", async () => {
    const key = newKey();
    for (let at = 0; at < 2; at += 1) {
      await surface.fetch("GET", "/auth/me", { headers: { ...credentials.session, "idempotency-key": key } });
      await post("/auth/token", key, { grantType: "refresh_token", refreshToken: "x" }, {});
      await post("/auth/web-session", key, { username: "ana", password: "x" }, {});
      await post("/auth/web-session/refresh", key, {}, { origin: baseUrl, ...webHeader });
    }
    expect(surface.serve).toHaveBeenCalledTimes(8);
  });

  it("[API14] a key that is empty, too long or not printable is 400", async () => {
    for (const key of ["k".repeat(256), "tab\tinside", ""]) {
      const response = await create(key);
      expect([response.status, (await response.json()).code]).toEqual([400, "bad_request"]);
    }
    expect((await create("k".repeat(255))).status).toBe(201);
  });

  it("[API15] the rows contain neither key, request nor secret of the answer, and can still replay it", async () => {
    const secret = "whsec_c2VjcmV0IG9mIHRoZSBob29r";
    const key = "an-unguessable-key-0123456789";
    const hook = { ...(sampleReply(contract.webhooks.create).body as object), secret };
    surface.on("webhooks.create", () => hook);
    const body = { url: "https://hooks.example/in?token=body-secret" };
    const first = await post(`/workspaces/${workspaceId}/webhooks`, key, body);
    const repeat = await post(`/workspaces/${workspaceId}/webhooks`, key, body);
    expect([await first.json(), await repeat.json()]).toEqual([hook, hook]);
    const kept = JSON.stringify([...(await rows(idempotencyAnswer)), ...(await rows(idempotencyReservation))]);
    for (const text of [secret, key, "body-secret"]) {
      for (const form of [text, Buffer.from(text).toString("base64"), Buffer.from(text).toString("hex")]) expect(kept).not.toContain(form);
    }
    nowMs += 10 * minute;
    surface.on("webhooks.create", () => ({ ...hook, secret: "whsec_another" }));
    expect((await (await post(`/workspaces/${workspaceId}/webhooks`, key, body)).json()).secret).toBe("whsec_another");
  });
});
