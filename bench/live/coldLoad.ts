/**
 * Cold load: a server that was just started sends a long paper to its first client.
 *
 * The time runs from opening the socket until the client's document shows the whole text.
 */
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import * as decoding from "lib0/decoding";
import { WebSocket } from "ws";
import * as Y from "yjs";
import { emptyVector, syncFrame } from "./benchClient.ts";
import { type BenchServer, type ServerName, startBenchServer } from "./benchServer.ts";
import { makePaper, type Paper } from "./paper.ts";
import { median, type Row } from "./row.ts";

interface Loaded {
  readonly ms: number;
  readonly bytes: number;
}

const fileName = "content.md";
/** Hocuspocus stores a document 2 s after the last change, at most 10 s after the first. */
const storedMs = 15_000;

/** Opens a document as a stock client does. `onUpdate` gets each sync step 2 and update. */
async function open(server: BenchServer, room: string, onUpdate: (update: Uint8Array, frameBytes: number) => void): Promise<WebSocket> {
  const { url, headers } = server.address(room, 0);
  const socket = new WebSocket(url, { headers, perMessageDeflate: false });
  const prefix = server.wire.prefix(room);
  socket.on("message", (data: Buffer) => {
    const decoder = decoding.createDecoder(data);
    decoder.pos = prefix.length;
    const type = decoding.readVarUint(decoder);
    if (type !== 0 && type !== 4) return;
    const step = decoding.readVarUint(decoder);
    const payload = decoding.readVarUint8Array(decoder);
    if (step === 0) socket.send(syncFrame(prefix, 1, Uint8Array.of(0, 0)));
    else onUpdate(payload, data.length);
  });
  await once(socket, "open");
  for (const frame of server.wire.opening(room)) socket.send(frame);
  socket.send(syncFrame(prefix, 0, emptyVector));
  return socket;
}

function load(server: BenchServer, room: string, text: string): Promise<Loaded> {
  const document = new Y.Doc();
  let bytes = 0;
  const startedAtMs = performance.now();
  return new Promise((resolve, reject) => {
    const socket = open(server, room, (update, frameBytes) => {
      bytes += frameBytes;
      Y.applyUpdate(document, update);
      const loaded = document.getText(fileName);
      if (loaded.length !== text.length || loaded.toString() !== text) return;
      resolve({ ms: performance.now() - startedAtMs, bytes });
      document.destroy();
      void socket.then((opened) => opened.terminate());
    });
    socket.catch(reject);
  });
}

/** Sends the paper as one author's typing and waits until a second client could load it. */
async function store(server: BenchServer, room: string, { updates, text }: Paper): Promise<void> {
  const prefix = server.wire.prefix(room);
  const socket = await open(server, room, () => {});
  for (const [at, update] of updates.entries()) {
    socket.send(syncFrame(prefix, 2, update));
    if (at % 500 === 499) await pause(10);
  }
  await load(server, room, text);
  await pause(storedMs);
  socket.terminate();
}

export async function runColdLoad(rounds: number, tell: (line: string) => void): Promise<readonly Row[]> {
  const paper = makePaper();
  tell(`P6: a paper of ${paper.text.length} characters, ${paper.compactBytes} bytes in the compact encoding`);
  const results = new Map<ServerName, Loaded[]>();
  for (const name of ["ours", "hocuspocus"] as const) {
    const server = await startBenchServer(name);
    try {
      const [room = ""] = await server.makeRooms(1);
      await store(server, room, paper);
      for (let round = 0; round < rounds; round += 1) {
        await server.restart();
        await pause(1000);
        const loaded = await load(server, room, paper.text);
        results.set(name, [...(results.get(name) ?? []), loaded]);
        tell(`P6 cold load: ${name} ${loaded.ms.toFixed(0)} ms, ${loaded.bytes} bytes`);
      }
    } finally {
      await server.stop();
    }
  }
  const medians = (pick: (loaded: Loaded) => number) =>
    Object.fromEntries([...results].map(([name, all]) => [name, Math.round(median(all.map(pick)))]));
  const times = medians(({ ms }) => ms);
  const sizes = medians(({ bytes }) => bytes);
  const scenario = "cold load of a paper of 259,778 keystrokes";
  return [
    {
      id: "P6",
      scenario,
      measure: "time ÷ hocuspocus",
      value: Number(times.ours) / Number(times.hocuspocus),
      goal: 0.2,
      floor: 0.35,
      better: "lower",
      figures: times,
    },
    {
      id: "P6",
      scenario,
      measure: "bytes sent ÷ compact encoding",
      value: Number(sizes.ours) / paper.compactBytes,
      goal: 1.02,
      floor: 1.1,
      better: "lower",
      figures: sizes,
    },
  ];
}
