/** Sends hostile Cookie headers, as raw bytes, to the routes of the web session on each host. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startNodeHost } from "../../server/edge/host/node.ts";
import type { StartHost } from "../../server/edge/host/port.ts";
import { startUwsHost } from "../../server/edge/host/uws.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import { openBrowser } from "../support/webPage.ts";
import { createIdentity, type Identity, password, recordTypes } from "./identityFixture.ts";
import { type IdentityHost, startIdentityHost } from "./identityHost.ts";
import { rawConnection } from "./rawHttp.ts";

const origin = "https://content.example";
const root = { username: "root", password };
const KiB = 1024;

const hosts: readonly [name: string, start: StartHost][] = [
  ["uWebSockets.js", startUwsHost],
  ["node:http", startNodeHost],
];

/** The good cookie → lines of Cookie headers, as Latin-1. */
const hostile: Readonly<Record<string, (good: string) => readonly string[]>> = {
  "8 KiB in one value": () => [`svc_session=${"x".repeat(8 * KiB)}`],
  "8 KiB in another cookie, and the good one twice": (good) => [`a=${"x".repeat(8 * KiB)}; svc_session=${good}; svc_session=${good}`],
  "thousands of cookies of this name": () => [Array.from({ length: 3000 }, (_, at) => `svc_session=${at}`).join("; ")],
  "thousands of empty pairs": () => [";".repeat(50 * KiB)],
  "thousands of equals signs": () => [`svc_session${"=".repeat(50 * KiB)}`],
  "thousands of spaces": () => [`svc_session=x${" ".repeat(50 * KiB)}y`],
  "open quotes": (good) => [`a="; svc_session="${good}; b=\\"`],
  "names of prototypes": () => ["__proto__=1; constructor=2; toString=3"],
  "bytes that are not ASCII": () => ["svc_session=\xc3\xa9\xff\x80x; a=\xf0\x9f\x92\xa9"],
  "a tab and a comma": (good) => [`svc_session=\t${good},svc_session=1`],
  "two headers": (good) => [`svc_session=${good}`, `svc_session=${good}`],
  "eighty headers": () => Array.from({ length: 80 }, (_, at) => `c${at}=1`),
  "no value at all": () => [""],
  "percent signs": () => ["svc_session=%00%ff%; %=%"],
  "a header above the limit of the head": () => [`svc_session=${"x".repeat(70 * KiB)}`],
};

describe.each(hosts)("cookies on %s", (_name, startHost) => {
  let identity: Identity;
  let served: IdentityHost;

  beforeAll(async () => {
    const storage = createMemoryStorage({ recordTypes: recordTypes as never });
    const clock = {
      get nowMs() {
        return Date.now();
      },
    };
    identity = await createIdentity({ storage, clock }, { limits: { "rate.auth": "off", "rate.default": "off", "rate.writes": "off" } });
    await identity.prepare(root);
    served = await startIdentityHost(identity, { startHost });
  });
  afterAll(async () => {
    await served.host.close();
    await identity.settled();
  });

  async function statusOf(method: string, path: string, lines: readonly string[], body = ""): Promise<number> {
    const client = await rawConnection(served.host.port);
    const headers = [
      "host: content.example",
      `origin: ${origin}`,
      "x-svc-web: 1",
      "content-type: application/json",
      `content-length: ${body.length}`,
      ...lines.map((line) => `cookie: ${line}`),
    ];
    client.write(Buffer.from(`${method} ${path} HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n${body}`, "latin1"));
    const { status } = await client.response();
    client.destroy();
    return status;
  }

  it.each(Object.entries(hostile))("[AU49] %s: never a 5xx, no session is renewed, and a sign-in works", async (name, toLines) => {
    const browser = openBrowser(`http://127.0.0.1:${served.host.port}`, origin);
    await browser.open(root);
    const lines = toLines(browser.cookie ?? "");
    const isTooLarge = name.includes("above the limit");
    expect(await statusOf("POST", "/auth/web-session/refresh", lines)).toBe(isTooLarge ? 431 : 401);
    expect(await statusOf("POST", "/auth/web-session", lines, JSON.stringify(root))).toBe(isTooLarge ? 431 : 200);
    expect(await statusOf("DELETE", "/auth/web-session", lines)).toBe(isTooLarge ? 431 : 204);
    expect(await statusOf("GET", "/.well-known/jwks.json", lines)).toBe(isTooLarge ? 431 : 200);
    // None of these cookies names the session, so it has not ended.
    expect((await browser.renew()).status).toBe(200);
    expect(served.logged.filter((line) => line.includes("because of a bug"))).toEqual([]);
  });
});
