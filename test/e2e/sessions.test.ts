/** Tests a session that refreshes as browsers do: in two tabs at once, over broken connections, and on several nodes. */
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRest, type Rest } from "../support/clients.ts";
import { type RunningServer, startServer } from "../support/server.ts";

interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

let server: RunningServer;
/** Another node on the same store if the store is Redis; otherwise the same node. */
let other: RunningServer;
let rest: Rest;

beforeAll(async () => {
  const settings = { BASE_URL: "http://127.0.0.1:8787" };
  server = await startServer(settings);
  other = server.store?.kind === "redis" ? await startServer({ ...settings, ...server.store.settings }) : server;
  rest = createRest(server.url);
});
afterAll(async () => {
  if (other !== server) await other.remove();
  await server.remove();
});

const signIn = () => rest.expect<Tokens>(200, "POST", "/auth/token", { grantType: "password", ...server.operator });
const refresh = (refreshToken: string, at = server) =>
  createRest(at.url).request<Tokens>("POST", "/auth/token", { grantType: "refresh_token", refreshToken });
const me = async (accessToken: string, at = server) =>
  (await createRest(at.url).request("GET", "/auth/me", undefined, { authorization: `Bearer ${accessToken}` })).status;

/** Sends the refresh and closes the connection at the first byte of the answer, without reading it. */
async function refreshAndLose(refreshToken: string): Promise<void> {
  const body = JSON.stringify({ grantType: "refresh_token", refreshToken });
  const { hostname, port, host } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST /auth/token HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await once(socket, "data");
  socket.destroy();
}

test("[AU35] two tabs that refresh with one token at once, on any node, both stay signed in", async () => {
  const { refreshToken } = await signIn();
  const answers = await Promise.all([
    refresh(refreshToken),
    refresh(refreshToken, other),
    refresh(refreshToken),
    refresh(refreshToken, other),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(new Set(answers.map(({ body }) => body.refreshToken)).size).toBe(1);
  for (const { body } of answers) expect([await me(body.accessToken), await me(body.accessToken, other)]).toEqual([200, 200]);
  expect((await refresh(answers[1]?.body.refreshToken ?? "", other)).status).toBe(200);
});

test("[AU35] a client whose answer was lost refreshes again, even if the server was killed meanwhile", async () => {
  const { refreshToken } = await signIn();
  await refreshAndLose(refreshToken);
  await server.kill();
  await server.start();
  const again = await refresh(refreshToken);
  expect(again.status).toBe(200);
  const elsewhere = await refresh(refreshToken, other);
  expect(elsewhere.body.refreshToken).toBe(again.body.refreshToken);
  expect(await me((await refresh(again.body.refreshToken, other)).body.accessToken)).toBe(200);
});

test("[AU4] a stolen token used after its owner's next refresh ends the session on every node", async () => {
  const { refreshToken: stolen } = await signIn();
  const second = (await refresh(stolen)).body;
  const third = (await refresh(second.refreshToken, other)).body;
  expect((await refresh(stolen)).status).toBe(401);
  expect([await me(third.accessToken), await me(third.accessToken, other)]).toEqual([401, 401]);
  expect((await refresh(third.refreshToken, other)).status).toBe(401);
});
