/** Tests the build of the web app on a small app of the test, in a folder with the layout of the repository. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readWebFiles } from "../../server/edge/webApp/webFiles.ts";
import { runBuild } from "../support/runBuild.ts";

let root: string;
const at = (path: string) => join(root, path);
const dist = (path: string) => join(root, "dist/web", path);

function write(path: string, text: string): void {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "svc-web-build-"));
  write("package-lock.json", "{}");
  write("tsconfig.json", "{}");
  write("api/limits.ts", "export const limit = 1;\n");
  write("machines/topic.ts", "export const first = 'research';\n");
  write("client/call.ts", 'export const call = (name: string): string => "calling " + name;\n');
  write("web/vite.config.ts", "export default { build: { assetsInlineLimit: 0, modulePreload: { polyfill: false } } };\n");
  write("web/index.html", page('<script src="/theme.js"></script>'));
  write("web/public/theme.js", "document.documentElement.dataset.theme = 'dark';\n");
  write(
    "web/src/main.ts",
    'import { call } from "../../client/call.ts";\nimport "./main.css";\nvoid import("./later.ts").then(({ say }) => say(call("it")));\n',
  );
  write(
    "web/src/later.ts",
    `export const say = (text: string): void => console.log(text, ${JSON.stringify("many words ".repeat(100))});\n`,
  );
  write("web/src/main.css", "body { color: #123456; }\n");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const page = (head: string) =>
  `<!doctype html><html lang="en"><head>${head}<script type="module" src="/src/main.ts"></script></head><body></body></html>\n`;
const build = () => runBuild("the app of the test", "web/build.mjs", [root]);
const html = () => readFileSync(dist("index.html"), "utf8");
const assets = () => readdirSync(dist("assets")).sort();
const startingWith = (start: string) => assets().find((name) => name.startsWith(start) && /\.(js|css)$/.test(name)) ?? "";

test("[WA10] every file but the page has a hash in its name, and a smaller compressed form beside it", () => {
  build();
  const names = [...html().matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = ""]) => address);
  expect(names.length).toBe(3);
  for (const name of names) expect(name).toMatch(/^\/assets\/(theme|index)-[\w-]{8}\.(js|css)$/);
  expect(readFileSync(dist(`assets/${startingWith("theme-")}`), "utf8")).toContain("dataset.theme");
  const later = startingWith("later-");
  const whole = readFileSync(dist(`assets/${later}`), "utf8");
  expect(brotliDecompressSync(readFileSync(dist(`assets/${later}.br`))).toString()).toBe(whole);
  expect(gunzipSync(readFileSync(dist(`assets/${later}.gz`))).toString()).toBe(whole);
  for (const name of assets().filter((each) => /\.(br|gz)$/.test(each))) {
    expect(statSync(dist(`assets/${name}`)).size, name).toBeLessThan(statSync(dist(`assets/${name.slice(0, -3)}`)).size);
  }
  expect(assets().filter((name) => !/-[\w-]{8}\.\w+(\.br|\.gz)?$/.test(name))).toEqual([]);
});

test("[WA10] an unchanged source is not built again, and each changed one is", () => {
  build();
  const marked = `${html()}<!-- not built again -->`;
  writeFileSync(dist("index.html"), marked);
  build();
  expect(html()).toBe(marked);
  write("web/src/later.test.ts", "// Tests are not part of the app.\n");
  build();
  expect(html()).toBe(marked);
  for (const [path, text] of [
    ["client/call.ts", 'export const call = (name: string): string => "asking " + name;\n'],
    ["api/limits.ts", "export const limit = 2;\n"],
    ["machines/topic.ts", "export const first = 'outline';\n"],
    ["package-lock.json", '{"lockfileVersion":3}'],
    ["web/public/theme.js", "document.documentElement.dataset.theme = 'light';\n"],
  ] as const) {
    writeFileSync(dist("index.html"), marked);
    write(path, text);
    build();
    expect(html(), path).not.toBe(marked);
  }
  rmSync(dist(`assets/${startingWith("later-")}`));
  build();
  expect(startingWith("later-")).not.toBe("");
});

test("[WA7] files of earlier builds are served for a day after they were replaced", () => {
  build();
  const first = startingWith("later-");
  // The first build is older than a day. Its files count from the moment at which the next build replaces them.
  const dayAndMore = new Date(Date.now() - 25 * 3_600_000);
  for (const name of assets()) utimesSync(dist(`assets/${name}`), dayAndMore, dayAndMore);
  write("web/src/later.ts", "export const say = (text: string): void => console.log(text);\n");
  build();
  const second = assets().find((name) => /^later-.*\.js$/.test(name) && name !== first) ?? "";
  const served = readWebFiles(join(root, "dist/web"))?.assets;
  expect([served?.has(first), served?.has(second)]).toEqual([true, true]);

  for (const name of assets().filter((each) => each.startsWith(first))) utimesSync(dist(`assets/${name}`), dayAndMore, dayAndMore);
  write("web/src/later.ts", "export const say = (text: string): void => console.info(text);\n");
  build();
  expect(assets().filter((name) => name.startsWith(first))).toEqual([]);
  expect(assets()).toContain(second);
});

test("[WA7] a build that fails or was interrupted leaves the served build whole, and is made again", () => {
  build();
  const before = { html: html(), assets: assets() };
  write("web/src/later.ts", "export const say = (;\n");
  expect(build).toThrow("could not be built");
  expect({ html: html(), assets: assets() }).toEqual(before);

  // An interrupted build has removed its stamp, written some files and not the page.
  rmSync(at("dist/web.json"));
  writeFileSync(dist("assets/later-ffffffff.js.4711"), "half of a fi");
  expect(readWebFiles(join(root, "dist/web"))?.assets.size).toBe(before.assets.filter((name) => !/\.(br|gz)$/.test(name)).length);
  write("web/src/later.ts", "export const say = (text: string): void => console.warn(text);\n");
  build();
  expect(html()).not.toBe(before.html);
});

test("[WA10] a file that no hash names is refused with what to do", () => {
  write("web/public/robots.txt", "nobody names this file\n");
  expect(build).toThrow('does not name "/robots.txt"');
});
