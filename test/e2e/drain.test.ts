/** Tests SIGTERM on a busy server: acknowledged work is kept, and unfinished work is completed or its lease is released. */
import { afterEach, expect, test } from "vitest";
import { rawConnection } from "../contract/rawHttp.ts";
import { openEditor, type Rest, signIn } from "../support/clients.ts";
import { type ReceiverAnswer, startReceiver } from "../support/receiver.ts";
import { type RunningServer, type Settings, startServer } from "../support/server.ts";

const ends: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function started(settings: Settings = {}): Promise<{ server: RunningServer; rest: Rest; workspaceId: string; articleId: string }> {
  const server = await startServer(settings);
  ends.push(() => server.remove());
  const rest = await signIn(server.url, server.operator);
  const { workspaceId } = await rest.expect(201, "POST", "/workspaces", { name: "Busy", type: "team" });
  const { articleId } = await rest.expect(201, "POST", "/articles", { workspaceId, title: "Busy", content: "Start.\n" });
  return { server, rest, workspaceId, articleId };
}

test("[OP21] editors are closed with 1012 and reconnect to the text that they saw", async () => {
  const { server, rest, articleId } = await started();
  const [writer, reader] = await Promise.all([openEditor(rest, articleId), openEditor(rest, articleId)]);
  ends.push(async () => [writer, reader].forEach((editor) => void editor.close()));
  // Later closes are of attempts to reconnect while no server runs.
  const firstCloses = [writer, reader].map(
    ({ provider }) => new Promise((resolve) => provider.once("connection-close", (event: CloseEvent | null) => resolve(event?.code))),
  );
  writer.text.insert(0, "Seen by the reader. ");
  await reader.until((text) => text.startsWith("Seen by the reader. "));

  expect(await server.stop()).toEqual({ code: 0, signal: null });
  expect(await Promise.all(firstCloses)).toEqual([1012, 1012]);
  // The text is typed while no server runs, so only the writer has it.
  writer.text.insert(0, "Typed alone. ");

  await server.start();
  const whole = "Typed alone. Seen by the reader. Start.\n";
  expect(await reader.until((text) => text === whole)).toBe(whole);
  const { content } = await rest.expect(200, "GET", `/articles/${articleId}/content`);
  expect(content).toBe(whole);
});

test("[OP21] running requests get their answer, and answered writes are durable", async () => {
  const { server, rest, workspaceId } = await started();
  const asked = Array.from({ length: 40 }, (_, n) =>
    rest.request("POST", "/articles", { workspaceId, title: `Article ${n}` }).catch(() => undefined),
  );
  // All requests have been sent once one has been answered.
  await Promise.race(asked);
  const ended = server.stop();
  const answers = await Promise.all(asked);
  expect(await ended).toEqual({ code: 0, signal: null });
  const made = answers.filter((answer) => answer?.status === 201).map((answer) => answer?.body.articleId);
  expect(made.length).toBeGreaterThan(0);
  expect(answers.filter((answer) => answer !== undefined && answer.status !== 201)).toEqual([]);

  await server.start();
  for (const articleId of made) await rest.expect(200, "GET", `/articles/${articleId}`);
});

test("[OP22] a hanging delivery is released at a stop and made after the restart", async () => {
  let answer: ReceiverAnswer = "hang";
  const receiver = await startReceiver({ answer: () => answer });
  ends.push(() => receiver.close());
  const { server, rest, workspaceId, articleId } = await started({
    OUTBOUND_ALLOW_CIDRS: "127.0.0.0/8",
    NODE_EXTRA_CA_CERTS: receiver.authority.file,
    SHUTDOWN_MS: "1500",
    // On a busy machine, neither the lease nor the attempt ends before the stop.
    LEASE_MS: "30000",
    LIMITS: JSON.stringify({ "webhook.totalMs": 60_000 }),
  });
  await rest.expect(201, "POST", `/workspaces/${workspaceId}/webhooks`, { url: receiver.url });
  const { commitId } = await rest.expect(201, "POST", `/articles/${articleId}/commits`, { message: "While hanging" });
  const first = await receiver.waitForCount(1);

  expect(await server.stop()).toEqual({ code: 0, signal: null });

  answer = { status: 204 };
  await server.start();
  const again = await receiver.waitFor((request) => request.n > 1);
  expect(again.headers["x-svc-delivery"]).toBe(first[0]?.headers["x-svc-delivery"]);
  expect(JSON.parse(again.body.toString()).data.commitId).toBe(commitId);
  // The interrupted attempt does not count. If the drain had waited for it, it would have failed and this would be attempt 2.
  expect(again.headers["x-svc-attempt"]).toBe("1");
});

test("[OP21] during a drain, readyz says so on open connections, and new connections are refused", async () => {
  const receiver = await startReceiver({ answer: () => "hang" });
  ends.push(() => receiver.close());
  const { server, rest, workspaceId, articleId } = await started({
    OUTBOUND_ALLOW_CIDRS: "127.0.0.0/8",
    NODE_EXTRA_CA_CERTS: receiver.authority.file,
    SHUTDOWN_MS: "3000",
  });
  await rest.expect(201, "POST", `/workspaces/${workspaceId}/webhooks`, { url: receiver.url });
  await rest.expect(201, "POST", `/articles/${articleId}/commits`, {});
  await receiver.waitForCount(1);
  const port = Number(new URL(server.url).port);
  const connected = await rawConnection(port);
  const ask = async () => {
    connected.write("GET /readyz HTTP/1.1\r\nhost: test\r\n\r\n");
    return connected.response();
  };
  expect((await ask()).status).toBe(200);

  const ended = server.stop();
  await expect.poll(() => server.logLines.some((line) => line.msg === "draining")).toBe(true);
  const last = await ask();
  expect([last.status, JSON.parse(last.body.toString()).status]).toEqual([503, "not_ready"]);
  await connected.ended();
  await expect(rawConnection(port)).rejects.toThrow("ECONNREFUSED");
  expect(await ended).toEqual({ code: 0, signal: null });
});
