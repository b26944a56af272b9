/**
 * Secrets are shown only once: keys, webhook secrets and their successors, tokens, tickets, setup links and passwords
 * are created, and used rightly and wrongly on every surface. Then the test searches all data for them: the files of
 * the store, the log at its lowest level, and every other answer.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createRest, openEditor, type Rest, signIn } from "../../support/clients.ts";
import { openReader } from "../../support/eventReader.ts";
import { createSecretScan } from "../../support/secretScan.ts";
import { seedAccount } from "../../support/seededAccount.ts";
import { openBrowser } from "../../support/webPage.ts";
import { operations, toAsked } from "./probes.ts";
import type { Rig } from "./rig.ts";
import { createScenario, isClean } from "./scenario.ts";

interface Scale {
  /** Number of keys, of webhooks and of rotations, over two accounts. */
  readonly count: number;
}

const mark = "Nothingtohide";
/** Address of the pages of the service. */
const baseUrl = "http://127.0.0.1:8787";

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

async function play(rig: Rig, scale: Scale, tell: (what: string) => void) {
  const scan = createSecretScan();
  const answers: string[] = [];
  let bad = 0;
  const [first] = rig.nodes;
  if (first === undefined) throw new Error("the rig has no node");
  const urlOf = (at: number) => rig.rest(at).url;
  const operator = await signIn(first.url, first.server.operator);
  scan.add("the operator's password", first.server.operator.password);
  scan.add("the operator token", first.server.operatorToken);
  const addToken = (name: string, token: string) => scan.add(name, token.split(".").pop() ?? "");
  const addHookSecret = (name: string, secret: string) => {
    const part = secret.replace("whsec_", "");
    scan.add(name, part);
    scan.add(`${name}, as bytes`, Buffer.from(part, "base64"));
  };

  /** Sends a request whose answer must contain no secret. */
  async function ask(rest: Rest, method: string, path: string, body?: unknown): Promise<void> {
    const answer = await rest.request(method, path, body);
    answers.push(JSON.stringify([...answer.headers]) + JSON.stringify(answer.body));
  }

  /**
   * Sends a request with a secret in its path or in a member name. The answer repeats it in `instance` or a pointer;
   * the log must not contain it.
   */
  async function askAloud(rest: Rest, method: string, path: string, body?: unknown): Promise<void> {
    const { status } = await rest.request(method, path, body);
    if (status < 400 || status >= 500) tell(`${method} with a secret in its path or names: ${status}`);
  }

  async function useKey(at: number, key: string, articleId: string): Promise<void> {
    const rest = createRest(urlOf(at), { "x-api-key": key });
    const asBearer = createRest(urlOf(at), { authorization: `Bearer ${key}` });
    const plain = createRest(urlOf(at));
    await ask(rest, "GET", "/api-keys/self");
    await ask(rest, "GET", "/trpc/auth.me");
    for (const each of [asBearer, rest.with({ authorization: `Bearer ${key}` })]) await ask(each, "GET", "/auth/me");
    await ask(plain, "GET", `/articles/${articleId}?ticket=${key}`);
    await askAloud(plain, "GET", `/${key}`);
    await askAloud(plain, "GET", `/articles/${key}`);
    await ask(plain, "POST", "/auth/token", { grantType: "refresh_token", refreshToken: key });
    await ask(rest, "POST", "/articles", { workspaceId: key, title: "x" });
    await ask(rest, "PATCH", `/articles/${articleId}`, { title: [key], slug: key });
    await askAloud(rest, "PATCH", `/articles/${articleId}`, { [key]: key });
    await ask(plain, "GET", `/runs/run_01KAHX0000050123456789ABCD/stream?ticket=${key}`);
  }

  /** Signs in as a browser does, refreshes, and sends the refresh token in wrong places. */
  async function useWebSession(at: number, account: { readonly username: string; readonly password: string }): Promise<void> {
    const [url, plain] = [urlOf(at), createRest(urlOf(at))];
    const browser = openBrowser(url, baseUrl);
    for (const answer of [await browser.open(account), await browser.renew()]) {
      if (answer.status !== 200) throw new Error(`a web session answered ${answer.status}`);
      addToken("an access token of a web session", answer.body.accessToken);
      addToken("a refresh token of a web session", browser.cookie ?? "");
    }
    const headers = { cookie: `svc_session=${browser.cookie}` };
    await ask(plain.with(headers), "GET", "/auth/me");
    await ask(plain.with(headers), "POST", "/auth/web-session/refresh");
    await ask(plain.with({ ...headers, origin: "https://evil.example" }), "DELETE", "/auth/web-session");
    await ask(plain, "POST", "/auth/web-session", { ...account, password: browser.cookie });
  }

  async function live(at: number): Promise<{ readonly rest: Rest; readonly keyIds: readonly string[] }> {
    const username = `secretive-${at}`;
    const password = `a password that nobody knows ${at}`;
    const { setupUrl } = await operator.expect(201, "POST", "/accounts", { username });
    const token = new URLSearchParams(new URL(setupUrl).hash.slice(1)).get("token") ?? "";
    scan.add("a setup link", token.split(".")[1] ?? token);
    scan.add("a password", password);
    const plain = createRest(urlOf(at));
    await ask(plain, "POST", "/auth/setup", { token: `${token}x`, password });
    await plain.expect(201, "POST", "/auth/setup", { token, password });
    await ask(plain, "POST", "/auth/setup", { token, password });
    await ask(plain, "POST", "/auth/token", { grantType: "password", username: password, password });
    await askAloud(plain, "POST", "/auth/token", { grantType: "password", username, password, [password]: password });
    const tokens = await plain.expect(200, "POST", "/auth/token", { grantType: "password", username, password });
    const renewed = await plain.expect(200, "POST", "/auth/token", { grantType: "refresh_token", refreshToken: tokens.refreshToken });
    for (const { accessToken, refreshToken } of [tokens, renewed]) {
      addToken("an access token", accessToken);
      addToken("a refresh token", refreshToken);
    }
    const rest = plain.with({ authorization: `Bearer ${renewed.accessToken}` });
    await useWebSession(at, { username, password });
    const { ids } = await seedAccount(rest, username, mark);
    const inside = `/workspaces/${ids.workspaceId}`;
    const keyIds: string[] = [];
    const keys: string[] = [];
    for (let number = 0; number < scale.count / 2; number += 1) {
      const once = number % 2 === 0 ? { "idempotency-key": `key ${at} ${number}` } : {};
      const request = { name: `${mark} ${number}`, ...(number % 3 === 0 ? { scopes: ["articles:write", "workspaces:write"] } : {}) };
      const { key, keyId, prefix } = await rest.expect(201, "POST", "/api-keys", request, once);
      if (number % 2 === 0) await rest.expect(201, "POST", "/api-keys", request, once);
      if (!key.startsWith(prefix)) throw new Error("a key does not begin with its prefix");
      scan.add(`key ${at}-${number}`, key.slice(prefix.length + 1));
      keyIds.push(keyId);
      keys.push(key);
      await useKey(at + number, key, ids.articleId);
      const hook = { url: `${rig.receiver.url}/${at}-${number}` };
      const { webhookId, secret } = await rest.expect(201, "POST", `${inside}/webhooks`, hook, once);
      addHookSecret(`webhook ${at}-${number}`, secret);
      const rotated = await rest.expect(200, "PATCH", `${inside}/webhooks/${webhookId}`, { rotateSecret: true });
      addHookSecret(`webhook ${at}-${number}, rotated`, rotated.secret);
      await ask(rest, "PATCH", `${inside}/webhooks/${webhookId}`, { secret: rotated.secret });
    }
    const [key = ""] = keys;
    const byKey = createRest(urlOf(at), { "x-api-key": key });
    for (const resource of [`article:${ids.articleId}`, `run:${ids.runId}`, `workspace:${ids.workspaceId}`]) {
      const { ticket } = await byKey.expect(201, "POST", "/auth/stream-ticket", { resource });
      addToken("a ticket", ticket);
      await ask(plain, "GET", `/articles/${ids.articleId}?ticket=${ticket}`);
      if (!resource.startsWith("run")) continue;
      const reading = await openReader(plain, `/runs/${ids.runId}/stream?ticket=${ticket}`);
      await reading.until((told) => told.length > 2);
      answers.push(reading.text);
      reading.close();
    }
    const editor = await openEditor(byKey, ids.articleId);
    editor.text.insert(0, `${mark} by hand. `);
    await editor.until((text) => text.includes("by hand"));
    editor.close();
    await byKey.expect(200, "PATCH", `/articles/${ids.articleId}/content`, { mode: "append", content: "More.", message: "Told to all" });
    await rest.expect(200, "POST", `/api-keys/${keyIds.at(-1)}/revoke`);
    await useKey(at, keys.at(-1) ?? "", ids.articleId);
    // Read everything that can be read.
    for (const operation of operations) {
      const { method, path } = toAsked(operation, ids, ids, []);
      if (method !== "GET") continue;
      await ask(rest, method, path);
      await ask(byKey, method, path);
    }
    return { rest, keyIds };
  }

  const lives = await Promise.all([live(0), live(1)]);
  await rig.receiver.waitForCount(Math.floor(scale.count / 2));
  for (const path of ["/metrics", "/readyz", "/openapi.json", "/.well-known/jwks.json"]) {
    await ask(createRest(first.url, { authorization: `Bearer ${first.server.operatorToken}` }), "GET", path);
    await ask(createRest(first.url), "GET", path);
  }
  await ask(operator, "GET", "/accounts");
  for (const { rest } of lives) await rest.expect(204, "POST", "/auth/logout");

  const folders = rig.nodes.map(({ server }) => server.dataDir);
  if (rig.redis !== undefined) {
    await rig.redis.command("CONFIG", "SET", "rdbcompression", "no");
    await rig.redis.command("SAVE");
    // The client's protocol returns a map whose keys and values are bytes.
    const settings = (await rig.redis.command("CONFIG", "GET", "dir")) as ReadonlyMap<unknown, unknown> | Readonly<Record<string, unknown>>;
    const [folder] = settings instanceof Map ? [...settings.values()] : Object.values(settings);
    folders.push(String(folder));
  }
  const kept = folders.flatMap(filesBelow).map((file) => ({ where: file, bytes: readFileSync(file) }));
  const logged = rig.nodes.map(({ server }, at) => ({
    where: `the log of node ${at}`,
    bytes: Buffer.from(server.logLines.map((line) => JSON.stringify(line)).join("\n") + server.stderr),
  }));
  const answered = { where: "an answer", bytes: Buffer.from(answers.join("\n")) };
  for (const { where, bytes } of [...kept, ...logged, answered]) {
    for (const name of scan.find(bytes)) {
      bad += 1;
      tell(`${name} stands in ${where}`);
    }
  }
  // Control: the scan finds a name, which is not secret, in the store and in the answers, and an id in the log.
  const control = createSecretScan();
  control.add("a name", `${mark} `);
  if (!kept.some(({ bytes }) => control.find(bytes).length > 0)) tell("the store holds nothing that was stored");
  if (control.find(answered.bytes).length === 0) tell("the answers hold nothing that was stored");
  const { keyIds } = lives[0] as { readonly keyIds: readonly string[] };
  if (!logged.some(({ bytes }) => keyIds.some((keyId) => bytes.includes(keyId)))) tell("the log names no key");

  const bytes = [...kept, ...logged, answered].reduce((sum, { bytes: { length } }) => sum + length, 0);
  return {
    load: `${scan.size} secrets of ${scale.count} keys, ${scale.count} webhooks and as many rotations; ${Math.round(bytes / 2 ** 20)} MiB searched`,
    faults: "secrets in wrong places of requests, and used after their expiry",
    bad,
    acked: scale.count * 3,
    lost: 0,
    dup: 0,
    p50: 0,
    p99: 0,
  };
}

export const secrets = createScenario<Scale>({
  name: "secrets",
  modes: ["E", "R"],
  short: { count: 12 },
  full: { count: 100 },
  rig: { settings: { BASE_URL: baseUrl, LOG_LEVEL: "trace", OUTBOUND_ALLOW_CIDRS: "127.0.0.0/8,10.0.0.0/8" } },
  play,
  figure: "no secret in the store, the log or another answer, in any encoding",
  holds: isClean,
});
