/** Tests the client package in Chromium, in a page of another origin than the server, and with the session of the web app. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { build } from "esbuild";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Article } from "../../client/article.ts";
import type { Api } from "../../client/index.ts";
import { openContext, startBrowser } from "../support/browser.ts";
import { type Rest, signIn } from "../support/clients.ts";
import { readExample } from "../support/docExamples.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { startWaitingRun } from "../support/waitingRun.ts";

const folder = join(import.meta.dirname, "../../client");

/** The page has the exports of the package, and what a test keeps between its steps. */
type Package = typeof import("../../client/index.ts") & typeof import("../../client/article.ts");
declare const client: Package;
/** The exports of the program of docs/client.md. */
declare const webSession: { readonly api: Api };
declare global {
  var article: Article;
}

/** Serves the page. Chromium lets no page of another network call this machine. */
const app = createServer((_request, answer) => answer.setHeader("content-type", "text/html").end("<!doctype html><title>App</title>"));
let server: RunningServer;
let browser: Browser;
let rest: Rest;
let page: Page;

/** Returns a script that sets the global variable `globalName` to the exports of the program. */
async function bundle(globalName: string, program: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: folder, loader: "ts" },
    alias: { "content-workspace-client": join(folder, "index.ts") },
    bundle: true,
    write: false,
    format: "iife",
    globalName,
    target: "es2022",
  });
  return outputFiles[0]?.text ?? "";
}

beforeAll(async () => {
  await once(app.listen(0, "127.0.0.1"), "listening");
  const origin = `http://127.0.0.1:${(app.address() as AddressInfo).port}`;
  [server, browser] = await Promise.all([startServer({ CORS_ORIGINS: origin }), startBrowser()]);
  rest = await signIn(server.url, server.operator);
  page = await (await openContext(browser)).newPage();
  await page.goto(`${origin}/`);
  await page.addScriptTag({ content: await bundle("client", 'export * from "./index.ts"; export * from "./article.ts";') });
});
afterAll(async () => {
  await browser?.close();
  app.close();
  await server?.remove();
});

test("[CL41] a page of another origin calls the server, reads its errors, and follows a run", async () => {
  const { workspaceId } = await rest.expect(201, "POST", "/workspaces", { name: "Newsroom", type: "team" });
  const { runId } = await startWaitingRun(rest, workspaceId);
  const seen = await page.evaluate(
    async ({ url, operator, workspaceId, runId }) => {
      const api = client.createApi({ url, tokens: await client.signIn({ url, ...operator }) });
      const [me, wrong] = await Promise.all([
        api.trpc.auth.me.query(),
        api.trpc.articles.get.query({ articleId: workspaceId }).catch((error: InstanceType<Package["ApiError"]>) => error),
      ]);
      const names: string[] = [];
      for await (const { event } of client.followRun(api, { runId, lastEventId: `${runId}:1` })) {
        names.push(event);
        if (event === "agent.paused_for_approval") break;
      }
      return { username: me.username, code: "code" in wrong ? wrong.code : "none", first: names[0], last: names.at(-1) };
    },
    { url: server.url, operator: server.operator, workspaceId, runId },
  );
  expect(seen).toEqual({
    username: server.operator.username,
    code: "not_found",
    first: "agent.step_started",
    last: "agent.paused_for_approval",
  });
});

test("[CL41] a page edits live without a polyfill, and over a restart of the server", async () => {
  const { workspaceId } = await rest.expect(201, "POST", "/workspaces", { name: "Newsroom", type: "team" });
  const { articleId } = await rest.expect(201, "POST", "/articles", { workspaceId, title: "Typed" });
  await page.evaluate(
    async ({ url, operator, articleId }) => {
      const api = client.createApi({ url, tokens: await client.signIn({ url, ...operator }) });
      globalThis.article = client.openArticle({ api, articleId });
      article.text().insert(0, "Typed in a browser.\n");
      await article.untilSaved();
    },
    { url: server.url, operator: server.operator, articleId },
  );
  await server.kill();
  await page.waitForFunction(() => article.state.status === "offline");
  await page.evaluate(() => article.text().insert(article.text().length, "Typed offline.\n"));
  await server.start();
  await page.evaluate(() => article.untilSaved());
  expect((await rest.expect(200, "GET", `/articles/${articleId}/content`)).content).toBe("Typed in a browser.\nTyped offline.\n");
  await page.evaluate(() => article.close());
  expect(await page.evaluate(() => article.state.status)).toBe("closed");
});

test("[CL34] a page of the server's own origin calls with tokens that the session cookie renews, until the sign-out", async () => {
  const own = await (await openContext(browser)).newPage();
  // The problem document of this address has no policy against scripts and requests.
  await own.goto(`${server.url}/auth/web-session/tab`);
  await own.addScriptTag({ content: await bundle("webSession", readExample("docs/client.md", "webSession.mts")) });
  const seen = await own.evaluate(async (operator) => {
    const call = () =>
      webSession.api.trpc.auth.me.query().then(
        ({ username }) => username,
        ({ status, code }: InstanceType<Package["ApiError"]>) => `${status} ${code}`,
      );
    const send = (method: string, init: RequestInit) => fetch("/auth/web-session", { method, ...init });
    const before = await call();
    await send("POST", { headers: { "content-type": "application/json" }, body: JSON.stringify(operator) });
    const [one, other] = await Promise.all([call(), call()]);
    await send("DELETE", { headers: { "x-svc-web": "1" } });
    return { before, one, other, after: await call() };
  }, server.operator);
  const refused = "401 unauthenticated";
  expect(seen).toEqual({ before: refused, one: server.operator.username, other: server.operator.username, after: refused });
});
