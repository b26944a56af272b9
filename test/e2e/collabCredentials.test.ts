/** Sockets without a credential or with a refused one: how much they may cost, and that others are not affected. */
import { connect } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import { WebsocketProvider } from "y-websocket";
import { WebsocketProvider as OldProvider } from "y-websocket-3.0";
import * as Y from "yjs";
import { startNodeHost } from "../../server/edge/host/node.ts";
import { socketLingerMs } from "../../server/edge/host/port.ts";
import { startUwsHost } from "../../server/edge/host/uws.ts";
import { after } from "../../server/platform/actors/after.ts";
import {
  type CollabServer,
  type CollabServerOptions,
  closeOf,
  credentialFrame,
  expectAdmitted,
  startCollabServer,
} from "../support/collabServer.ts";

let server: CollabServer;
const ended: (() => void)[] = [];

afterEach(async () => {
  for (const end of ended.splice(0)) end();
  await server.close();
  expect(server.errors).toEqual([]);
});

const until = (check: () => void) => vi.waitFor(check, { timeout: 15_000, interval: 10 });
const goodTicket = "/art_one?ticket=tkt_ada@article:art_one";
const badTicket = "/art_one?ticket=tkt_ada@article:art_two";
const from = (address: string) => ({ "x-forwarded-for": address });

/** Timers of one length run when the test runs them; all others run by themselves. */
function heldTimers(heldMs: number) {
  const waiting = new Set<() => void>();
  const later: typeof after = (delayMs, run) => {
    if (delayMs !== heldMs) return after(delayMs, run);
    waiting.add(run);
    return () => waiting.delete(run);
  };
  const runAll = () => {
    for (const run of [...waiting]) {
      waiting.delete(run);
      run();
    }
  };
  return { later, waiting, runAll };
}

async function start(options: CollabServerOptions): Promise<void> {
  server = await startCollabServer(startUwsHost, options);
  server.roles.set("ada", "write");
}

describe("repeated refusals", () => {
  const Old = OldProvider as unknown as typeof WebsocketProvider;
  const refusalMs = 77_777;
  const limits = { "rate.refusals": { count: 1, seconds: 3600, burst: 3 }, "socket.refusalMs": refusalMs };

  /** Creates a stock client with a ticket for another article, and records its close codes. */
  function refusedClient(Stock: typeof WebsocketProvider) {
    const provider = new Stock(server.url, "art_one", new Y.Doc(), {
      params: { ticket: "tkt_ada@article:art_two" },
      WebSocketPolyfill: WebSocket as unknown as typeof globalThis.WebSocket,
      disableBc: true,
    });
    const closes: number[] = [];
    provider.on("connection-close", (event) => closes.push(event?.code ?? 0));
    ended.push(() => provider.destroy());
    return { provider, closes };
  }

  it("[RT52] y-websocket 3.0 with a refused ticket is delayed after a few attempts; others are not", async () => {
    const timers = heldTimers(refusalMs);
    await start({ limits, later: timers.later });
    const { closes } = refusedClient(Old);
    await until(() => expect(timers.waiting.size).toBe(1));
    expect(closes).toEqual([4401, 4401, 4401]);
    await expectAdmitted(await server.socket(goodTicket));
    // Another refused ticket of the same address is refused at once.
    expect((await closeOf(await server.socket("/art_one?ticket=tkt_bob@article:art_two"))).code).toBe(4401);
    expect(server.rooms.stats().connections).toBe(1);
    expect(closes).toHaveLength(3);
    timers.runAll();
    await until(() => expect(closes).toEqual([4401, 4401, 4401, 4401]));
    await until(() => expect(timers.waiting.size).toBe(1));
  });

  it("[RT52] above sockets.held a refusal is immediate; a client that leaves frees its place", async () => {
    const timers = heldTimers(refusalMs);
    await start({ limits: { ...limits, "sockets.held": 1 }, later: timers.later });
    const { provider, closes } = refusedClient(Old);
    await until(() => expect(timers.waiting.size).toBe(1));
    expect(closes).toHaveLength(3);
    expect((await closeOf(await server.socket(badTicket))).code).toBe(4401);
    provider.destroy();
    await until(() => expect(timers.waiting.size).toBe(0));
    refusedClient(Old);
    await until(() => expect(timers.waiting.size).toBe(1));
  });

  it("[RT52] y-websocket 3.1 stops after one refusal", async () => {
    await start({ limits });
    const { provider, closes } = refusedClient(WebsocketProvider);
    const closed = await new Promise<{ code: number }>((resolve) => provider.once("closed", resolve));
    expect(closed.code).toBe(4401);
    expect(provider.shouldConnect).toBe(false);
    expect(closes).toEqual([4401]);
  });
});

it("[RT53] an address above rate.upgrades gets 429 with Retry-After before the handshake", async () => {
  await start({ limits: { "rate.upgrades": { count: 1, seconds: 1, burst: 2 } }, proxyHops: 1 });
  for (let times = 0; times < 2; times += 1) await expectAdmitted(await server.socket(goodTicket, from("203.0.113.1")));
  const refused = new WebSocket(server.url + goodTicket, { headers: from("203.0.113.1") });
  refused.on("error", () => undefined);
  const [status, headers, body] = await new Promise<[number | undefined, Record<string, unknown>, string]>((resolve) => {
    refused.once("unexpected-response", async (_request, response) => {
      let text = "";
      for await (const chunk of response) text += chunk;
      resolve([response.statusCode, response.headers, text]);
    });
  });
  expect([status, headers["retry-after"], JSON.parse(body).code]).toEqual([429, "1", "rate_limited"]);
  await expectAdmitted(await server.socket(goodTicket, from("203.0.113.2")));
});

it("[RT54] sockets without a credential are limited per address and process; others are not counted", async () => {
  const timers = heldTimers(socketLingerMs);
  const limits = { "sockets.anonymousAddress": 2, "sockets.anonymous": 3, "socket.authMs": 60_000 };
  await start({ limits, proxyHops: 1, later: timers.later });
  const open = (address: string) => server.socket("/art_one", from(address));
  const expectFull = async (address: string) => expect((await closeOf(await open(address))).code).toBe(4429);
  const expectPlace = async (address: string) => {
    const socket = await open(address);
    socket.send(credentialFrame("session:ada"));
    await expectAdmitted(socket);
  };
  const [first, second] = [await open("203.0.113.1"), await open("203.0.113.1")];
  await expectFull("203.0.113.1");
  const third = await open("2001:db8::1");
  await expectFull("2001:db8:1::1");
  await expectAdmitted(await server.socket(goodTicket, from("203.0.113.1")));
  // A socket whose credential is accepted frees its place, and so does one whose client left.
  first.send(credentialFrame("session:ada"));
  await expectAdmitted(first);
  await expectPlace("203.0.113.1");
  third.terminate();
  await until(() => expect(server.logLines.filter(({ code }) => code === 1006)).toHaveLength(1));
  await expectPlace("2001:db8:1::1");
  // A socket that the server closed keeps its place until the host has ended the connection.
  const refused = await open("203.0.113.1");
  refused.send(credentialFrame("nonsense"));
  expect((await closeOf(refused)).code).toBe(4401);
  await expectFull("203.0.113.1");
  timers.runAll();
  await expectPlace("203.0.113.1");
  second.terminate();
});

it("[RT56] a first frame above socket.credential is refused without being read", async () => {
  await start({ limits: { "socket.credential": 1000 } });
  const fits = await server.socket("/art_one");
  fits.send(credentialFrame("session:ada"));
  await expectAdmitted(fits);
  const large = await server.socket("/art_one");
  large.send(credentialFrame(`session:ada${" ".repeat(1000)}`));
  const reason = "connect with ?ticket=, or send a credential of at most 1000 bytes as the first message";
  expect(await closeOf(large)).toEqual({ code: 4401, reason });
});

describe.each([
  ["uWebSockets.js", startUwsHost],
  ["node:http", startNodeHost],
])("memory on %s", (_name, startHost) => {
  const mebibyte = 2 ** 20;
  const sockets = 100;

  it("[RT55] unfinished frames of sockets without a credential use bounded memory; tickets still connect", {
    timeout: 60_000,
  }, async () => {
    server = await startCollabServer(startHost, { limits: { "socket.authMs": 60_000, "socket.refusalMs": 10 } });
    server.roles.set("ada", "write");
    const { port } = new URL(server.url);
    const handshake = (path: string) =>
      `GET /collab${path} HTTP/1.1\r\nhost: test\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n`;
    // A masked binary frame of 4 MiB whose last byte is never sent.
    const frame = Buffer.alloc(14 + 4 * mebibyte - 1, 1);
    frame.writeUInt16BE(0x82ff);
    frame.writeBigUInt64BE(BigInt(4 * mebibyte), 2);
    const before = process.memoryUsage().rss;
    const attacks = Array.from({ length: sockets }, (_, at) => {
      const socket = connect({ port: Number(port), host: "127.0.0.1", allowHalfOpen: true });
      ended.push(() => socket.destroy());
      return new Promise<void>((resolve) => {
        socket.on("error", () => resolve());
        socket.once("data", () => {
          socket.resume();
          // Resolves when the kernel has taken all bytes, or the connection is cut.
          socket.write(frame, () => resolve());
        });
        socket.write(handshake(at % 2 === 0 ? "/art_one" : badTicket));
      });
    });
    for (let times = 0; times < 5; times += 1) await expectAdmitted(await server.socket(goodTicket));
    await Promise.all(attacks);
    await expectAdmitted(await server.socket(goodTicket));
    const grownBytes = process.memoryUsage().rss - before;
    expect(Math.round(grownBytes / mebibyte)).toBeLessThan(200);
  });
});
