/** Tests how the real process starts or fails to start: its exit codes and its output. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createRest, signIn } from "../support/clients.ts";
import { type RunningServer, runServer, type Settings, startServer } from "../support/server.ts";

const servers: RunningServer[] = [];
const folders: string[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.remove()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

async function started(settings?: Settings): Promise<RunningServer> {
  const server = await startServer(settings);
  servers.push(server);
  return server;
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "svc-start-"));
  folders.push(path);
  return path;
}

test("[OP3] wrong settings end the start with 78 and one list of them", async () => {
  const { code, stderr, stdout } = await runServer(["start"], { PORT: "eighty", BASE_URL: "http://a.example", LIMITS: `{"rate.x":1}` });
  expect(code).toBe(78);
  expect(stdout).toBe("");
  expect(stderr).toContain("3 settings are wrong; nothing was started.");
  for (const name of ["PORT", "BASE_URL", "LIMITS"])
    expect(stderr).toMatch(new RegExp(`  ${name}\n    read .*\n    allowed [\\s\\S]*?\n    example  ${name}=`));
});

test("[OP6] a wrong command line ends with 2 and prints the usage", async () => {
  for (const args of [[], ["serve"], ["start", "now"], ["reset-password"], ["reset-password", "ann", "bob"]]) {
    const { code, stderr } = await runServer(args);
    expect(code).toBe(2);
    expect(stderr).toContain("Usage: svc-server <command>");
  }
  expect(await runServer(["--help"])).toMatchObject({ code: 0, stderr: "" });
  expect((await runServer(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test("[OP6] check reports what a start would find, and creates nothing", async () => {
  const dataDir = join(folder(), "data");
  const fresh = await runServer(["check"], { DATA_DIR: dataDir });
  expect(fresh).toMatchObject({ code: 0 });
  expect(fresh.stdout).toContain("none yet");
  expect(existsSync(dataDir)).toBe(false);

  const server = await started();
  expect(await server.stop()).toMatchObject({ code: 0 });
  const used = await runServer(["check"], { DATA_DIR: server.dataDir, OUTBOUND_ALLOW_CIDRS: "10.0.0.0/8" });
  expect(used).toMatchObject({ code: 0, stderr: "" });
  expect(used.stdout).toMatch(/store {7}embedded, version \d+/);
  expect(used.stdout).toContain("these settings weaken a promise: OUTBOUND_ALLOW_CIDRS");
});

test("[OP7] a second server on the same data ends with 65 and a reason, and the first one continues", async () => {
  const server = await started();
  const second = await runServer(["start"], { DATA_DIR: server.dataDir, PORT: "0" });
  expect(second.code).toBe(65);
  expect(second.stderr).toContain("is held by another process");
  expect((await createRest(server.url).request("GET", "/readyz")).status).toBe(200);
});

test("[OP7] a port in use ends the start with 78 and leaves the data unchanged", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => other.once("listening", resolve));
  const { port } = other.address() as { port: number };
  const dataDir = join(folder(), "data");
  const taken = await runServer(["start"], { DATA_DIR: dataDir, PORT: String(port) });
  other.close();
  expect(taken.code).toBe(78);
  expect(taken.stderr).toContain(`127.0.0.1:${port}`);
  expect(taken.stderr).toContain("Another server may be running: stop it, or set another PORT and DATA_DIR.");
  expect(existsSync(dataDir)).toBe(false);
});

test("[OP7] a truncated, emptied or lost store ends start and check with 65 and an instruction", async () => {
  const server = await started();
  const rest = await signIn(server.url, server.operator);
  const { workspaceId } = (await rest.expect(200, "GET", "/workspaces")).workspaces[0];
  for (let at = 0; at < 20; at += 1) {
    await rest.expect(201, "POST", "/articles", { workspaceId, title: "Cut", content: "x".repeat(20_000) });
  }
  await server.stop();
  const data = join(server.dataDir, "store", "data.mdb");
  const whole = readFileSync(data);
  const half = Math.floor(whole.length / 8192) * 4096;
  const cases = [
    [half, /is cut off: it has \d+ bytes, .* Put the whole data directory back from a backup\./],
    [half + 1000, /is cut off/],
    [4100, /is not a store, or only the beginning of one/],
    [0, /held a store, and now .* is missing or empty\. .* from a backup/],
    [undefined, /held a store, and now .* is missing or empty/],
  ] as const;
  for (const [length, message] of cases) {
    if (length === undefined) rmSync(data);
    else writeFileSync(data, whole.subarray(0, length));
    for (const command of ["check", "start"]) {
      const ended = await runServer([command], { DATA_DIR: server.dataDir, PORT: "0" });
      expect([length, command, ended.code, ended.signal]).toEqual([length, command, 65, null]);
      expect(ended.stderr.split("\n")[0]).toMatch(message);
      expect(existsSync(data) ? readFileSync(data).length : undefined).toBe(length);
    }
  }
  writeFileSync(data, whole);
  await server.start();
  const { articles } = await rest.expect(200, "GET", `/articles?workspaceId=${workspaceId}&limit=50`);
  expect(articles).toHaveLength(20);
});

test("[OP8] the secret key is created once with mode 0600, and a missing or open key stops the start", async () => {
  const server = await started();
  const file = join(server.dataDir, "secret.key");
  const key = readFileSync(file, "utf8");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await server.stop();

  chmodSync(file, 0o644);
  const open = await runServer(["start"], { DATA_DIR: server.dataDir, PORT: "0" });
  expect(open).toMatchObject({ code: 78 });
  expect(open.stderr).toContain("chmod 600");

  rmSync(file);
  const gone = await runServer(["start"], { DATA_DIR: server.dataDir, PORT: "0" });
  expect(gone).toMatchObject({ code: 78 });
  expect(gone.stderr).toContain("SVC_SECRET_KEY");
  expect(existsSync(file)).toBe(false);

  await server.start({ SVC_SECRET_KEY: key.trim() });
  await signIn(server.url, server.operator);
});

test("[OP9] the first account comes from the settings, once, and does not change later", async () => {
  const server = await started({ SVC_ADMIN_USERNAME: "First", SVC_ADMIN_PASSWORD: "a first password" });
  const rest = await signIn(server.url, { username: "first", password: "a first password" });
  expect(await rest.expect(200, "GET", "/auth/me")).toMatchObject({ username: "first", operator: true, workspaces: 1 });
  expect(server.stderr).toBe("");

  await server.stop();
  await server.start({ SVC_ADMIN_USERNAME: "second", SVC_ADMIN_PASSWORD: "another password" });
  const { accounts } = await rest.expect(200, "GET", "/accounts");
  expect(accounts.map((account: { username: string }) => account.username)).toEqual(["first"]);
});

test("[OP42] a start logs that the admin settings do nothing because accounts exist", async () => {
  const server = await started({ SVC_ADMIN_USERNAME: "first", SVC_ADMIN_PASSWORD: "a first password" });
  const ignored = () => server.logLines.filter((line) => line.msg?.includes("SVC_ADMIN_USERNAME"));
  expect(ignored()).toEqual([]);

  await server.stop();
  await server.start({ SVC_ADMIN_PASSWORD: "another password" });
  expect(ignored()).toMatchObject([{ level: "info", username: "first", msg: expect.stringContaining("keeps its password") }]);

  await server.stop();
  await server.start({ SVC_ADMIN_USERNAME: "second" });
  expect(ignored().at(-1)).toMatchObject({ level: "warn", username: "second", msg: expect.stringContaining("no account was made") });
  await signIn(server.url, { username: "first", password: "a first password" });
});

test("[OP9] without admin settings, a one-time link on standard error makes the first account", async () => {
  const server = await started({ SVC_ADMIN_USERNAME: "", SVC_ADMIN_PASSWORD: "", LOG_LEVEL: "trace" });
  const anonymous = createRest(server.url);
  await expect.poll(() => server.stderr).toMatch(/\/setup#\S+\n/);
  const link = /http:\S+\/setup#\S+/.exec(server.stderr)?.[0] ?? "";
  expect(link.startsWith(`${server.url}/setup#`)).toBe(true);
  const token = new URLSearchParams(new URL(link).hash.slice(1)).get("token") ?? "";
  expect((await anonymous.request("GET", "/setup")).status).toBe(200);

  const account = { token, username: "first", password: "a first password" };
  expect(await anonymous.expect(201, "POST", "/auth/setup", account)).toMatchObject({ username: "first", operator: true });
  expect(await anonymous.expect(410, "POST", "/auth/setup", account)).toMatchObject({ code: "link_expired" });
  await signIn(server.url, account);
  expect(JSON.stringify(server.logLines)).not.toContain(token.split(".")[1]);

  await server.stop();
  const before = server.stderr;
  await server.start();
  expect(server.stderr).toBe(before);
});

test("[OP10] sessions and keys remain valid after a restart and a kill -9", async () => {
  const server = await started();
  const rest = await signIn(server.url, server.operator);
  const { key } = await rest.expect(201, "POST", "/api-keys", { name: "for later" });
  await server.kill();
  await server.start();
  await rest.expect(200, "GET", "/auth/me");
  await createRest(server.url, { "x-api-key": key }).expect(200, "GET", "/api-keys/self");
});

test("[OP28] reset-password prints one link with which a person sets a new password", async () => {
  const server = await started();
  const settings = { DATA_DIR: server.dataDir, PORT: new URL(server.url).port };
  const before = await signIn(server.url, server.operator);
  await server.stop();
  const made = await runServer(["reset-password", "Operator"], settings);
  expect(made).toMatchObject({ code: 0, signal: null });
  const link = /^http:\/\/127\.0\.0\.1:\d+\/setup#\S+\n$/.exec(made.stdout)?.[0].trim() ?? "";
  expect(link.startsWith(`${server.url}/setup#`)).toBe(true);
  const token = new URLSearchParams(new URL(link).hash.slice(1)).get("token") ?? "";
  expect(made.stderr).toContain('"event":"account.link"');
  expect(made.stderr).not.toContain(token);

  await server.start();
  await before.expect(200, "GET", "/auth/me");
  const account = { token, password: "another good password" };
  const anonymous = createRest(server.url);
  expect(await anonymous.expect(201, "POST", "/auth/setup", account)).toMatchObject({ username: server.operator.username });
  expect(await anonymous.expect(410, "POST", "/auth/setup", account)).toMatchObject({ code: "link_expired" });
  await before.expect(401, "GET", "/auth/me");
  await signIn(server.url, { username: server.operator.username, password: account.password });
});

test("[OP28] reset-password names the reason: running server, no store, no account, no address", async () => {
  const server = await started();
  const settings = { DATA_DIR: server.dataDir, PORT: "8787" };
  const running = await runServer(["reset-password", "operator"], settings);
  expect(running).toMatchObject({ code: 65, stdout: "" });
  expect(running.stderr).toMatch(/is held by another process \(pid \d+\); stop it/);
  await server.stop();

  for (const name of ["nobody", "", "no such name", "x".repeat(5000)]) {
    const unknown = await runServer(["reset-password", name], settings);
    expect(unknown).toMatchObject({ code: 2, stdout: "" });
    expect(unknown.stderr).toContain("There is no account");
  }
  const nowhere = await runServer(["reset-password", "operator"], { ...settings, PORT: "0" });
  expect(nowhere).toMatchObject({ code: 78, stdout: "" });
  expect(nowhere.stderr).toContain("Set BASE_URL");
  const dataDir = join(folder(), "data");
  const none = await runServer(["reset-password", "operator"], { DATA_DIR: dataDir });
  expect(none).toMatchObject({ code: 78, stdout: "" });
  expect(none.stderr).toContain("There is no store");
  expect(existsSync(dataDir)).toBe(false);

  await server.start();
  await signIn(server.url, server.operator);
});
