/** Tests the built server with the built web app: the page, everything that it names, and the set-up link that opens it. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { createRest, type Rest } from "../support/clients.ts";
import { findHtml, type HtmlNode, hrefsIn, parseHtml } from "../support/htmlTree.ts";
import { repository } from "../support/runBuild.ts";
import { type RunningServer, startServer } from "../support/server.ts";

let server: RunningServer;
let anyone: Rest;

beforeAll(async () => {
  server = await startServer({ SVC_ADMIN_USERNAME: "", SVC_ADMIN_PASSWORD: "" });
  anyone = createRest(server.url);
});
afterAll(() => server?.remove());

async function open(path: string): Promise<HtmlNode> {
  const { status, body } = await anyone.request("GET", path, undefined, { accept: "text/html" });
  expect(status, path).toBe(200);
  return parseHtml(String(body));
}

/** Addresses of all that the head and the body of a page load. */
function loadedBy(page: HtmlNode): string[] {
  const attributes = [...findHtml(page, "script"), ...findHtml(page, "link")].map(({ properties }) => properties?.src ?? properties?.href);
  return attributes.map(String);
}

test("[WA8] `npm start` builds the app and the server serves it: the page, and compressed all that it loads", async () => {
  expect(packageJson.scripts.prestart).toBe(packageJson.scripts.build);
  expect(server.logLines.filter(({ level }) => level === "warn")).toEqual([]);
  const page = await open("/");
  const loaded = loadedBy(page);
  expect(loaded.filter((address) => address.endsWith(".js")).length).toBeGreaterThan(0);
  for (const address of loaded) {
    expect(address).toMatch(/^\/assets\/[\w.@+-]+-[\w-]{8}\.[a-z0-9]+$/);
    const plain = await fetch(server.url + address, { headers: { "accept-encoding": "identity" } });
    expect([plain.status, plain.headers.get("cache-control")], address).toEqual([200, "public, max-age=31536000, immutable"]);
    const text = await plain.text();
    for (const coding of ["br", "gzip"]) {
      const compressed = await fetch(server.url + address, { headers: { "accept-encoding": coding } });
      // The build keeps a compressed form only if it is smaller.
      expect([coding, null], address).toContain(compressed.headers.get("content-encoding"));
      expect(await compressed.text()).toBe(text);
    }
  }
  const scripts = findHtml(page, "script");
  expect(scripts.every(({ properties, children = [] }) => properties?.src !== undefined && children.length === 0)).toBe(true);
});

test("[WA8] every file of the build is served", async () => {
  const names = readdirSync(join(repository, "dist/web/assets")).filter((name) => !/\.(br|gz)$/.test(name));
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) {
    const { status, headers } = await fetch(`${server.url}/assets/${encodeURIComponent(name)}`, { method: "HEAD" });
    expect([name, status, headers.get("content-type") === "application/octet-stream"]).toEqual([name, 200, false]);
  }
  expect(existsSync(join(repository, "dist/web/index.html"))).toBe(true);
});

test("[WA8] the printed set-up link opens the app, and its token makes the first account", async () => {
  await expect.poll(() => server.stderr).toMatch(/\/setup#\S+\n/);
  const link = new URL(/http:\S+\/setup#\S+/.exec(server.stderr)?.[0] ?? "");
  expect(loadedBy(await open(link.pathname))).toEqual(loadedBy(await open("/")));
  const token = new URLSearchParams(link.hash.slice(1)).get("token");
  const account = { token, username: "Ada", password: "correct horse battery", displayName: "Ada L." };
  const made = await anyone.request("POST", "/auth/setup", account);
  expect([made.status, made.body]).toMatchObject([201, { username: "ada", displayName: "Ada L.", operator: true }]);
  await anyone.expect(200, "POST", "/auth/web-session", { username: "ada", password: account.password });
});

test("[API34] every link and style file of the problem pages resolves", async () => {
  for (const path of ["/problems", "/problems/not_found"]) {
    const page = await open(path);
    for (const href of new Set([...hrefsIn(page), ...loadedBy(page)])) {
      const target = new URL(href, `${server.url}${path}`);
      expect((await anyone.request("GET", target.pathname)).status, `${href} on ${path}`).toBe(200);
    }
  }
});
