/**
 * Sandbox limits this process to computing and to reading the files of the program and its packages. Every other function
 * of Node's modules is refused: the network, processes, threads, writing.
 *
 * The allowed modules are listed, so that a module of a later version of Node is refused until it is added here. The sandbox
 * must be entered before any library is loaded, because libraries keep what they imported. Refused calls throw, so a library that
 * tries to load an address fails instead of waiting. The sandbox is the second fence: readers already drop every external
 * reference. The third is the permission model of Node (`platform/workers/childPermissions.ts`).
 */
import { builtinModules, syncBuiltinESMExports } from "node:module";
import { guardFiles } from "./sandboxFiles.ts";
import { isRefusable, refuse, replaceMember, type Target } from "./sandboxRefusal.ts";

/** Modules that only compute, or only say something about this process. */
const computing: ReadonlySet<string> = new Set([
  "_stream_duplex",
  "_stream_passthrough",
  "_stream_readable",
  "_stream_transform",
  "_stream_writable",
  "assert",
  "assert/strict",
  "async_hooks",
  "buffer",
  "console",
  "constants",
  "crypto",
  "diagnostics_channel",
  "events",
  "module",
  "os",
  "path",
  "path/posix",
  "path/win32",
  "perf_hooks",
  "process",
  "punycode",
  "querystring",
  "stream",
  "stream/consumers",
  "stream/promises",
  "stream/web",
  "string_decoder",
  "sys",
  "timers",
  "timers/promises",
  "url",
  "util",
  "util/types",
  "vm",
  "zlib",
]);

/** Functions of these modules that do more than compute. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  crypto: ["setEngine"],
  // They start a thread, or write files.
  module: ["register", "registerHooks", "enableCompileCache", "flushCompileCache"],
  os: ["setPriority"],
  process: [
    "_debugEnd",
    "_debugProcess",
    "_kill",
    "_linkedBinding",
    "abort",
    "binding",
    "chdir",
    "dlopen",
    "execve",
    "initgroups",
    "kill",
    "loadEnvFile",
    "setegid",
    "seteuid",
    "setgid",
    "setgroups",
    "setuid",
  ],
};

/**
 * Methods that open something. Objects of these classes exist already, such as the pipes of this process and the agents of
 * HTTP; their other methods are needed, also by Node itself.
 */
const openers: Readonly<Record<string, readonly string[]>> = { Agent: ["createConnection"], Server: ["listen"], Socket: ["connect"] };

const globals = ["fetch", "WebSocket", "EventSource"];

/** Calls into `readableFolders` may read. Names of functions that Node does not have are ignored. */
export function enterSandbox(readableFolders: readonly string[]): void {
  // The pipes are made of modules that are refused from now on.
  void [process.stdin, process.stdout, process.stderr];
  // Some modules use others while they load, so all of them are loaded first.
  const modules = builtinModules.map((name) => [name, process.getBuiltinModule(name) as unknown as Target] as const);
  for (const [name, module] of modules) {
    if (name === "fs" || name === "fs/promises") guardFiles(module, readableFolders);
    else if (!computing.has(name)) refuseModule(name, module);
    else for (const member of exceptions[name] ?? []) replaceMember(module, member, () => refuse(`${name}.${member}`));
  }
  syncBuiltinESMExports();
  for (const name of globals) Object.defineProperty(globalThis, name, { value: refuse(name), configurable: false, writable: false });
}

function refuseModule(name: string, module: Target): void {
  for (const member of Object.getOwnPropertyNames(module)) {
    const value = module[member];
    if (typeof value !== "function") continue;
    for (const method of openers[member] ?? []) {
      replaceMember(value.prototype as Target, method, () => refuse(`${name}.${member}.${method}`));
    }
    if (isRefusable(member)) replaceMember(module, member, () => refuse(`${name}.${member}`));
  }
}
