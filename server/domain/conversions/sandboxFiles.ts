/** SandboxFiles limits `fs` to reading below some folders. Every function that is not listed here is refused. */
import { constants } from "node:fs";
import { resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { type AnyFunction, isRefusable, refuse, replaceMember, SandboxRefusal, type Target } from "./sandboxRefusal.ts";

/** Functions whose first argument is a path that they read. */
const readers: ReadonlySet<string> = new Set([
  "access",
  "accessSync",
  "createReadStream",
  "lstat",
  "lstatSync",
  "opendir",
  "opendirSync",
  "readdir",
  "readdirSync",
  "readFile",
  "readFileSync",
  "readlink",
  "readlinkSync",
  "realpath",
  "realpathSync",
  "stat",
  "statSync",
]);
/** The same, but their second argument says whether they also write. */
const openers: ReadonlySet<string> = new Set(["open", "openSync"]);
/** Functions of files that are already open, and classes without a way to open one. */
const harmless: ReadonlySet<string> = new Set([
  "BigIntStats",
  "close",
  "closeSync",
  "Dir",
  "Dirent",
  "FileReadStream",
  "fstat",
  "fstatSync",
  "read",
  "ReadStream",
  "readSync",
  "readv",
  "readvSync",
  "Stats",
]);

export function guardFiles(module: Target, readableFolders: readonly string[]): void {
  const folders = readableFolders.map((folder) => resolve(folder) + sep);
  for (const name of Object.getOwnPropertyNames(module).filter(isRefusable)) {
    if (harmless.has(name)) continue;
    replaceMember(module, name, (original) => {
      if (readers.has(name)) return keepNative(original, (call) => guard(call, folders));
      if (openers.has(name)) return guard(original, folders, isReading);
      // Libraries ask for files that they do not need.
      if (name === "existsSync") return (path: unknown) => isWithin(path, folders) && original(path);
      return refuse(`fs.${name}`);
    });
  }
}

/** `realpath` and `realpathSync` have a second form as a property. */
function keepNative(original: AnyFunction & { native?: AnyFunction }, toGuarded: (call: AnyFunction) => AnyFunction): AnyFunction {
  const guarded = toGuarded(original);
  return original.native === undefined ? guarded : Object.assign(guarded, { native: toGuarded(original.native) });
}

function guard(
  original: AnyFunction,
  folders: readonly string[],
  mayCall: (rest: readonly unknown[]) => boolean = () => true,
): AnyFunction {
  return function guarded(this: unknown, path: unknown, ...rest: unknown[]): unknown {
    // A number is a file that is already open, such as the pipes of this process.
    if (typeof path !== "number" && !isWithin(path, folders)) throw new SandboxRefusal("A conversion may not read this file.");
    if (!mayCall(rest)) throw new SandboxRefusal("A conversion may not write files.");
    return original.call(this, path, ...rest);
  };
}

/** The flags may be left out: then the next argument is the callback, if there is one. */
function isReading([flags]: readonly unknown[]): boolean {
  return flags === undefined || flags === null || typeof flags === "function" || flags === "r" || flags === constants.O_RDONLY;
}

function isWithin(path: unknown, folders: readonly string[]): boolean {
  const text = path instanceof URL ? fileURLToPath(path) : Buffer.isBuffer(path) ? path.toString() : String(path);
  return folders.some((folder) => `${resolve(text)}${sep}`.startsWith(folder));
}
