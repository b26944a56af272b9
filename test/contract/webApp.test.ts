/** Tests on both hosts how the web app is served: its page, its files and their compressed forms, from a folder of the test. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { startNodeHost } from "../../server/edge/host/node.ts";
import type { StartHost, StreamedBody } from "../../server/edge/host/port.ts";
import { startUwsHost } from "../../server/edge/host/uws.ts";
import { createWebApp } from "../../server/edge/webApp/service.ts";
import { type RawConnection, type RawResponse, rawConnection } from "./rawHttp.ts";
import { baseUrl, useSurface } from "./surfaceFixture.ts";

const html = '<!doctype html><html lang="en"><title>App</title><script type="module" src="/assets/index-Ab3_x-9Z.js"></script></html>\n';
const script = `export const words = ${JSON.stringify("a word of the app ".repeat(200))};\n`;
const style = ":root{color:#123}";
const largeScript = Buffer.from(Array.from({ length: 40_000 }, (_, at) => `export const n${at} = ${at};\n`).join(""));
const font = Uint8Array.from({ length: 256 }, (_, at) => at);
const scriptPath = "/assets/index-Ab3_x-9Z.js";
const screens = ["/", "/sign-in", "/setup", "/account", "/w/", "/w/ws_1", "/w/ws_1/articles/art_1", "/w/ws_1/settings/keys", "/w/%ff/../x"];

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-web-"));
  folders.push(folder);
  return folder;
}

/** Writes a folder as the build does. */
function makeBuild(): string {
  const folder = makeFolder();
  mkdirSync(join(folder, "assets"));
  const write = (name: string, contents: string | Uint8Array) => writeFileSync(join(folder, name), contents);
  write("assets/index-Ab3_x-9Z.js", script);
  write("assets/index-Ab3_x-9Z.js.br", brotliCompressSync(script));
  write("assets/index-Ab3_x-9Z.js.gz", gzipSync(script));
  write("assets/theme-00000000.css", style);
  write("assets/text-00000000.woff2", font);
  write("assets/large-00000000.js", largeScript);
  write("assets/late-00000000.js.4711", "half of a fi");
  write("secret.txt", "beside the page");
  write("index.html", html);
  return folder;
}

const hosts: readonly (readonly [string, StartHost])[] = [
  ["uWebSockets.js", startUwsHost],
  ["node:http", startNodeHost],
];

function useWebApp(folder: string, startHost: StartHost) {
  const warnings: unknown[][] = [];
  const { routes } = createWebApp({ folder, log: { warn: (...given: unknown[]) => void warnings.push(given) } });
  const surface = useSurface({ startHost, app: { routes } });
  const open: RawConnection[] = [];
  afterEach(() => {
    for (const connection of open.splice(0)) connection.destroy();
  });

  /** Sends the path byte for byte. */
  async function send(method: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<RawResponse> {
    const connection = await rawConnection(surface.host.port);
    open.push(connection);
    const lines = Object.entries({ host: "test", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    connection.write(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
    return connection.response({ head: method === "HEAD" });
  }
  return { send, warnings, surface };
}

const text = ({ body }: RawResponse) => body.toString();
const facts = ({ headers }: RawResponse, ...names: string[]) => Object.fromEntries(names.map((name) => [name, headers.get(name)]));

describe.each(hosts)("the web app on %s", (_name, startHost) => {
  const { send, surface } = useWebApp(makeBuild(), startHost);

  it("[WA1] every address of a screen answers the page, which is revalidated for each visit", async () => {
    for (const path of screens) {
      const page = await send("GET", path);
      expect([page.status, text(page)], path).toEqual([200, html]);
      expect(facts(page, "content-type", "cache-control", "content-encoding")).toEqual({
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-cache",
        "content-encoding": undefined,
      });
      const etag = page.headers.get("etag") ?? "";
      expect(etag).toMatch(/^"[\w-]{27}"$/);
      for (const given of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
        const unchanged = await send("GET", path, { "if-none-match": given });
        expect([unchanged.status, unchanged.body.length], given).toEqual([304, 0]);
        expect(facts(unchanged, "etag", "cache-control", "vary")).toEqual(facts(page, "etag", "cache-control", "vary"));
      }
      expect((await send("GET", path, { "if-none-match": `"other"` })).status).toBe(200);
    }
  });

  it("[WA1] HEAD has the headers of GET, OPTIONS lists the methods, and others are 405 with Allow", async () => {
    for (const path of ["/", "/w/ws_1/topics", scriptPath]) {
      const [got, head] = [await send("GET", path), await send("HEAD", path)];
      const compared = ["content-length", "content-type", "etag", "cache-control", "vary"];
      expect([head.status, facts(head, ...compared)], path).toEqual([200, facts(got, ...compared)]);
      expect((await send("OPTIONS", path)).headers.get("allow")).toBe("GET, HEAD, OPTIONS");
      for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
        const refused = await send(method, path, { "content-length": "0" });
        expect([refused.status, refused.headers.get("allow")], `${method} ${path}`).toEqual([405, "GET, HEAD, OPTIONS"]);
        expect(JSON.parse(text(refused))).toMatchObject({ code: "method_not_allowed" });
      }
    }
  });

  it("[WA1] a query and a body change nothing about the answer", async () => {
    const response = await surface.fetch("GET", `${scriptPath}?v=1`);
    expect(await response.text()).toBe(script);
    const connection = await rawConnection(surface.host.port);
    connection.write(`GET /w/ws_1?q=../ HTTP/1.1\r\nhost: test\r\ncontent-length: 5\r\n\r\nhello`);
    expect(text(await connection.response())).toBe(html);
    connection.write("GET /sign-in HTTP/1.1\r\nhost: test\r\n\r\n");
    expect(text(await connection.response())).toBe(html);
    connection.destroy();
  });

  it("[WA2] the page may run, load and call only what this server serves, and no page may frame it", async () => {
    const page = await send("GET", "/");
    expect(facts(page, ...Object.keys(pagePolicy))).toEqual(pagePolicy);
    const unchanged = await send("GET", "/", { "if-none-match": "*" });
    expect(facts(unchanged, ...Object.keys(pagePolicy))).toEqual(pagePolicy);
  });

  it("[WA3] a file is kept for a year, has its media type and may not be read by other origins", async () => {
    for (const [path, type, bytes] of [
      [scriptPath, "text/javascript; charset=utf-8", Buffer.from(script)],
      ["/assets/theme-00000000.css", "text/css; charset=utf-8", Buffer.from(style)],
      ["/assets/text-00000000.woff2", "font/woff2", Buffer.from(font)],
    ] as const) {
      const answer = await send("GET", path, { origin: "https://elsewhere.example" });
      expect([answer.status, answer.body], path).toEqual([200, bytes]);
      expect(facts(answer, "content-type", "cache-control", "cross-origin-resource-policy", "access-control-allow-origin")).toEqual({
        "content-type": type,
        "cache-control": "public, max-age=31536000, immutable",
        "cross-origin-resource-policy": "same-origin",
        "access-control-allow-origin": undefined,
      });
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
      expect((await send("GET", path, { "if-none-match": answer.headers.get("etag") ?? "" })).status).toBe(304);
    }
  });

  it("[WA11] a large file arrives whole, to several clients at once, and HEAD has its headers without a body", async () => {
    const path = "/assets/large-00000000.js";
    const answers = await Promise.all([send("GET", path), send("GET", path), send("GET", path)]);
    for (const { status, body } of answers) expect([status, body.equals(largeScript)]).toEqual([200, true]);
    const head = await send("HEAD", path);
    expect([head.status, facts(head, "content-type", "etag")]).toEqual([200, facts(answers[0], "content-type", "etag")]);
  });

  it("[WA4] the client's preference decides the form, and each form has its own entity tag", async () => {
    for (const [path, whole] of [
      [scriptPath, script],
      ["/w/ws_1", html],
    ] as const) {
      const tags = new Set<string>();
      for (const [accept, coding, decode] of [
        ["gzip, deflate, br", "br", brotliDecompressSync],
        ["br;q=0.1, gzip", "gzip", gunzipSync],
        ["identity", undefined, (bytes: Buffer) => bytes],
      ] as const) {
        const answer = await send("GET", path, { "accept-encoding": accept });
        expect([answer.headers.get("content-encoding"), answer.headers.get("vary")]).toEqual([coding, "accept-encoding"]);
        expect(decode(answer.body).toString()).toBe(whole);
        const etag = answer.headers.get("etag") ?? "";
        tags.add(etag);
        const again = await send("GET", path, { "accept-encoding": accept, "if-none-match": etag });
        expect([again.status, again.headers.get("vary"), again.headers.get("etag")]).toEqual([304, "accept-encoding", etag]);
        expect((await send("HEAD", path, { "accept-encoding": accept })).headers.get("content-length")).toBe(String(answer.body.length));
      }
      expect(tags.size).toBe(3);
      const [brotliTag = ""] = tags;
      expect((await send("GET", path, { "if-none-match": brotliTag })).status).toBe(200);
    }
    const small = await send("GET", "/assets/theme-00000000.css", { "accept-encoding": "br, gzip" });
    expect([text(small), facts(small, "content-encoding", "vary")]).toEqual([style, { "content-encoding": undefined, vary: undefined }]);
  });

  it("[WA5] only the files of the build are served, however a path is spelled", async () => {
    for (const path of [
      "/assets/",
      "/assets/index.js",
      "/assets/index-Ab3_x-9Z.js.br",
      "/assets/index-Ab3_x-9Z.js.gz",
      "/assets/late-00000000.js.4711",
      "/assets/late-00000000.js",
      "/assets/INDEX-Ab3_x-9Z.js",
      "/assets/index-Ab3_x-9Z.js/",
      "/assets/../secret.txt",
      "/assets/..%2fsecret.txt",
      "/assets/%2e%2e%2fsecret.txt",
      "/assets/..%5csecret.txt",
      "/assets/%2e%2e/secret.txt",
      "/assets//etc/passwd",
      "/assets/%2fetc%2fpasswd",
      "/assets/__proto__",
      "/assets/constructor",
      `/assets/${"x".repeat(8000)}`,
      "/assets",
      "/index.html",
      "/secret.txt",
      "/w",
      "/setup/",
      "/sign-in/x",
    ]) {
      const answer = await send("GET", path);
      expect([answer.status, answer.headers.get("content-type")], path).toEqual([404, "application/problem+json"]);
      expect(JSON.parse(text(answer))).toMatchObject({ code: "not_found", type: `${baseUrl}/problems/not_found` });
      expect(text(answer)).not.toContain("beside the page");
    }
    expect((await send("GET", "/assets/%ff")).status).toBe(400);
    expect(text(await send("GET", "/assets/index-Ab3_x-9Z%2Ejs"))).toBe(script);
  });

  it("[WA5] what the server itself serves keeps its addresses", async () => {
    expect(text(await send("GET", "/openapi.json"))).toContain('"openapi":"3.0.0"');
    const problems = await send("GET", "/problems");
    const [, own = ""] = /href="(assets\/[^"]+)"/.exec(text(problems)) ?? [];
    expect(facts(await send("GET", `/${own}`), "content-type")).toEqual({ "content-type": "text/css; charset=utf-8" });
    expect((await send("GET", "/workspaces")).status).toBe(401);
  });
});

const pagePolicy = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: https:; font-src 'self'; connect-src 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; object-src 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy":
    "camera=(), microphone=(), geolocation=(), payment=(), usb=(), midi=(), accelerometer=(), gyroscope=(), magnetometer=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

describe.each(hosts)("a server without a built web app on %s", (_name, startHost) => {
  const folder = makeFolder();
  const { send, warnings, surface } = useWebApp(folder, startHost);

  it("[WA6] it names the command that builds the app, in the log too, and the API works", async () => {
    expect(warnings).toEqual([[{ folder }, expect.stringContaining("npm run build")]]);
    for (const path of screens) {
      const answer = await send("GET", path);
      expect(answer.status, path).toBe(404);
      expect(JSON.parse(text(answer))).toMatchObject({ code: "not_found", detail: expect.stringContaining('"npm run build"') });
    }
    expect((await send("GET", scriptPath)).status).toBe(404);
    expect((await surface.fetch("GET", "/openapi.json")).status).toBe(200);
  });
});

describe("a large file of the web app", () => {
  it("[WA11] a client that does not read holds one piece, and the rest follows when it reads", async () => {
    const { routes } = createWebApp({ folder: makeBuild(), log: { warn: () => undefined } });
    const assetRoute = routes.find(({ path }) => path.startsWith("/assets/"));
    const reply = await assetRoute?.handle({ header: () => undefined } as never, { name: "large-00000000.js" });
    const body = reply?.body as StreamedBody;
    const written: Uint8Array[] = [];
    const ended = new Promise<void>((resolve) => {
      body.open({
        write(piece) {
          written.push(piece);
          return false;
        },
        end: resolve,
        cut: (error) => {
          throw error;
        },
      });
    });
    await expect.poll(() => written.length).toBe(1);
    expect(written[0]?.byteLength).toBe(64 * 1024);
    let isOver = false;
    void ended.then(() => (isOver = true));
    while (!isOver) {
      const before = written.length;
      body.drain();
      await expect.poll(() => isOver || written.length > before).toBe(true);
    }
    expect(Buffer.concat(written).equals(largeScript)).toBe(true);
  });
});

describe("reading the web app", () => {
  it("[WA6] a folder that no build has written is refused with a warning and does not stop the start", () => {
    const folder = makeFolder();
    writeFileSync(join(folder, "index.html"), html);
    const warnings: unknown[][] = [];
    const { routes } = createWebApp({ folder, log: { warn: (...given: unknown[]) => void warnings.push(given) } });
    expect(warnings).toEqual([[{ err: expect.any(Error), folder }, expect.stringContaining("npm run build")]]);
    expect(() => routes[0]?.handle({} as never, {})).toThrow("npm run build");
  });

  it("[WA7] files are read once, at the start", async () => {
    const folder = makeBuild();
    const { routes } = createWebApp({ folder, log: { warn: () => undefined } });
    rmSync(folder, { recursive: true });
    const page = await routes[0]?.handle({ header: () => undefined } as never, {});
    expect(Buffer.from(page?.body as Uint8Array).toString()).toBe(html);
  });
});
