/** Tests what a person sees after the set-up of a server: the page at `/`, its commands in a plain shell, and its links. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRest, type Rest } from "../support/clients.ts";
import { findHtml, type HtmlNode, hrefsIn, parseHtml, textIn } from "../support/htmlTree.ts";
import { type RunningServer, startServer } from "../support/server.ts";

const account = { username: "ada", password: "correct horse battery" };
let server: RunningServer;
let anyone: Rest;

beforeAll(async () => {
  server = await startServer({ SVC_ADMIN_USERNAME: "", SVC_ADMIN_PASSWORD: "" });
  anyone = createRest(server.url);
});
afterAll(() => server.remove());

async function open(path: string): Promise<HtmlNode> {
  const { status, body } = await anyone.request("GET", path, undefined, { accept: "text/html" });
  expect(status, path).toBe(200);
  return parseHtml(String(body));
}

test("[API36] after set-up, the start page's commands sign in, write, publish and make a key", async () => {
  const before = await open("/");
  expect(textIn(before)).toContain("There is no account yet");
  expect(findHtml(before, "pre")).toEqual([]);
  const token = /#token=([^&\s]+)/.exec(server.stderr)?.[1];
  await anyone.expect(201, "POST", "/auth/setup", { token, ...account });

  const page = await open("/");
  expect(textIn(page)).toContain("There is no web app yet");
  expect(textIn(page)).toContain("docs/editor.md");
  const commands = findHtml(page, "pre").map(textIn).join("\n").replace("'your username'", `'${account.username}'`);
  const run = (password: string) =>
    promisify(execFile)("sh", ["-ec", commands.replace("'your password'", `'${password}'`)], { env: { PATH: process.env.PATH } });
  const refused = await run("wrong horse battery");
  expect(refused.stdout).toBe("");
  expect(refused.stderr).toContain('"code":"unauthenticated"');
  expect(refused.stderr).toContain('"detail":');
  const { stdout, stderr } = await run(account.password);
  expect(stderr).toBe("");
  const [publicUrl = "", key = "", ticket = "", ...more] = stdout.trim().split("\n");
  expect(more).toEqual([]);
  expect(publicUrl).toBe(`${server.url}/p/hello`);
  expect(textIn(await open("/p/hello"))).toContain("From the first minute.");
  expect(await anyone.with({ "x-api-key": key }).expect(200, "GET", "/api-keys/self")).toMatchObject({
    name: "First key",
    state: "active",
  });
  expect(ticket).toMatch(/^\S{20,}$/);
});

test("[API36] every link on the start, set-up and problem pages resolves", async () => {
  for (const path of ["/", "/setup", "/problems", "/problems/not_found"]) {
    const page = await open(path);
    const styles = findHtml(page, "link").map(({ properties }) => String(properties?.href));
    for (const href of new Set([...hrefsIn(page), ...styles])) {
      const target = new URL(href, `${server.url}${path}`);
      expect((await anyone.request("GET", target.pathname)).status, `${href} on ${path}`).toBe(200);
    }
  }
});
