/** Sockets that send more than they may: pings, pongs, and frames before they have joined. */
import { afterEach, describe, expect, it, vi } from "vitest";
import type { WebSocket } from "ws";
import { defaultLimits } from "../../api/limits.ts";
import { startNodeHost } from "../../server/edge/host/node.ts";
import { startUwsHost } from "../../server/edge/host/uws.ts";
import {
  type CollabServer,
  type CollabServerOptions,
  closeOf,
  credentialFrame,
  expectAdmitted,
  startCollabServer,
} from "../support/collabServer.ts";

let server: CollabServer;

afterEach(async () => {
  await server.close();
  expect(server.errors).toEqual([]);
});

const ticket = "/art_one?ticket=tkt_ada@article:art_one";
const payload = Buffer.alloc(125);

describe.each([
  ["uWebSockets.js", startUwsHost],
  ["node:http", startNodeHost],
])("%s", (_name, startHost) => {
  async function start(options: CollabServerOptions = {}): Promise<void> {
    server = await startCollabServer(startHost, options);
    server.roles.set("ada", "write");
  }

  /** Sends pings until the server has closed a socket with this code. */
  async function pingUntilClosed(socket: WebSocket, code: number): Promise<void> {
    const isClosed = () => server.logLines.some((line) => line.code === code);
    for (let sent = 0; sent < 1_000_000 && !isClosed(); sent += 1000) {
      for (let times = 0; times < 1000 && socket.readyState === socket.OPEN; times += 1) socket.ping(payload);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(isClosed()).toBe(true);
  }

  it.each(["ping", "pong"] as const)("[RT110] a socket that floods with %ss is closed with 4429, and others stay", async (kind) => {
    await start({ limits: { "socket.frames": { count: 10, seconds: 1, burst: 2000 } } });
    const [flooding, other] = [await server.socket(ticket), await server.socket(ticket)];
    await expectAdmitted(flooding);
    const closed = closeOf(flooding);
    for (let times = 0; times < 5000; times += 1) flooding[kind](payload);
    expect(await closed).toEqual({ code: 4429, reason: "too many frames or bytes" });
    await expectAdmitted(other);
  });

  it("[RT110] a socket that does not read the answers to its pings is closed with 1013", async () => {
    await start({ limits: { "socket.frames": "off", "socket.bytes": "off" } });
    const socket = await server.socket(ticket);
    await expectAdmitted(socket);
    const closed = closeOf(socket);
    socket.pause();
    await pingUntilClosed(socket, 1013);
    socket.resume();
    expect(await closed).toEqual({ code: 1013, reason: "the client reads too slowly" });
    await expectAdmitted(await server.socket(ticket));
  });

  it("[RT111] a socket may send ten pings before its credential, and is closed with 4429 at the next one", async () => {
    await start();
    const patient = await server.socket("/art_one");
    for (let times = 0; times < 10; times += 1) patient.ping(payload);
    patient.send(credentialFrame("session:ada"));
    await expectAdmitted(patient);
    const flooding = await server.socket("/art_one");
    const closed = closeOf(flooding);
    for (let times = 0; times < 1000; times += 1) flooding.ping(payload);
    expect(await closed).toEqual({ code: 4429, reason: "too many frames before the socket was admitted" });
  });

  it("[RT111] a socket may send socket.earlyFrames frames while its document is loaded, pings included", async () => {
    await start();
    let finishLoading: () => void = () => undefined;
    const loading = new Promise<void>((resolve) => {
      finishLoading = resolve;
    });
    const { load } = server.log;
    vi.spyOn(server.log, "load").mockImplementation(async (articleId) => {
      await loading;
      return load(articleId);
    });
    const [patient, flooding] = [await server.socket(ticket), await server.socket(ticket)];
    const closed = closeOf(flooding);
    const mayArrive = defaultLimits["socket.earlyFrames"];
    for (let times = 0; times < mayArrive; times += 1) flooding.send(Buffer.from([0, 0, 1, 0]));
    flooding.ping();
    expect(await closed).toEqual({ code: 4429, reason: "too many frames before the socket was admitted" });
    for (let times = 1; times < mayArrive; times += 1) patient.ping();
    const admitted = expectAdmitted(patient);
    finishLoading();
    await admitted;
  });
});
