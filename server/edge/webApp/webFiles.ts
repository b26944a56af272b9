/**
 * WebFiles reads the built web app from `dist/web` into memory, once at the start.
 *
 * Only `index.html` has different content under one name, and `web/build.mjs` writes it last. It is read first here: a
 * start beside a running build gets the page of one build and every file that this page names. A request never reaches
 * the disk, so no path of a request can leave the folder.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";

export interface WebFile {
  readonly bytes: Uint8Array;
  /** Compressed forms, the preferred one first. */
  readonly compressed: ReadonlyMap<"br" | "gzip", Uint8Array>;
  /** Hash of the bytes. */
  readonly tag: string;
}

export interface WebFiles {
  readonly index: WebFile;
  /** Name in the folder `assets` → file. Files of earlier builds are there for a day. */
  readonly assets: ReadonlyMap<string, WebFile>;
}

/** The build keeps to these limits. A folder with more is not one that it wrote. */
const maxFiles = 4000;
const maxBytes = 128 * 1024 * 1024;

/** Compressed forms of other files, and files that a running build has begun to write. */
const isNoFileOfItsOwn = /\.(?:br|gz|\d+)$/;

function toWebFile(bytes: Uint8Array, br: Uint8Array | undefined, gzip: Uint8Array | undefined): WebFile {
  const compressed = new Map<"br" | "gzip", Uint8Array>();
  if (br !== undefined) compressed.set("br", br);
  if (gzip !== undefined) compressed.set("gzip", gzip);
  return { bytes, compressed, tag: createHash("sha256").update(bytes).digest("base64url").slice(0, 27) };
}

/** A running build may remove files of earlier builds between the listing and the reading. */
function readIfPresent(path: string): Uint8Array | undefined {
  try {
    return readFileSync(path);
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw reason;
  }
}

/** Returns undefined if nothing was built. Throws for a folder that no build can have left. */
export function readWebFiles(folder: string): WebFiles | undefined {
  const page = readIfPresent(join(folder, "index.html"));
  if (page === undefined) return undefined;
  const names = new Set(readdirSync(join(folder, "assets")));
  if (names.size > maxFiles) throw new Error(`${folder}/assets has ${names.size} files, and at most ${maxFiles} can be served`);
  let bytes = 0;
  const read = (name: string): Uint8Array | undefined => {
    if (!names.has(name)) return undefined;
    const content = readIfPresent(join(folder, "assets", name));
    bytes += content?.byteLength ?? 0;
    if (bytes > maxBytes) throw new Error(`${folder}/assets has more than ${maxBytes} bytes, which is more than can be served`);
    return content;
  };
  const assets = new Map<string, WebFile>();
  for (const name of names) {
    if (isNoFileOfItsOwn.test(name)) continue;
    const content = read(name);
    if (content !== undefined) assets.set(name, toWebFile(content, read(`${name}.br`), read(`${name}.gz`)));
  }
  return { index: toWebFile(page, brotliCompressSync(page), gzipSync(page)), assets };
}
