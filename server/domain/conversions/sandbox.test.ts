import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toPermissionFlags } from "../../platform/workers/childPermissions.ts";

const sandbox = new URL("./sandbox.ts", import.meta.url).href;
const loader = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
const attempt = `
  const attempt = async (name, call) => {
    try { await call(); console.log(name, "allowed"); } catch (error) { console.log(name, error.code ?? error.name); }
  };`;
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sandbox-"));
  writeFileSync(join(folder, "own.txt"), "own");
});
afterAll(() => rmSync(folder, { recursive: true }));

function run(flags: readonly string[], program: string): readonly string[] {
  const { stdout, stderr } = spawnSync(process.execPath, [...flags, "--input-type=module", "-e", program], { encoding: "utf8" });
  return (stdout === "" ? stderr : stdout).trim().split("\n");
}

/** Runs the program in a process of its own after it has entered the sandbox. Returns the lines that it prints. */
const runInside = (program: string) =>
  run(
    ["--import", loader],
    `
    const { enterSandbox } = await import(${JSON.stringify(sandbox)});
    enterSandbox([${JSON.stringify(folder)}]);
    ${attempt}
    ${program}`,
  );

test("[CV22] in the process no library can connect, start a process, or use files elsewhere", () => {
  const printed = runInside(`
    const { Socket } = await import("node:net");
    const fs = await import("node:fs");
    const promises = await import("node:fs/promises");
    const own = ${JSON.stringify(join(folder, "own.txt"))};
    const attempts = {
      net: async () => (await import("node:net")).connect(1, "127.0.0.1"),
      socket: () => new process.stdin.constructor().connect(1, "127.0.0.1"),
      listen: async () => (await import("node:net")).createServer().listen(0),
      http: async () => (await import("node:http")).request("http://127.0.0.1:1"),
      agent: async () => (await import("node:http")).globalAgent.createConnection({ port: 1 }),
      http2: async () => (await import("node:http2")).connect("http://127.0.0.1:1"),
      tls: async () => (await import("node:tls")).connect(1),
      fetch: () => fetch("http://127.0.0.1:1"),
      websocket: () => new WebSocket("ws://127.0.0.1:1"),
      dns: async () => (await import("node:dns")).lookup("localhost", () => undefined),
      dnsPromises: async () => (await import("node:dns")).promises.resolve4("localhost"),
      resolver: async () => new (await import("node:dns")).Resolver().resolve4("localhost", () => undefined),
      dgram: async () => (await import("node:dgram")).createSocket("udp4"),
      spawn: async () => (await import("node:child_process")).spawn("true"),
      execSync: async () => (await import("node:child_process")).execSync("true"),
      thread: async () => new (await import("node:worker_threads")).Worker("", { eval: true }),
      cluster: async () => (await import("node:cluster")).fork(),
      inspector: async () => (await import("node:inspector")).open(0),
      heap: async () => (await import("node:v8")).writeHeapSnapshot(),
      wasi: async () => new (await import("node:wasi")).WASI({ version: "preview1" }),
      hooks: async () => (await import("node:module")).register("data:text/javascript,"),
      builtin: () => process.getBuiltinModule("net").connect(1),
      required: async () => (await import("node:module")).createRequire(import.meta.url)("net").connect(1),
      binding: () => process.binding("tcp_wrap"),
      linkedBinding: () => process._linkedBinding("tcp_wrap"),
      dlopen: () => process.dlopen({}, "/tmp/none.node"),
      kill: () => process.kill(process.pid, 0),
      readSync: () => fs.readFileSync("/etc/hostname"),
      read: () => promises.readFile(new URL("file:///etc/hostname")),
      open: () => promises.open("/etc/hostname"),
      stream: () => fs.createReadStream("/etc/hostname"),
      stat: () => fs.statSync("/etc/hostname"),
      realpath: () => fs.realpathSync.native("/etc/hostname"),
      relative: () => fs.readFileSync(own + "/../../own.txt"),
      write: () => fs.writeFileSync("/tmp/never", ""),
      writeOwn: () => fs.openSync(own, "w"),
      writeOwnPromise: () => promises.open(own, "r+"),
      writeDescriptor: () => fs.writeSync(1, "x"),
      append: () => promises.appendFile(own, "x"),
      copy: () => fs.cpSync(own, own + "2"),
      watch: () => fs.watch(own),
    };
    for (const [name, call] of Object.entries(attempts)) await attempt(name, call);
    await attempt("own", () => fs.readFileSync(own));
    await attempt("ownPromise", async () => (await promises.open(own)).close());
    await attempt("missing", () => { if (fs.existsSync("/etc/hostname")) throw new Error(); });
  `);
  const allowed = printed.filter((line) => line.endsWith(" allowed"));
  expect(allowed).toEqual(["own allowed", "ownPromise allowed", "missing allowed"]);
  expect(printed.filter((line) => !line.endsWith(" allowed") && !line.endsWith(" SandboxRefusal"))).toEqual([]);
  expect(printed.length).toBe(44);
});

test("[CV74] every function of a module that is not on the list of the sandbox is refused", () => {
  const printed = runInside(`
    const { builtinModules } = await import("node:module");
    for (const name of builtinModules) {
      const module = process.getBuiltinModule(name);
      const isRefused = (value) => typeof value === "function" && value.name === "refused";
      const open = Object.entries(Object.getOwnPropertyDescriptors(module))
        .filter(([, { value }]) => typeof value === "function" && !isRefused(value))
        .map(([member]) => member);
      if (open.length > 0) console.log(name, open.length);
    }
  `);
  const computing =
    "_stream_duplex _stream_passthrough _stream_readable _stream_transform _stream_writable assert assert/strict async_hooks buffer console constants crypto diagnostics_channel events fs fs/promises module os path " +
    "path/posix path/win32 perf_hooks process punycode querystring stream stream/consumers stream/promises stream/web string_decoder " +
    "sys timers timers/promises url util util/types vm zlib";
  const open = printed.map((line) => line.split(" ")[0] ?? "");
  expect(open.filter((name) => !computing.split(" ").includes(name))).toEqual([]);
  expect(open).toContain("zlib");
});

test("[CV75] Node itself refuses files elsewhere, writing, processes and addons to the process", () => {
  const program = `
    ${attempt}
    const fs = process.getBuiltinModule("fs");
    const own = ${JSON.stringify(join(folder, "own.txt"))};
    await attempt("own", () => fs.readFileSync(own));
    await attempt("elsewhere", () => fs.readFileSync("/etc/hostname"));
    await attempt("write", () => fs.writeFileSync(own, ""));
    await attempt("spawn", () => process.getBuiltinModule("child_process").spawnSync("true"));
    await attempt("binding", () => process.binding("spawn_sync"));
  `;
  expect(run(toPermissionFlags([folder]), program)).toEqual([
    "own allowed",
    "elsewhere ERR_ACCESS_DENIED",
    "write ERR_ACCESS_DENIED",
    "spawn ERR_ACCESS_DENIED",
    "binding ERR_ACCESS_DENIED",
  ]);
});
