/**
 * Compares rooms with a bare relay: characters delivered per CPU second of the server. `npm run bench:relay`.
 *
 * Each client types into its own text, and its updates are created before the run. A delivery is one character that one
 * other client received. Only the ratio counts, because the speed of machines varies.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import * as decoding from "lib0/decoding";
import { WebSocket } from "ws";
import * as Y from "yjs";
import { writeUpdate } from "../realtime/protocol.ts";
import { cpuSeconds } from "./cpuTime.ts";

interface Scenario {
  readonly name: string;
  readonly rooms: number;
  readonly clients: number;
  readonly updates: number;
  /** Milliseconds between two updates of a client; 0 means as fast as possible. */
  readonly everyMs: number;
}

const scenarios: readonly Scenario[] = [
  { name: "1 document, 10 clients, flat-out", rooms: 1, clients: 10, updates: 1000, everyMs: 0 },
  { name: "1 document, 100 clients, flat-out", rooms: 1, clients: 100, updates: 60, everyMs: 0 },
  { name: "1 document, 100 clients, human pace", rooms: 1, clients: 100, updates: 12, everyMs: 400 },
  { name: "100 documents x 2 clients, flat-out", rooms: 100, clients: 2, updates: 300, everyMs: 0 },
];

/** Returns one frame for each character that a client types. */
function typing(count: number): Uint8Array[] {
  const document = new Y.Doc();
  const frames: Uint8Array[] = [];
  document.on("update", (update: Uint8Array) => frames.push(writeUpdate(update)));
  for (let at = 0; at < count; at += 1) document.getText("content.md").insert(at, "x");
  return frames;
}

function charactersIn(frame: Uint8Array): Map<number, number> {
  const decoder = decoding.createDecoder(frame);
  if (decoding.readVarUint(decoder) !== 0 || decoding.readVarUint(decoder) !== 2) return new Map();
  const { from, to } = Y.parseUpdateMeta(decoding.readVarUint8Array(decoder));
  return new Map([...to].map(([clientId, end]) => [clientId, end - (from.get(clientId) ?? 0)]));
}

async function run(server: ChildProcess, port: number, { name, rooms, clients, updates, everyMs }: Scenario): Promise<number> {
  let delivered = 0;
  const expected = rooms * clients * (clients - 1) * updates;
  const sockets: { socket: WebSocket; frames: Uint8Array[]; own: number }[] = [];
  for (let at = 0; at < rooms * clients; at += 1) {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/${encodeURIComponent(name.replaceAll(" ", "_"))}_${at % rooms}?client${at}`);
    await once(socket, "open");
    const frames = typing(updates);
    const [own = 0] = charactersIn(frames[0] ?? new Uint8Array()).keys();
    socket.on("message", (data: Buffer) => {
      for (const [clientId, characters] of charactersIn(data)) if (clientId !== own) delivered += characters;
    });
    sockets.push({ socket, frames, own });
  }
  await pause(300);
  const before = cpuSeconds(server.pid ?? 0);
  for (let at = 0; at < updates; at += 1) {
    for (const { socket, frames } of sockets) {
      socket.send(frames[at] ?? new Uint8Array());
      if (everyMs > 0) await pause(everyMs / sockets.length);
    }
    if (at % 10 === 9) await new Promise((resolve) => setImmediate(resolve));
  }
  const hangMs = Date.now() + 60_000;
  while (delivered < expected) {
    if (Date.now() > hangMs) throw new Error(`${name}: ${delivered} of ${expected} delivered`);
    await pause(20);
  }
  const spent = cpuSeconds(server.pid ?? 0) - before;
  for (const { socket } of sockets) socket.terminate();
  await pause(200);
  return expected / spent;
}

async function start(file: string): Promise<{ server: ChildProcess; port: number }> {
  const server = fork(new URL(file, import.meta.url), { execArgv: ["--import", "tsx"] });
  const [port] = (await once(server, "message")) as [number];
  return { server, port };
}

const [floor, ours] = await Promise.all([start("./relayServer.ts"), start("./roomsServer.ts")]);
for (const scenario of scenarios) {
  const ratios: number[] = [];
  const figures: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const relayed = await run(floor.server, floor.port, { ...scenario, name: `${scenario.name} ${round}` });
    const durable = await run(ours.server, ours.port, { ...scenario, name: `${scenario.name} ${round}` });
    ratios.push(durable / relayed);
    figures.push(durable);
  }
  ratios.sort((a, b) => a - b);
  figures.sort((a, b) => a - b);
  console.log(
    JSON.stringify({ scenario: scenario.name, ratioToRelay: Number(ratios[1]?.toFixed(2)), perCpuSecond: Math.round(figures[1] ?? 0) }),
  );
}
for (const { server } of [floor, ours]) {
  server.send("end");
  await once(server, "exit");
}
