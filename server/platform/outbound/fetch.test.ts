import { createServer, type Server } from "node:net";
import { createServer as createTlsServer, type SecureContext } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CertificateAuthority, createCertificateAuthority } from "../../../test/support/certificateAuthority.ts";
import { type Receiver, startReceiver } from "../../../test/support/receiver.ts";
import { createOutboundFetch, type OutboundRequest } from "./fetch.ts";
import { createPublicAddresses } from "./publicAddress.ts";
import { createCheckPublicUrl } from "./publicUrl.ts";
import type { Resolve } from "./resolver.ts";

let authority: CertificateAuthority;
let secureContext: SecureContext;
let receiver: Receiver;
const zone: Record<string, readonly string[][]> = {};
const asked: string[] = [];

/** The answers for a name may change from one lookup to the next. The last answer is repeated. */
const resolve: Resolve = async (hostname) => {
  asked.push(hostname);
  const answers = zone[hostname] ?? [];
  return answers[Math.min(asked.filter((name) => name === hostname).length, answers.length) - 1] ?? [];
};

const gate = (allow: readonly string[]) =>
  createCheckPublicUrl({ addresses: createPublicAddresses(allow), resolve, maxLength: 2048, resolveTimeoutMs: 1000 });

function request(url: string, more: Partial<OutboundRequest> = {}): OutboundRequest {
  const { signal } = new AbortController();
  return { url, method: "POST", headers: {}, body: "{}", totalMs: 10_000, connectMs: 5000, maxResponseBytes: 1000, signal, ...more };
}

const fetch = (url: string, more: Partial<OutboundRequest> = {}) =>
  createOutboundFetch({ checkUrl: gate(["127.0.0.0/8"]), secureContext })(request(url, more));

beforeAll(async () => {
  authority = await createCertificateAuthority();
  secureContext = await authority.secureContext();
  receiver = await startReceiver({
    authority,
    hosts: ["127.0.0.1", "hooks.example.com"],
    answer: ({ path }) => {
      if (path === "/redirect") return { status: 302, headers: { location: `${receiver.url}/elsewhere` } };
      if (path === "/gzip") return { status: 200, headers: { "content-encoding": "gzip" }, body: Buffer.alloc(3000, 1) };
      if (path === "/hang" || path === "/reset" || path === "/drip" || path === "/flood") return path.slice(1) as "hang";
      return { status: 200, headers: { "x-answer": "yes" }, body: "thanks" };
    },
  });
});

afterAll(async () => {
  await receiver.close();
  await authority.remove();
});

describe("fetch", () => {
  const at = (path: string, host = "127.0.0.1") => `https://${host}:${receiver.port}${path}`;

  test("[OB8] a caller that withdraws when the connection is open has sent nothing, and its error is thrown", async () => {
    const before = receiver.received.length;
    const trouble = new Error("nobody knows");
    expect(await fetch(at("/asked"), { isStillWanted: async () => false })).toEqual({ kind: "withheld" });
    await expect(fetch(at("/asked"), { isStillWanted: () => Promise.reject(trouble) })).rejects.toBe(trouble);
    expect(await fetch(at("/asked"), { isStillWanted: async () => true })).toMatchObject({ kind: "answered", status: 200 });
    expect(receiver.received.length).toBe(before + 1);
  });

  test("[OB3] the request goes to the checked address while Host and SNI keep the name", async () => {
    zone["hooks.example.com"] = [["127.0.0.1"]];
    asked.length = 0;
    const outcome = await fetch(at("/hook?x=1", "hooks.example.com"), { headers: { "x-one": "1" }, body: "hello" });
    expect(outcome).toMatchObject({ kind: "answered", status: 200, headers: { "x-answer": "yes" } });
    expect(asked).toEqual(["hooks.example.com"]);
    const got = receiver.received.at(-1);
    expect(got).toMatchObject({ method: "POST", path: "/hook?x=1" });
    expect(got?.body.toString()).toBe("hello");
    expect(got?.headers).toEqual({ host: `hooks.example.com:${receiver.port}`, connection: "close", "content-length": "5", "x-one": "1" });
  });

  test("[OB3] a name that resolves differently at the second request is refused then", async () => {
    zone["rebind.example.com"] = [["127.0.0.1"], ["10.0.0.1"]];
    expect(await fetch(at("/hook", "rebind.example.com"))).toEqual({ kind: "failed", reason: "certificate_invalid" });
    expect(await fetch(at("/hook", "rebind.example.com"))).toEqual({ kind: "failed", reason: "url_not_public" });
  });

  test("[OB3] nothing is dialled if a single address is not public", async () => {
    zone["mixed.example.com"] = [["127.0.0.1", "192.168.0.1"]];
    const before = receiver.connections.most + receiver.received.length;
    expect(await fetch(at("/hook", "mixed.example.com"))).toEqual({ kind: "failed", reason: "url_not_public" });
    const strict = createOutboundFetch({ checkUrl: gate([]), secureContext });
    expect(await strict(request(at("/hook")))).toEqual({ kind: "failed", reason: "url_not_public" });
    expect(receiver.connections.most + receiver.received.length).toBe(before);
  });

  test("[OB4] a redirect counts as an answer and is not followed", async () => {
    const count = receiver.received.length;
    expect(await fetch(at("/redirect"))).toMatchObject({ kind: "answered", status: 302 });
    expect(receiver.received.length).toBe(count + 1);
  });

  test("[OB4] every request has its own connection, which is closed after it", async () => {
    await Promise.all([fetch(at("/a")), fetch(at("/b")), fetch(at("/c"))]);
    await expect.poll(() => receiver.connections.open, { timeout: 10_000 }).toBe(0);
  });

  test("[OB4] an answer is read up to its limit, head included, and never decompressed", async () => {
    const gzip = await fetch(at("/gzip"));
    expect(gzip).toMatchObject({ status: 200, headers: { "content-encoding": "gzip" } });
    const body = gzip.kind === "answered" ? Buffer.from(gzip.body) : Buffer.alloc(0);
    expect(body.length).toBeGreaterThan(500);
    expect(body.length).toBeLessThan(1000);
    expect(body.every((byte) => byte === 1)).toBe(true);
    const flood = await fetch(at("/flood"));
    expect(flood.kind === "answered" && flood.body.length).toBeLessThan(1000);
    await expect.poll(() => receiver.connections.open, { timeout: 10_000 }).toBe(0);
  });

  test("[OB4] time is limited: a late head is a failure, and a late body ends where it is", async () => {
    expect(await fetch(at("/hang"), { totalMs: 150 })).toEqual({ kind: "failed", reason: "timeout" });
    const drip = await fetch(at("/drip"), { totalMs: 1500 });
    expect(drip).toMatchObject({ kind: "answered", status: 200 });
    await expect.poll(() => receiver.connections.open, { timeout: 10_000 }).toBe(0);
  });

  test("[OB4] a peer that accepts and then stays silent reaches the connect limit", async () => {
    const silent: Server = createServer(() => {});
    await new Promise<void>((listening) => silent.listen(0, "127.0.0.1", listening));
    const { port } = silent.address() as { port: number };
    expect(await fetch(`https://127.0.0.1:${port}/`, { connectMs: 100 })).toEqual({ kind: "failed", reason: "connect_timeout" });
    silent.close();
    expect(await fetch(`https://127.0.0.1:${port}/`)).toEqual({ kind: "failed", reason: "connection_refused" });
  });

  test("[OB4] a cut connection, a foreign certificate and a wrong name have different errors", async () => {
    expect(await fetch(at("/reset"))).toEqual({ kind: "failed", reason: "connection_reset" });
    zone["other.example.com"] = [["127.0.0.1"]];
    expect(await fetch(at("/hook", "other.example.com"))).toEqual({ kind: "failed", reason: "certificate_invalid" });
    const withoutAuthority = createOutboundFetch({ checkUrl: gate(["127.0.0.0/8"]) });
    expect(await withoutAuthority(request(at("/hook")))).toEqual({ kind: "failed", reason: "certificate_invalid" });
  });

  test("[OB4] an answer that is not HTTP/1.1, or whose head has no end, is a failure", async () => {
    const heads = [
      "nonsense\r\n\r\n",
      "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
      `HTTP/1.1 200 OK\r\n${"x-a: b\r\n".repeat(10_000)}`,
    ];
    const server = createTlsServer(await authority.issue(["127.0.0.1"]), (socket) => {
      socket.on("error", () => {});
      socket.once("data", () => void socket.end(heads.shift() ?? ""));
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const { port } = server.address() as { port: number };
    for (const reason of ["answer_invalid", "answer_invalid", "answer_too_long"]) {
      expect(await fetch(`https://127.0.0.1:${port}/`)).toEqual({ kind: "failed", reason });
    }
    server.close();
  });

  test("[OB4] the caller's abort ends the request and is thrown", async () => {
    const caller = new AbortController();
    const pending = fetch(at("/hang"), { signal: caller.signal });
    await receiver.waitForCount(receiver.received.length + 1);
    caller.abort(new Error("draining"));
    await expect(pending).rejects.toThrow("draining");
    await expect.poll(() => receiver.connections.open, { timeout: 10_000 }).toBe(0);
  });
});
