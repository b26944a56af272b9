/**
 * Sandbox takes from this process what a conversion never needs: the network, other processes, and files other than those
 * of the program and its packages. It must run before any library is loaded, because libraries keep what they imported.
 *
 * Refused calls throw, so a library that tries to load an address fails instead of waiting. This is the second fence:
 * readers already drop every external reference, and pdfmake and mammoth are told to load nothing.
 */
import { syncBuiltinESMExports } from "node:module";
import { resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

export class SandboxRefusal extends Error {
  override readonly name = "SandboxRefusal";
}

function refuse(what: string): (...input: unknown[]) => never {
  return function refused(): never {
    throw new SandboxRefusal(`A conversion may not use ${what}.`);
  };
}

/** Functions and methods of built-in modules that open a connection, a socket, a process or a thread. */
const refused: Readonly<Record<string, readonly string[]>> = {
  net: ["connect", "createConnection", "createServer", "Socket.prototype.connect", "Server.prototype.listen"],
  tls: ["connect", "createServer"],
  http: ["request", "get", "createServer"],
  https: ["request", "get", "createServer"],
  http2: ["connect", "createServer", "createSecureServer"],
  dgram: ["createSocket"],
  dns: ["lookup", "resolve", "resolve4", "resolve6", "resolveAny"],
  "dns/promises": ["lookup", "resolve", "resolve4", "resolve6", "resolveAny"],
  // A thread would have built-in modules of its own.
  worker_threads: ["Worker"],
  process: ["binding", "dlopen"],
  child_process: ["spawn", "spawnSync", "exec", "execSync", "execFile", "execFileSync", "fork"],
};

/** Functions of `fs` whose first argument is a path that they read. */
const readers = ["readFile", "readFileSync", "open", "openSync", "createReadStream", "readdir", "readdirSync", "opendir", "opendirSync"];
/** Functions of `fs` that change files. */
const writers = [
  "writeFile",
  "writeFileSync",
  "appendFile",
  "appendFileSync",
  "createWriteStream",
  "rm",
  "rmSync",
  "unlink",
  "unlinkSync",
  "rename",
  "renameSync",
  "mkdir",
  "mkdirSync",
  "symlink",
  "symlinkSync",
  "link",
  "linkSync",
];

type Target = Record<string, unknown>;

export function enterSandbox(readableFolders: readonly string[]): void {
  for (const [name, paths] of Object.entries(refused)) {
    for (const path of paths) replace(loadBuiltin(name), path, () => refuse(`${name}.${path}`));
  }
  const folders = readableFolders.map((folder) => resolve(folder) + sep);
  const fs = loadBuiltin("fs");
  for (const target of [fs, loadBuiltin("fs/promises")]) {
    for (const name of readers) replace(target, name, (original) => guardPath(original, folders));
    for (const name of writers) replace(target, name, () => refuse(`fs.${name}`));
  }
  syncBuiltinESMExports();
  for (const name of ["fetch", "WebSocket", "EventSource"]) {
    Object.defineProperty(globalThis, name, { value: refuse(name), configurable: false, writable: false });
  }
}

function loadBuiltin(name: string): Target {
  return process.getBuiltinModule(name) as unknown as Target;
}

/** Replaces `a.b.c` of a module. A function that this version of Node does not have needs no replacement. */
function replace(module: Target, path: string, toReplacement: (original: (...input: unknown[]) => unknown) => unknown): void {
  const parts = path.split(".");
  const name = parts.pop() ?? "";
  const owner = parts.reduce<Target | undefined>((target, part) => target?.[part] as Target | undefined, module);
  const original = owner?.[name];
  if (owner !== undefined && typeof original === "function") owner[name] = toReplacement(original as () => unknown);
}

function guardPath(original: (...input: unknown[]) => unknown, folders: readonly string[]) {
  return function guarded(this: unknown, path: unknown, ...rest: unknown[]): unknown {
    // A number is a file that is already open, such as the pipes of this process.
    if (typeof path !== "number" && !isWithin(path, folders)) throw new SandboxRefusal("A conversion may not read files.");
    return original.call(this, path, ...rest);
  };
}

function isWithin(path: unknown, folders: readonly string[]): boolean {
  const text = path instanceof URL ? fileURLToPath(path) : Buffer.isBuffer(path) ? path.toString() : String(path);
  return folders.some((folder) => `${resolve(text)}${sep}`.startsWith(folder));
}
