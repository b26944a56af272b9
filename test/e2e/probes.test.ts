/** Tests what an operator can read from a running server: probes, metrics and the log. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRest, openEditor, type Rest, signIn } from "../support/clients.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { storeUnderTest } from "../support/stores.ts";

let server: RunningServer;
let anonymous: Rest;
let operator: Rest;

beforeAll(async () => {
  server = await startServer({
    LIMITS: JSON.stringify({ "keys.active": 5 }),
    OUTBOUND_ALLOW_CIDRS: "10.9.0.0/16",
    WEBHOOK_AUTO_DISABLE: "410",
  });
  anonymous = createRest(server.url);
  operator = anonymous.with({ authorization: `Bearer ${server.operatorToken}` });
});

afterAll(() => server.remove());

test("[OP11] healthz says only that the process answers", async () => {
  const answer = await anonymous.request("GET", "/healthz");
  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({ status: "ok" });
  expect(answer.headers.get("cache-control")).toBe("no-store");
});

test("[OP11] readyz is short for everyone: state, writes, and the names of the deviations", async () => {
  const expected = {
    status: "ready",
    writes: "ok",
    deviations: [{ name: "OUTBOUND_ALLOW_CIDRS" }, { name: "LIMITS.keys.active" }, { name: "WEBHOOK_AUTO_DISABLE" }],
  };
  for (const rest of [
    anonymous,
    anonymous.with({ authorization: "Bearer wrong-operator-token" }),
    await signIn(server.url, server.operator),
  ]) {
    expect(await rest.expect(200, "GET", "/readyz")).toEqual(expected);
  }
});

test("[OP11] readyz is long with the operator token: values, store, due rows, disk, versions", async () => {
  const { store, due, disk, search, version, storeVersion, ...short } = await operator.expect(200, "GET", "/readyz");
  expect(short).toEqual({
    status: "ready",
    writes: "ok",
    deviations: [
      { name: "OUTBOUND_ALLOW_CIDRS", value: "10.9.0.0/16" },
      { name: "LIMITS.keys.active", value: "5" },
      { name: "WEBHOOK_AUTO_DISABLE", value: "410" },
    ],
  });
  expect(store).toEqual({ kind: storeUnderTest, durable: true, usedMiB: expect.any(Number) });
  expect(due).toEqual({ oldestSeconds: expect.any(Number), rows: expect.any(Number) });
  // A Redis may be on another machine, so the server reports no disk.
  expect(disk).toEqual(storeUnderTest === "embedded" ? { freeMiB: expect.any(Number) } : undefined);
  expect(search).toEqual({ state: expect.any(String), documents: 0, builtPartitions: expect.any(Number) });
  expect([version, storeVersion]).toEqual([expect.stringMatching(/^\d+\.\d+\.\d+$/), expect.any(Number)]);
});

test("[OP12] metrics require the operator token, and without a configured token they are closed", async () => {
  const session = await signIn(server.url, server.operator);
  for (const rest of [anonymous, session, anonymous.with({ authorization: "Bearer wrong-operator-token" })]) {
    const refused = await rest.request("GET", "/metrics");
    expect(refused.status).toBe(401);
    expect(refused.headers.get("content-type")).toBe("application/problem+json");
  }
  const closed = await startServer({ OPERATOR_TOKEN: "" });
  try {
    expect((await createRest(closed.url, { authorization: "Bearer " }).request("GET", "/metrics")).status).toBe(401);
    expect((await createRest(closed.url).request("GET", "/metrics")).body.detail).toContain("OPERATOR_TOKEN");
  } finally {
    await closed.remove();
  }
});

test("[OP12] metrics count requests by operation and status, never by address", async () => {
  await anonymous.request("GET", "/articles/art_01KAHX0000050123456789ABCD?secret=hidden");
  await anonymous.request("GET", "/no/such/page");
  const { body, headers } = await operator.request<string>("GET", "/metrics");
  expect(headers.get("content-type")).toContain("text/plain");
  expect(body).toContain(`svc_http_seconds_count{op="articles.get",status="401"} 1`);
  expect(body).toMatch(/svc_http_seconds_count\{op="none",status="404"\} \d+/);
  expect(body).not.toMatch(/hidden|no\/such|art_01/);
  for (const name of [
    "svc_sockets",
    "svc_rooms",
    "svc_append_seconds",
    "svc_append_batch",
    "svc_relay_frames_total",
    "svc_due_lag_seconds",
    "svc_effect_attempts_total",
    "svc_webhook_seconds",
    "svc_refused_updates_total",
    "svc_store_errors_total",
    "svc_conflicts_total",
    "svc_search_documents",
    "svc_search_partitions",
    "svc_search_failed",
  ]) {
    expect(body).toContain(`# TYPE ${name} `);
  }
});

test("[OP12] metrics count rooms, store operations and connections", async () => {
  const rest = await signIn(server.url, server.operator);
  const { workspaceId } = await rest.expect(201, "POST", "/workspaces", { name: "Counted", type: "team" });
  const { articleId } = await rest.expect(201, "POST", "/articles", { workspaceId, title: "Counted" });
  const [writer, reader] = await Promise.all([openEditor(rest, articleId), openEditor(rest, articleId)]);
  try {
    const figure = async (name: string) => {
      const { body } = await operator.request<string>("GET", "/metrics");
      return Number(
        body
          .split("\n")
          .find((line) => line.startsWith(`${name} `))
          ?.slice(name.length + 1),
      );
    };
    const before = await Promise.all([figure("svc_append_seconds_count"), figure("svc_relay_frames_total")]);
    writer.text.insert(0, "Counted.");
    await reader.until((text) => text === "Counted.");
    expect(await figure("svc_append_seconds_count")).toBeGreaterThan(before[0]);
    expect(await figure("svc_append_batch_sum")).toBeGreaterThan(0);
    expect(await figure("svc_relay_frames_total")).toBeGreaterThan(before[1]);
    expect(await figure('svc_sockets{kind="collab"}')).toBe(2);
    expect(await figure("svc_rooms")).toBe(1);
    expect(await figure("svc_store_errors_total")).toBe(0);
  } finally {
    writer.close();
    reader.close();
  }
});

test("[OP13] every request is one log line with the documented fields, and no query, text or key", async () => {
  const rest = await signIn(server.url, server.operator);
  const { key, keyId } = await rest.expect(201, "POST", "/api-keys", { name: "Logged" });
  const before = server.logLines.length;
  const answer = await createRest(server.url, { "x-api-key": key, "x-request-id": "from-the-test" }).request(
    "GET",
    "/workspaces?limit=3&nextToken=",
  );
  const isIts = (line: Record<string, unknown>): boolean => line.requestId === "from-the-test";
  await expect.poll(() => server.logLines.slice(before).some(isIts)).toBe(true);
  const lines = server.logLines.slice(before).filter(isIts);
  expect(lines).toEqual([
    {
      level: "info",
      time: expect.any(String),
      requestId: "from-the-test",
      op: "workspaces.list",
      status: answer.status,
      ms: expect.any(Number),
      credentialId: keyId,
      msg: "request",
    },
  ]);
  const audit = server.logLines.filter((line) => line.stream === "audit" && line.event === "key.created");
  expect(audit.map((line) => line.keyId)).toContain(keyId);
  expect(JSON.stringify(server.logLines)).not.toContain(key);
  expect(JSON.stringify(server.logLines)).not.toContain(server.operator.password);
});
