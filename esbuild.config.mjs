/**
 * Builds the server into `dist/svc-server.js`, and beside it one file for each program of its threads and for each part
 * that is loaded only when it is needed. A build whose sources did not change since the last one is not made again, so
 * `npm start` costs a hash.
 * Each file appears whole or not at all, and parts have the hash of their content in their name: a start beside a build
 * reads one build only. Parts of earlier builds are removed after a day.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { build, version } from "esbuild";

const root = import.meta.dirname;
const stamp = join(root, "dist", "svc-server.hash");

/** The server, and the programs of its threads and child processes, which it finds beside itself. */
const entryPoints = {
  "svc-server": "server/main.ts",
  "text.worker": "server/domain/articles/text.worker.ts",
  "page.worker": "server/edge/pages/page.worker.ts",
  "card.worker": "server/edge/pages/card.worker.ts",
  "render.worker": "server/domain/conversions/render.worker.ts",
  "article.worker": "server/domain/runs/executors/article.worker.ts",
  "review.worker": "server/domain/reviews/review.worker.ts",
  "search.worker": "server/domain/search/search.worker.ts",
  "conversion.child": "server/domain/conversions/conversion.child.ts",
};

/**
 * Packages that become part of the build: every start loads them, from 170 small files. The others stay external, because
 * they have native parts or data files, or are loaded only when they are used.
 */
const bundledPackages = ["zod", "jose", "lib0", "yjs"];
const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
export const externalPackages = Object.keys(dependencies).filter((name) => !bundledPackages.includes(name));

const sourceFolders = ["api", "machines", "realtime", "server"];
const sourceFiles = ["esbuild.config.mjs", "package.json", "package-lock.json", "tsconfig.json"];

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

/** Removes what earlier builds left. A server that is running may still load the parts of its own build. */
function removeOldParts(names) {
  const dist = dirname(stamp);
  for (const name of readdirSync(dist)) {
    const isOld = statSync(join(dist, name)).mtimeMs < Date.now() - 24 * 3_600_000;
    if (isOld && /-[A-Z0-9]{8}\.js(\.map)?$/.test(name) && !names.has(name)) rmSync(join(dist, name), { force: true });
  }
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
    external: externalPackages,
    platform: "node",
    format: "esm",
    target: "node20.19",
    sourcemap: "linked",
    sourcesContent: false,
    banner: { js: "#!/usr/bin/env -S node --enable-source-maps" },
    logLevel: "warning",
    write: false,
  });
  const names = new Set(outputFiles.map(({ path }) => basename(path)));
  const isEntry = ({ path }) => Object.keys(entryPoints).includes(basename(path).replace(/\.js(\.map)?$/, ""));
  // The entry points come last, because they name the parts.
  for (const { path, contents } of outputFiles.sort((one, other) => isEntry(one) - isEntry(other))) replaceFile(path, contents);
  replaceFile(stamp, hash);
  removeOldParts(names);
  return true;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await buildServer();
