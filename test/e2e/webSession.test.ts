/** Tests the web app's session against real servers on each store: kills between a refresh and its answer, several nodes, open sockets. */
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRest, openEditor, type Rest, signIn } from "../support/clients.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { type Browser, cookieIn, openBrowser, webHeader } from "../support/webPage.ts";

/** The address of the proxy in front of the nodes. Pages and cookies belong to it. */
const origin = "https://content.example";

let server: RunningServer;
/** Another node on the same store if the store is Redis; otherwise the same node. */
let other: RunningServer;

beforeAll(async () => {
  const settings = { BASE_URL: origin, LIMITS: JSON.stringify({ "rate.auth": "off", "keep.refreshGrace": 600_000 }) };
  server = await startServer(settings);
  other = server.store?.kind === "redis" ? await startServer({ ...settings, ...server.store.settings }) : server;
});
afterAll(async () => {
  if (other !== server) await other.remove();
  await server.remove();
});

const as = (accessToken: string, at = server): Rest => createRest(at.url, { authorization: `Bearer ${accessToken}` });
const me = async (accessToken: string, at = server) => (await as(accessToken, at).request("GET", "/auth/me")).status;

/** Sends a refresh and returns the connection, on which no byte of the answer was read. */
function sendRefresh({ cookie }: Browser) {
  const { hostname, port } = new URL(server.url);
  const head = {
    host: "content.example",
    origin,
    ...webHeader,
    cookie: `svc_session=${cookie}`,
    "content-type": "application/json",
    "content-length": "0",
  };
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
  const sent = new Promise<void>((resolve) => {
    socket.write(`POST /auth/web-session/refresh HTTP/1.1\r\n${lines.join("")}\r\n`, () => resolve());
  });
  return { socket, sent };
}

test("[AU50] a server killed between a refresh and its answer leaves the person signed in", async () => {
  // The kill comes at once, or at the first byte of an answer that nobody reads.
  for (const isStored of [true, false, true]) {
    const browser = openBrowser(server.url, origin);
    expect((await browser.open(server.operator)).status).toBe(200);
    const { socket, sent } = sendRefresh(browser);
    await (isStored ? once(socket, "data") : sent);
    await server.kill();
    socket.destroy();
    await server.start();
    const again = await browser.renew();
    expect([isStored, again.status]).toEqual([isStored, 200]);
    expect([await me(again.body.accessToken), await me(again.body.accessToken, other)]).toEqual([200, 200]);
  }
});

test("[AU45] tabs that refresh with one cookie at once, on any node, all stay signed in", async () => {
  const browser = openBrowser(server.url, origin);
  await browser.open(server.operator);
  const { cookie } = browser;
  const urls = [server.url, other.url, server.url, other.url];
  const answers = await Promise.all(urls.map((url) => browser.renew({ cookie, url })));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(new Set(answers.map(cookieIn)).size).toBe(1);
  for (const { body } of answers) expect([await me(body.accessToken), await me(body.accessToken, other)]).toEqual([200, 200]);
  // A tab has the new cookie already while another one still sends the old one.
  const mixed = await Promise.all([
    browser.renew({ url: other.url }),
    browser.renew({ cookie }),
    browser.renew({ cookie, url: other.url }),
  ]);
  expect(mixed.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(new Set([...answers, ...mixed].map(cookieIn)).size).toBe(1);
});

test("[AU46] a sign-out without an access token ends the session on every node, with its sockets and tickets", async () => {
  const browser = openBrowser(server.url, origin);
  const { accessToken } = (await browser.open(server.operator)).body;
  const operator = await signIn(server.url, server.operator);
  const { workspaceId } = await operator.expect(201, "POST", "/workspaces", { name: "Desk", type: "team" });
  const { articleId } = await operator.expect(201, "POST", "/articles", { workspaceId, title: "Kites" });
  const editor = await openEditor(as(accessToken, other), articleId);
  const closed = new Promise<number>((resolve) => {
    editor.provider.on("connection-close", (event) => {
      if (event !== null) resolve(event.code);
    });
  });
  editor.provider.shouldConnect = false;
  expect((await browser.end()).status).toBe(204);
  expect(await closed).toBe(4401);
  editor.close();
  expect([await me(accessToken), await me(accessToken, other)]).toEqual([401, 401]);
  expect((await operator.request("GET", "/auth/me")).status).toBe(200);
});

test("[AU43] behind a proxy, the pages of BASE_URL belong to the service and no others", async () => {
  const pages = [origin, server.url, "https://evil.example"];
  const statuses = [];
  for (const page of pages) statuses.push((await openBrowser(server.url, page).open(server.operator)).status);
  expect(statuses).toEqual([200, 403, 403]);
});
