/** The log lines of collaboration sockets, at the level `info`. */
import * as encoding from "lib0/encoding";
import { afterEach, expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import { defaultLimits } from "../../api/limits.ts";
import { startNodeHost } from "../../server/edge/host/node.ts";
import { startUwsHost } from "../../server/edge/host/uws.ts";
import { after } from "../../server/platform/actors/after.ts";
import { type CollabServer, closeOf, startCollabServer } from "../support/collabServer.ts";

let server: CollabServer;

afterEach(async () => {
  await server.close();
  expect(server.errors).toEqual([]);
});

const ticket = "/art_one?ticket=tkt_ada@article:art_one";
const named = (requestId: string) => ({ "x-request-id": requestId });

/** Returns the log lines of one request, without time and level. */
async function linesOf(requestId: string, count: number) {
  const lines = () => server.logLines.filter((line) => line.requestId === requestId);
  await vi.waitFor(() => expect(lines()).toHaveLength(count), { timeout: 15_000 });
  return lines().map(({ level: _level, time: _time, ...line }) => line);
}

async function statusOf(path: string, headers: Record<string, string>): Promise<{ status: number | undefined; requestId: unknown }> {
  const socket = new WebSocket(server.url + path, { headers });
  socket.on("error", () => undefined);
  return new Promise((resolve) => {
    socket.once("unexpected-response", (_request, response) => {
      response.resume();
      resolve({ status: response.statusCode, requestId: response.headers["x-request-id"] });
    });
  });
}

it("[OP30] each opened and each closed socket logs one line with request, article, user and reason", async () => {
  server = await startCollabServer(startUwsHost);
  server.roles.set("ada", "write");
  server.keys.set("bob", {});
  server.roles.set("bob", "write");
  const ada = { requestId: "by-client", articleId: "art_one", username: "ada", credentialId: "ses_ada" };
  const byClient = await server.socket(ticket, named("by-client"));
  expect(await linesOf("by-client", 1)).toEqual([{ ...ada, msg: "collaboration socket opened" }]);
  byClient.close(1000, "words of the client");
  const [, closed] = await linesOf("by-client", 2);
  expect(closed).toEqual({
    ...ada,
    code: 1000,
    reason: "the client closed",
    openMs: expect.any(Number),
    msg: "collaboration socket closed",
  });

  const byServer = await server.socket("/art_one", { "x-api-key": "svc_bob", ...named("by-server") });
  await linesOf("by-server", 1);
  server.tell({ kind: "key.revoked", keyId: "key_bob" });
  await closeOf(byServer);
  expect((await linesOf("by-server", 2))[1]).toEqual({
    requestId: "by-server",
    articleId: "art_one",
    username: "bob",
    credentialId: "key_bob",
    code: 4410,
    reason: "the key was revoked",
    openMs: expect.any(Number),
    msg: "collaboration socket closed",
  });
});

it("[OP30] each refused socket logs one line with its code, its reason and, if known, the user", async () => {
  server = await startCollabServer(startUwsHost, { limits: { "socket.authMs": 100 } });
  server.roles.set("ada", "write");
  const msg = "collaboration socket refused";
  const articleId = "art_one";

  expect(await statusOf(ticket, { origin: "https://evil.example", ...named("origin") })).toEqual({ status: 403, requestId: "origin" });
  expect(await linesOf("origin", 1)).toEqual([
    {
      requestId: "origin",
      articleId,
      status: 403,
      reason: "Pages of this origin may not open sockets here; the operator can allow it in CORS_ORIGINS.",
      origin: "https://evil.example",
      msg,
    },
  ]);
  expect(await statusOf("/a/b", named("path"))).toEqual({ status: 404, requestId: "path" });
  expect(await linesOf("path", 1)).toMatchObject([{ status: 404, msg }]);

  await closeOf(await server.socket("/art_one?ticket=tkt_ada@article:art_two", named("ticket")));
  expect(await linesOf("ticket", 1)).toEqual([
    { requestId: "ticket", articleId, code: 4401, reason: "the ticket opens something else", msg },
  ]);
  await closeOf(await server.socket("/art_one", named("late")));
  expect(await linesOf("late", 1)).toEqual([
    { requestId: "late", articleId, code: 4408, reason: "no credential arrived in time: connect with ?ticket=", msg },
  ]);
  server.roles.delete("ada");
  await closeOf(await server.socket(ticket, named("invisible")));
  expect(await linesOf("invisible", 1)).toMatchObject([{ articleId, username: "ada", code: 4404, msg }]);
});

it.each([
  ["uWebSockets.js", startUwsHost],
  ["node:http", startNodeHost],
] as const)("[API52] a refusal is logged with code and reason if the client leaves before the close: %s", async (_host, start) => {
  let held = 0;
  const refusalMs = defaultLimits["socket.refusalMs"];
  server = await startCollabServer(start, {
    limits: { "rate.refusals": { count: 1, seconds: 3600, burst: 1 } },
    later: (delayMs, run) => {
      if (delayMs !== refusalMs) return after(delayMs, run);
      held += 1;
      return () => {
        held -= 1;
      };
    },
  });
  const refused = "/art_one?ticket=tkt_ada@article:art_two";
  await closeOf(await server.socket(refused));
  const socket = new WebSocket(server.url + refused, { headers: named("left") });
  socket.on("error", () => undefined);
  await vi.waitFor(() => expect(held).toBe(1), { timeout: 15_000 });
  socket.terminate();
  expect(await linesOf("left", 1)).toEqual([
    { requestId: "left", articleId: "art_one", code: 4401, reason: "the ticket opens something else", msg: "collaboration socket refused" },
  ]);
});

it("[OP30] no log line of a socket contains a credential", async () => {
  server = await startCollabServer(startUwsHost);
  server.roles.set("ada", "write").set("carla", "write");
  const secrets = ["tkt_carla@article:art_two", "svc_carla", "session:carla", "svc_unknown"];
  await closeOf(await server.socket(`/art_one?ticket=${secrets[0]}`));
  await closeOf(await server.socket("/art_one", { "x-api-key": "svc_carla" }));
  await closeOf(await server.socket("/art_one", { "x-api-key": "svc_unknown", authorization: "Bearer session:carla" }));
  const byFrame = await server.socket("/art_one");
  byFrame.send(
    encoding.encode((encoder) => {
      encoding.writeVarUint(encoder, 2);
      encoding.writeVarUint(encoder, 1);
      encoding.writeVarString(encoder, "session:carla");
    }),
  );
  await vi.waitFor(() => expect(server.logLines.at(-1)?.msg).toBe("collaboration socket opened"), { timeout: 15_000 });
  expect(server.logLines).toHaveLength(4);
  const text = JSON.stringify(server.logLines);
  for (const secret of secrets) expect(text).not.toContain(secret);
});
