import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";

const sandbox = new URL("./sandbox.ts", import.meta.url).href;
const loader = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;

/** Runs the program in a process of its own after it has entered the sandbox. Returns what it prints. */
function runInside(program: string): string {
  const source = `
    const { enterSandbox } = await import(${JSON.stringify(sandbox)});
    enterSandbox([${JSON.stringify(import.meta.dirname)}]);
    const attempt = async (name, call) => {
      try { await call(); console.log(name, "allowed"); } catch (error) { console.log(name, error.name); }
    };
    ${program}`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--import", loader, "--input-type=module", "-e", source], { encoding: "utf8" });
  return stdout === "" ? stderr : stdout;
}

test("[CV22] in the process no library can connect, start a process, or use files elsewhere", () => {
  const printed = runInside(`
    const { connect, Socket } = await import("node:net");
    const { request } = await import("node:http");
    const { lookup } = await import("node:dns");
    const { createSocket } = await import("node:dgram");
    const { spawn } = await import("node:child_process");
    const { Worker } = await import("node:worker_threads");
    const { readFileSync, createReadStream, writeFileSync } = await import("node:fs");
    const { readFile } = await import("node:fs/promises");
    await attempt("net", () => connect(1, "127.0.0.1"));
    await attempt("socket", () => new Socket().connect(1, "127.0.0.1"));
    await attempt("http", () => request("http://127.0.0.1:1"));
    await attempt("fetch", () => fetch("http://127.0.0.1:1"));
    await attempt("dns", () => lookup("localhost", () => undefined));
    await attempt("dgram", () => createSocket("udp4"));
    await attempt("spawn", () => spawn("true"));
    await attempt("thread", () => new Worker("", { eval: true }));
    await attempt("binding", () => process.binding("tcp_wrap"));
    await attempt("readSync", () => readFileSync("/etc/hostname"));
    await attempt("read", () => readFile(new URL("file:///etc/hostname")));
    await attempt("stream", () => createReadStream("/etc/hostname"));
    await attempt("relative", () => readFileSync(${JSON.stringify(`${import.meta.dirname}/../../../package.json`)}));
    await attempt("write", () => writeFileSync("/tmp/never", ""));
    await attempt("own", () => readFileSync(${JSON.stringify(import.meta.filename)}));
  `);
  const refused = [
    "net",
    "socket",
    "http",
    "fetch",
    "dns",
    "dgram",
    "spawn",
    "thread",
    "binding",
    "readSync",
    "read",
    "stream",
    "relative",
    "write",
  ];
  expect(printed.trim().split("\n")).toEqual([...refused.map((name) => `${name} SandboxRefusal`), "own allowed"]);
});
