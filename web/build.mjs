/**
 * Builds the web app into `dist/web`, which the server serves (docs/webApp.md). A build whose sources did not change since
 * the last one is not made again, so `npm start` costs a hash.
 *
 * Every file except `index.html` has the hash of its content in its name, and `index.html` is written last: whoever reads
 * it first and the other files afterwards reads one build. Beside a file are its compressed forms, `.br` and `.gz`. Files
 * of earlier builds stay for a day, because open tabs load parts of the build that they began with.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join, parse, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const sourceFolders = ["web", "client", "api", "machines"];
const sourceFiles = ["package-lock.json", "tsconfig.json"];

/** Other names would be served for a year under content that may change. */
const hashedName = /^assets\/[\w.@+-]+-[\w-]{8}\.[a-z0-9]+$/;
const compressible = /\.(?:css|html|js|json|svg|ttf|txt|wasm|xml)$/;
const forms = [".br", ".gz"];

const keepMs = 24 * 3_600_000;
/** At most this many files of earlier builds are kept, those that were replaced last. */
const maxEarlierFiles = 1000;

/** Names and bytes of everything that goes into the build. */
function hashSources(root) {
  const hash = createHash("sha256");
  const inFolders = sourceFolders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  for (const path of [...inFolders, ...sourceFiles.map((file) => join(root, file))].sort()) {
    const bytes = readFileSync(path);
    hash.update(`${relative(root, path)} ${bytes.byteLength}\n`).update(bytes);
  }
  return hash.digest("hex");
}

/** The hash of the sources of the last complete build, and the names of its files. */
function readStamp(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : { hash: "", files: [] };
}

function replaceFile(path, contents) {
  mkdirSync(dirname(path), { recursive: true });
  const fresh = `${path}.${process.pid}`;
  writeFileSync(fresh, contents);
  renameSync(fresh, path);
}

/** Runs Vite. Returns the text of `index.html`, and the other files by their names, such as `assets/index-B4sB7x2c.js`. */
async function bundle(web) {
  // Otherwise a build that a test starts would contain the development form of React.
  process.env.NODE_ENV = "production";
  const { build } = await import("vite");
  const built = await build({
    configFile: join(web, "vite.config.ts"),
    root: web,
    logLevel: "warn",
    build: { write: false, sourcemap: false },
  });
  const files = new Map(
    [built]
      .flat()
      .flatMap(({ output }) => output.map((file) => [file.fileName, Buffer.from(file.type === "chunk" ? file.code : file.source)])),
  );
  const html = files.get("index.html")?.toString() ?? "";
  files.delete("index.html");
  return { html, files };
}

/** Gives the files of `web/public` a hash in their name, too. Only `index.html` may name them. */
function addPublicFiles(web, html, files) {
  const folder = join(web, "public");
  let named = html;
  for (const file of existsSync(folder) ? readdirSync(folder) : []) {
    const bytes = readFileSync(join(folder, file));
    const { name, ext } = parse(file);
    const asset = `assets/${name}-${createHash("sha256").update(bytes).digest("base64url").slice(0, 8)}${ext}`;
    if (!named.includes(`"/${file}"`)) {
      throw new Error(`web/index.html does not name "/${file}". Files that the source uses belong beside the source, which imports them.`);
    }
    named = named.replaceAll(`"/${file}"`, `"/${asset}"`);
    files.set(asset, bytes);
  }
  return named;
}

async function compress(bytes) {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength };
  return Promise.all([promisify(brotliCompress)(bytes, { params }), promisify(gzip)(bytes, { level: 9 })]);
}

/** Writes a file after its compressed forms. A file that is there with the same bytes has them. */
async function writeWithForms(path, bytes) {
  if (existsSync(path) && readFileSync(path).equals(bytes)) return;
  if (compressible.test(path)) {
    const compressed = await compress(bytes);
    for (const [at, form] of forms.entries()) {
      if (compressed[at].byteLength < bytes.byteLength) replaceFile(path + form, compressed[at]);
    }
  }
  replaceFile(path, bytes);
}

/** The time of a file of an earlier build is that of its replacement. */
function removeEarlierFiles(folder, files) {
  const kept = new Set(files);
  const earlier = readdirSync(join(folder, "assets"))
    .filter((file) => !kept.has(`assets/${file}`))
    .map((file) => join(folder, "assets", file))
    .map((path) => ({ path, mtimeMs: statSync(path).mtimeMs }))
    .sort((one, other) => other.mtimeMs - one.mtimeMs);
  for (const [at, { path, mtimeMs }] of earlier.entries()) {
    if (at >= maxEarlierFiles || mtimeMs < Date.now() - keepMs) rmSync(path, { force: true });
  }
}

/** True when something was built. `root` is the folder that has `web` and `dist`. */
async function buildWeb(root) {
  const web = join(root, "web");
  const folder = join(root, "dist", "web");
  const stamp = join(root, "dist", "web.json");
  const hash = hashSources(root);
  const last = readStamp(stamp);
  const present = last.files.filter((file) => existsSync(join(folder, file)));
  if (last.hash === hash && present.length === last.files.length) return false;

  const { html, files } = await bundle(web);
  const index = addPublicFiles(web, html, files);
  for (const file of files.keys()) {
    if (!hashedName.test(file)) throw new Error(`the web app's build has the file ${file}; it must be in assets, with a hash in its name`);
  }

  // Without a stamp the next build is made again, if this one does not come to its end.
  rmSync(stamp, { force: true });
  const now = new Date();
  for (const file of present) utimesSync(join(folder, file), now, now);
  await Promise.all([...files].map(([file, bytes]) => writeWithForms(join(folder, file), bytes)));
  replaceFile(join(folder, "index.html"), index);
  const written = [...files.keys()].flatMap((file) => [file, ...forms.map((form) => file + form)]);
  const names = ["index.html", ...written.filter((file) => existsSync(join(folder, file)))];
  replaceFile(stamp, JSON.stringify({ hash, files: names }));
  removeEarlierFiles(folder, names);
  return true;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await buildWeb(process.argv[2] ?? dirname(import.meta.dirname));
