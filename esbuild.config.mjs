/**
 * Builds the server into `dist/svc-server.js`, and beside it one file for each program of its threads; packages stay
 * external. A build whose sources did not change since the last one is not made again, so `npm start` costs a hash.
 * Each file appears whole or not at all: a start beside a build never reads half a file.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { build, version } from "esbuild";

const root = import.meta.dirname;
const stamp = join(root, "dist", "svc-server.hash");

/** The server, and the programs of its threads, which it finds beside itself. */
const entryPoints = {
  "svc-server": "server/main.ts",
  "text.worker": "server/domain/articles/text.worker.ts",
  "page.worker": "server/edge/pages/page.worker.ts",
  "article.worker": "server/domain/runs/executors/article.worker.ts",
};

const sourceFolders = ["api", "machines", "realtime", "server"];
const sourceFiles = ["esbuild.config.mjs", "package.json", "tsconfig.json"];

/** Names and bytes of everything that goes into the build. */
function hashSources() {
  const hash = createHash("sha256").update(`esbuild ${version}\n`);
  const inFolders = sourceFolders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  for (const path of [...inFolders, ...sourceFiles.map((file) => join(root, file))].sort()) {
    const bytes = readFileSync(path);
    hash.update(`${relative(root, path)} ${bytes.byteLength}\n`).update(bytes);
  }
  return hash.digest("hex");
}

function replaceFile(path, contents) {
  mkdirSync(dirname(path), { recursive: true });
  const fresh = `${path}.${process.pid}`;
  writeFileSync(fresh, contents);
  renameSync(fresh, path);
}

/** True when something was built. */
export async function buildServer() {
  const hash = hashSources();
  const isWhole = Object.keys(entryPoints).every((name) => existsSync(join(root, "dist", `${name}.js`)));
  if (isWhole && existsSync(stamp) && readFileSync(stamp, "utf8") === hash) return false;
  rmSync(stamp, { force: true });
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints,
    outdir: "dist",
    bundle: true,
    splitting: true,
    minifyWhitespace: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20.19",
    sourcemap: "linked",
    sourcesContent: false,
    banner: { js: "#!/usr/bin/env -S node --enable-source-maps" },
    logLevel: "warning",
    write: false,
  });
  for (const { path, contents } of outputFiles) replaceFile(path, contents);
  replaceFile(stamp, hash);
  return true;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await buildServer();
