/**
 * The churn scenario: connections come and go over a few documents, and the server's memory is read along the way.
 *
 * Every connection has a credential and a Yjs client id of its own, and every third one writes one character. What may stay
 * after it is that character and its clock; everything else is a leak. Memory is therefore compared in silence, after half
 * of the connections and after all of them. Anonymous memory and mapped files are counted separately, because an embedded
 * store maps its file, and the kernel may take those pages back at any time.
 */
import { setTimeout as pause } from "node:timers/promises";
import { type MemoryUse, memoryUse } from "../processFigures.ts";
import { BenchClient } from "./benchClient.ts";
import { type BenchServer, type ServerName, startBenchServer } from "./benchServer.ts";
import { median, type Row } from "./row.ts";

const connections = 64_000;
const parts = 8;
const documents = 50;
/** Connections that are being opened at the same moment. */
const atOnce = 48;
const silenceMs = 20_000;
const servers = ["ours", "y-websocket"] as const satisfies readonly ServerName[];

/** Opens and closes `count` connections, as fast as the server takes them. */
async function comeAndGo(server: BenchServer, rooms: readonly string[], count: number): Promise<void> {
  let begun = 0;
  async function visit(): Promise<void> {
    while (begun < count) {
      const at = begun;
      begun += 1;
      const room = rooms[at % rooms.length] ?? "";
      const isTypist = at % 3 === 0;
      const door = await server.admit(room, at);
      let isEchoed = () => {};
      const echoed = new Promise<void>((resolve) => {
        isEchoed = resolve;
      });
      const client = await BenchClient.open({
        ...door,
        wire: server.wire,
        room,
        updates: isTypist ? 1 : 0,
        onReceived: () => {},
        onAnswered: () => isEchoed(),
      });
      if (isTypist) {
        client.type();
        client.ask();
        await echoed;
      }
      client.close();
    }
  }
  await Promise.all(Array.from({ length: atOnce }, visit));
}

const toText = ({ resident, anonymous, mapped }: MemoryUse) =>
  [resident, anonymous, mapped]
    .map((bytes) => (bytes / 1e6).toFixed(0))
    .join(" = ")
    .replace(/= (\d+)$/, "+ $1");

/** Bytes of anonymous memory in silence: before, after half of the connections, and after all of them. */
async function churn(server: BenchServer, tell: (line: string) => void): Promise<readonly [number, number, number]> {
  const rooms = await server.makeRooms(documents);
  await server.restart();
  await comeAndGo(server, rooms, 300);
  const silent: number[] = [];
  const readSilent = async (when: string) => {
    await pause(silenceMs);
    const use = memoryUse(server.pids);
    silent.push(use.anonymous);
    tell(`churn: ${server.name}, ${when} and ${silenceMs / 1000} s of silence: RSS ${toText(use)} MB (anonymous + mapped files)`);
  };
  await readSilent("before");
  for (let part = 1; part <= parts; part += 1) {
    const startedAtMs = performance.now();
    await comeAndGo(server, rooms, connections / parts);
    const perSecond = connections / parts / ((performance.now() - startedAtMs) / 1000);
    const use = memoryUse(server.pids);
    tell(`churn: ${server.name}, ${(connections / parts) * part} connections, ${perSecond.toFixed(0)} a second: RSS ${toText(use)} MB`);
    if (part === parts / 2) await readSilent("half of them");
  }
  await readSilent("all of them");
  const [before = 0, half = 0, all = 0] = silent;
  return [before, half, all];
}

export async function runChurn(rounds: number, tell: (line: string) => void): Promise<readonly Row[]> {
  const growth: Record<string, number[]> = {};
  for (let round = 0; round < rounds; round += 1) {
    for (const name of servers) {
      const server = await startBenchServer(name);
      try {
        const [, half, all] = await churn(server, tell);
        growth[name] = [...(growth[name] ?? []), (all - half) / 1e6];
      } finally {
        await server.stop();
      }
    }
  }
  const figures = Object.fromEntries(Object.entries(growth).map(([name, values]) => [name, Number(median(values).toFixed(1))]));
  return [
    {
      id: "churn",
      scenario: `${connections} connections come and go over ${documents} documents`,
      measure: "MB of anonymous memory that the second half adds, in silence",
      value: Number(figures.ours),
      goal: 5,
      floor: 15,
      better: "lower",
      figures,
    },
  ];
}
