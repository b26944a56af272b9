/** Tests the session cookie in Chromium: what scripts, tabs, pages of other origins and a restarted server do with it. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, BrowserContext, Page, Response } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openContext, startBrowser } from "../support/browser.ts";
import { type RunningServer, startServer } from "../support/server.ts";

let server: RunningServer;
let browser: Browser;
let context: BrowserContext;
/** Serves pages at another port of the same host, which is another origin of the same site. */
let neighbour: Server;

beforeAll(async () => {
  neighbour = createServer((_, response) => response.end("A page.")).listen(0, "127.0.0.1");
  [server, browser] = await Promise.all([startServer({ LIMITS: '{"rate.auth":"off"}' }), startBrowser(), once(neighbour, "listening")]);
});
beforeEach(async () => {
  context = await openContext(browser);
});
afterEach(() => context.close());
afterAll(async () => {
  neighbour.close();
  await browser?.close();
  await server?.remove();
});

/** Opens a tab at a path that the cookie is sent to. It shows a problem document, which has no policy against requests. */
async function openTab(origin = server.url): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${origin}/auth/web-session/tab`);
  return page;
}

/** Sends a request from the page. Resolves with the status, or "blocked" if the browser does not show the answer. */
function send(page: Page, method: string, path: string, more: RequestInit = {}): Promise<number | "blocked"> {
  const given = { url: server.url + path, init: { method, headers: { "x-svc-web": "1" }, ...more } };
  return page.evaluate(
    ({ url, init }) =>
      fetch(url, init).then(
        ({ status }) => status,
        () => "blocked" as const,
      ),
    given,
  );
}

const signIn = (page: Page, more: RequestInit = {}) =>
  send(page, "POST", "/auth/web-session", {
    headers: { "content-type": "application/json" },
    body: JSON.stringify(server.operator),
    ...more,
  });
const refresh = (page: Page) => send(page, "POST", "/auth/web-session/refresh");

test("[AU40] no script can read the cookie, which outlives the window and belongs to one path", async () => {
  const page = await openTab();
  expect(await signIn(page)).toBe(200);
  expect(await page.evaluate(() => document.cookie)).toBe("");
  const [cookie, ...others] = await context.cookies();
  expect(others).toEqual([]);
  expect(cookie).toMatchObject({ name: "svc_session", path: "/auth/web-session", httpOnly: true, sameSite: "Strict", secure: false });
  expect((cookie?.expires ?? 0) * 1000).toBeGreaterThan(Date.now() + 29 * 86_400_000);
});

test("[AU45] tabs that all refresh at once stay signed in, also over a kill of the server", async () => {
  const tabs = await Promise.all([openTab(), openTab(), openTab()]);
  const [first] = tabs;
  expect(await signIn(first)).toBe(200);
  const refreshAll = () => Promise.all([...tabs, ...tabs].map(refresh));
  expect(await refreshAll()).toEqual([200, 200, 200, 200, 200, 200]);
  await server.kill();
  expect(await refresh(first)).toBe("blocked");
  await server.start();
  expect(await refreshAll()).toEqual([200, 200, 200, 200, 200, 200]);
  expect(await send(first, "DELETE", "/auth/web-session")).toBe(204);
  expect(await context.cookies()).toEqual([]);
  expect(await refreshAll()).toEqual([401, 401, 401, 401, 401, 401]);
});

test("[AU43] a page at another port of the host, to whose requests the cookie belongs, can do nothing with it", async () => {
  const [own, foreign] = [await openTab(), await openTab(`http://127.0.0.1:${(neighbour.address() as AddressInfo).port}`)];
  await signIn(own);
  const before = await context.cookies();
  // Without the header of the web app, the browser sends the request and the cookie, and hides the answer.
  const blind = { credentials: "include", mode: "no-cors", headers: {} } as const;
  const answers: Response[] = [];
  foreign.on("response", (answer) => answers.push(answer));
  expect(await send(foreign, "POST", "/auth/web-session/refresh", blind)).toBe(0);
  expect(await send(foreign, "POST", "/auth/web-session", { ...blind, body: JSON.stringify(server.operator) })).toBe(0);
  for (const [method, path] of [
    ["POST", "/auth/web-session/refresh"],
    ["DELETE", "/auth/web-session"],
  ] as const) {
    expect(await send(foreign, method, path, { credentials: "include" })).toBe("blocked");
  }
  const posted = answers.filter((answer) => answer.request().method() === "POST");
  expect(posted.map((answer) => answer.status())).toEqual([403, 403]);
  for (const answer of posted) expect((await answer.request().allHeaders()).cookie).toMatch(/^svc_session=/);
  expect(await context.cookies()).toEqual(before);
  expect(await refresh(own)).toBe(200);
});
