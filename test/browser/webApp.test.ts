/** Tests the policy of the web app's page in Chromium: what a script in the page can load and call, and who can frame it. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startBrowser } from "../support/browser.ts";
import { signIn } from "../support/clients.ts";
import { createVisits, type Visits } from "../support/pageVisits.ts";
import { type RunningServer, startServer } from "../support/server.ts";

let server: RunningServer;
let browser: Browser;
let visits: Visits;
/** Another origin. Its page frames the app. */
let neighbour: Server;
let foreignUrl: string;
const foreignRequests: string[] = [];

beforeAll(async () => {
  neighbour = createServer((request, response) => {
    foreignRequests.push(request.url ?? "");
    const body = `<!doctype html><iframe src="${server.url}/sign-in"></iframe>`;
    response.writeHead(200, { "content-type": "text/html", "access-control-allow-origin": "*" }).end(body);
  }).listen(0, "127.0.0.1");
  [server, browser] = await Promise.all([startServer(), startBrowser(), once(neighbour, "listening")]);
  foreignUrl = `http://127.0.0.1:${(neighbour.address() as AddressInfo).port}`;
  visits = createVisits(browser);
});
afterEach(() => visits.close());
afterAll(async () => {
  neighbour.close();
  await browser?.close();
  await server?.remove();
});

type Attempt = "socket" | "fetch" | "picture" | "frame" | "script" | "inline script" | "style";

/** Makes an attempt in the page. Resolves with the directive of the policy that stopped it, or with `done`. */
function attempt(page: Page, kind: Attempt, url: string): Promise<string> {
  return page.evaluate(
    ([kind, url]) =>
      new Promise<string>((resolve) => {
        document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => resolve(effectiveDirective), { once: true });
        const done = () => resolve("done");
        const load = (element: HTMLElement, fields: object) => {
          element.addEventListener("load", done);
          document.body.append(Object.assign(element, fields));
        };
        if (kind === "socket") new WebSocket(url.replace(/^http/, "ws")).addEventListener("open", done);
        else if (kind === "fetch") fetch(url).then(done, () => undefined);
        else if (kind === "picture") load(new Image(), { src: url });
        else if (kind === "frame") load(document.createElement("iframe"), { src: url });
        else if (kind === "script") load(document.createElement("script"), { src: url });
        else if (kind === "style") load(document.createElement("link"), { rel: "stylesheet", href: url });
        else {
          load(document.createElement("script"), { textContent: "document.documentElement.dataset.ran = 'yes';" });
          if (document.documentElement.dataset.ran === "yes") done();
        }
      }),
    [kind, url] as const,
  );
}

test("[WA9] the page opens sockets and sends requests to its own origin, and its policy stops nothing of the app", async () => {
  const rest = await signIn(server.url, server.operator);
  const { workspaces } = await rest.expect(200, "GET", "/workspaces");
  const { articleId } = await rest.expect(201, "POST", "/articles", { workspaceId: workspaces[0].workspaceId, title: "Live" });
  const { ticket } = await rest.expect(201, "POST", "/auth/stream-ticket", { resource: `article:${articleId}` });
  const { page, errors } = await visits.open(`${server.url}/sign-in`);
  expect(await attempt(page, "socket", `${server.url}/collab/${articleId}?ticket=${ticket}`)).toBe("done");
  expect(await attempt(page, "fetch", `${server.url}/openapi.json`)).toBe("done");
  // The session of the app needs the origin of the page, which the policy against referrers must not remove.
  const statuses = await page.evaluate(async (account) => {
    const send = async (path: string, init: RequestInit) => (await fetch(path, { method: "POST", ...init })).status;
    const opened = await send("/auth/web-session", { headers: { "content-type": "application/json" }, body: JSON.stringify(account) });
    return [opened, await send("/auth/web-session/refresh", { headers: { "x-svc-web": "1" } })];
  }, server.operator);
  expect(statuses).toEqual([200, 200]);
  expect(errors.filter((error) => /Policy/.test(error))).toEqual([]);
});

test("[WA9] the page cannot reach or load anything of another origin, nor run an inline script", async () => {
  const { page } = await visits.open(`${server.url}/w/ws_1`);
  const before = foreignRequests.length;
  expect({
    socket: await attempt(page, "socket", foreignUrl),
    fetch: await attempt(page, "fetch", foreignUrl),
    picture: await attempt(page, "picture", `${foreignUrl}/picture.png`),
    frame: await attempt(page, "frame", foreignUrl),
    script: await attempt(page, "script", `${foreignUrl}/script.js`),
    style: await attempt(page, "style", `${foreignUrl}/style.css`),
    "inline script": await attempt(page, "inline script", ""),
  }).toEqual({
    socket: "connect-src",
    fetch: "connect-src",
    picture: "img-src",
    frame: "frame-src",
    script: "script-src-elem",
    style: "style-src-elem",
    "inline script": "script-src-elem",
  });
  expect(foreignRequests.slice(before)).toEqual([]);
});

test("[WA9] a page of another origin cannot show the app in a frame", async () => {
  const { page, errors } = await visits.open(foreignUrl);
  await expect.poll(() => errors.some((error) => error.includes("frame-ancestors"))).toBe(true);
  const [frame] = page.frames().filter((each) => each !== page.mainFrame());
  expect(frame?.url()).toBe("chrome-error://chromewebdata/");
});
