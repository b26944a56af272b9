/**
 * Idle scenarios measure the memory of idle connections, and the memory and wake-ups of an idle server.
 *
 * Every server is restarted after its documents were made, because free pages left by the making would hide what the
 * connections cost.
 */
import { setTimeout as pause } from "node:timers/promises";
import { memoryUse, residentBytes, wakeUps } from "../processFigures.ts";
import { type BenchServer, type ServerName, singleServers, startBenchServer } from "./benchServer.ts";
import { drive, holdIdle } from "./load.ts";
import { median, type Row } from "./row.ts";

/**
 * The figure is the slope between these numbers of connections. Compiled code and caches grow with the first thousand
 * connections and then no more, so they are no cost of a connection.
 */
const firstConnections = 1000;
export const idleConnections = 4000;
/**
 * A server drops what belongs to joining, and its runtime collects it, up to a minute later. A sample that is taken before
 * is wrong by the garbage of tens of megabytes.
 */
const sampleMs = 5000;
const steadySamples = 8;
const steadyMB = 1;
const mostSamples = 60;
const startedMs = 8000;
const watchMs = 10_000;
const MB = 1e6;

/** Loads the code of joining and typing, so that its first use is not counted as the cost of a connection. */
async function touch(server: BenchServer): Promise<void> {
  await drive(server, { rooms: 20, clients: 2, typists: 2 }, { updates: 5, everyMs: 0 });
}

/** Waits until the memory has been steady for 40 seconds. */
async function settledMemory(pids: readonly number[]): Promise<ReturnType<typeof memoryUse>> {
  const anonymous: number[] = [];
  for (let sample = 0; sample < mostSamples; sample += 1) {
    await pause(sampleMs);
    anonymous.push(memoryUse(pids).anonymous);
    const last = anonymous.slice(-steadySamples);
    if (last.length === steadySamples && Math.max(...last) - Math.min(...last) < steadyMB * MB) break;
  }
  return memoryUse(pids);
}

/** Memory that idle connections take, spread over so many documents. */
export async function megabytesPerThousand(
  server: BenchServer,
  rooms: number,
  tell: (line: string) => void,
  connections = idleConnections,
): Promise<number> {
  const names = await server.makeRooms(rooms);
  await server.restart();
  await touch(server);
  const [first, all] = await holdIdle(server, names, [firstConnections, connections], () => settledMemory(server.pids));
  const slope = (sort: "resident" | "anonymous" | "mapped") =>
    ((all?.[sort] ?? 0) - (first?.[sort] ?? 0)) / MB / ((connections - firstConnections) / 1000);
  tell(`P4: ${server.name} ${slope("anonymous").toFixed(2)} MB anonymous and ${slope("mapped").toFixed(2)} MB of mapped files per 1,000`);
  return slope("resident");
}

export async function runIdleConnections(rounds: number, tell: (line: string) => void): Promise<readonly Row[]> {
  const results = { one: new Map<ServerName, number[]>(), own: new Map<ServerName, number[]>() };
  for (let round = 0; round < rounds; round += 1) {
    for (const name of singleServers) {
      const server = await startBenchServer(name);
      try {
        for (const [kind, rooms] of [
          ["one", 1],
          ["own", idleConnections],
        ] as const) {
          const megabytes = await megabytesPerThousand(server, rooms, tell);
          results[kind].set(name, [...(results[kind].get(name) ?? []), megabytes]);
          tell(`P4 ${kind === "one" ? "all in one document" : "a document each"}: ${name} ${megabytes.toFixed(2)} MB per 1,000`);
        }
      } finally {
        await server.stop();
      }
    }
  }
  const row = (kind: "one" | "own", scenario: string, goal: number, floor: number): Row => {
    const figures = Object.fromEntries([...results[kind]].map(([name, values]) => [name, Number(median(values).toFixed(2))]));
    return {
      id: "P4",
      scenario,
      measure: "MB per 1,000 idle connections",
      value: Number(figures.ours),
      goal,
      floor,
      better: "lower",
      figures,
    };
  };
  return [row("one", "idle connections, all in one document", 1, 1.5), row("own", "idle connections, a document each", 2, 3)];
}

export async function runIdleProcess(rounds: number, tell: (line: string) => void): Promise<readonly Row[]> {
  const wakes: Record<string, number[]> = {};
  const memory: Record<string, number[]> = {};
  for (let round = 0; round < rounds; round += 1) {
    for (const name of singleServers) {
      const server = await startBenchServer(name);
      try {
        await pause(startedMs);
        const megabytes = residentBytes(server.pids) / MB;
        const before = wakeUps(server.pids);
        await pause(watchMs);
        const perSecond = (wakeUps(server.pids) - before) / (watchMs / 1000);
        wakes[name] = [...(wakes[name] ?? []), perSecond];
        memory[name] = [...(memory[name] ?? []), megabytes];
        tell(`P4b idle process: ${name} ${perSecond.toFixed(1)} wake-ups per second, ${megabytes.toFixed(0)} MB`);
      } finally {
        await server.stop();
      }
    }
  }
  const row = (measure: string, all: Record<string, number[]>, goal: number, floor: number): Row => {
    const figures = Object.fromEntries(Object.entries(all).map(([name, values]) => [name, Number(median(values).toFixed(1))]));
    return { id: "P4b", scenario: "idle process", measure, value: Number(figures.ours), goal, floor, better: "lower", figures };
  };
  return [row("wake-ups per second", wakes, 5, 10), row("MB resident after start", memory, 110, 130)];
}
