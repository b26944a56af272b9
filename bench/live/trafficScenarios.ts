/**
 * Traffic scenarios: clients type into documents, and every server gets the same load in turn.
 *
 * Each server is warmed up first. Rounds are interleaved, and a value is the ratio of medians, so that noise of the
 * machine meets all servers.
 */
import { setTimeout as pause } from "node:timers/promises";
import { type BenchServer, type ServerName, singleServers, singleServersAndDurableRelay, startBenchServer } from "./benchServer.ts";
import { drive, type Figures, type Flow, type Shape } from "./load.ts";
import { median, type Row } from "./row.ts";

interface Mark {
  readonly goal: number;
  readonly floor: number;
}

export interface TrafficScenario {
  readonly id: string;
  readonly name: string;
  readonly shape: Shape;
  readonly flow: Flow;
  /** Loads of each server in one round. Default: one. */
  readonly loads?: number;
  /** Servers that get the load. The first one is ours, and its figures are the values. Default: all servers of one node. */
  readonly servers?: readonly [ServerName, ...ServerName[]];
  /** Wanted ratio of deliveries per processor second to each of these servers. */
  readonly ratios: Partial<Readonly<Record<ServerName, Mark>>>;
  /** Wanted p99 in milliseconds; with `over`, above the p99 of that server. */
  readonly p99Ms?: Mark & { readonly over?: ServerName };
}

/** A person who writes types about two characters a second in bursts; ten of them make 20 updates a second. */
const human = { updates: 24, everyMs: 500 } as const;
const asFastAsPossible = (updates: number): Flow => ({ updates, everyMs: 0 });
const oneRoom = (clients: number, typists: number): Shape => ({ rooms: 1, clients, typists });

export const trafficScenarios: readonly TrafficScenario[] = [
  {
    id: "P1",
    name: "1 document, 500 clients, human pace",
    shape: oneRoom(500, 10),
    flow: human,
    ratios: { relay: { goal: 0.85, floor: 0.6 } },
    p99Ms: { goal: 2, floor: 3, over: "relay" },
  },
  {
    id: "P1b",
    name: "1 document, 100 clients, human pace",
    shape: oneRoom(100, 10),
    flow: human,
    servers: singleServersAndDurableRelay,
    ratios: { relay: { goal: 0.7, floor: 0.5 } },
  },
  {
    id: "P1b",
    name: "1 document, 10 clients, human pace",
    shape: oneRoom(10, 10),
    flow: human,
    servers: singleServersAndDurableRelay,
    ratios: { relay: { goal: 0.5, floor: 0.3 } },
  },
  {
    id: "P2",
    name: "1 document, 10 clients, flat-out",
    shape: oneRoom(10, 10),
    flow: asFastAsPossible(1000),
    // A fast server works for a tenth of a second for one load, so single loads differ by a factor of three.
    loads: 5,
    ratios: { relay: { goal: 0.8, floor: 0.5 }, hocuspocus: { goal: 12, floor: 8 } },
  },
  {
    id: "P2",
    name: "1 document, 100 clients, flat-out",
    shape: oneRoom(100, 100),
    flow: asFastAsPossible(60),
    ratios: { relay: { goal: 4, floor: 2 }, hocuspocus: { goal: 40, floor: 20 } },
  },
  {
    id: "P2",
    name: "1 document, 500 clients, flat-out",
    shape: oneRoom(500, 500),
    flow: asFastAsPossible(8),
    ratios: { relay: { goal: 4, floor: 2 }, hocuspocus: { goal: 40, floor: 20 } },
  },
  {
    id: "P3",
    name: "500 documents × 2 clients, flat-out",
    shape: { rooms: 500, clients: 2, typists: 2 },
    flow: asFastAsPossible(100),
    ratios: { "y-websocket": { goal: 1.5, floor: 1.1 }, hocuspocus: { goal: 2.5, floor: 1.7 } },
  },
  {
    id: "P3b",
    name: "500 documents × 2 clients, one update a second each",
    shape: { rooms: 500, clients: 2, typists: 2 },
    flow: { updates: 12, everyMs: 1000 },
    servers: singleServersAndDurableRelay,
    ratios: { "y-websocket": { goal: 1, floor: 0.7 } },
    p99Ms: { goal: 4, floor: 6 },
  },
  {
    id: "P8",
    name: "two nodes on one Redis, 1 document, 250 clients on each, human pace",
    shape: oneRoom(500, 10),
    flow: human,
    servers: ["two nodes on Redis", "one node on Redis", "y-redis, two nodes"],
    ratios: { "one node on Redis": { goal: 0.8, floor: 0.7 } },
    p99Ms: { goal: 10, floor: 25 },
  },
];

const warmUpMs = 10_000;
const restMs = 2000;

export async function warmUp(server: BenchServer, { shape, flow }: Pick<TrafficScenario, "shape" | "flow">): Promise<void> {
  const endMs = performance.now() + warmUpMs;
  // A warm-up of the same kind: a load at human pace would leave the code of a burst cold, and the reverse.
  while (performance.now() < endMs) {
    const remainingMs = Math.max(1000, endMs - performance.now());
    const updates = flow.everyMs === 0 ? flow.updates : Math.max(2, Math.ceil(remainingMs / flow.everyMs));
    await drive(server, shape, { ...flow, updates });
  }
  await pause(restMs);
}

export async function runTraffic(scenario: TrafficScenario, rounds: number, tell: (line: string) => void): Promise<readonly Row[]> {
  const { id, name, shape, flow, ratios, p99Ms, loads = 1 } = scenario;
  const [own] = scenario.servers ?? singleServers;
  const servers: BenchServer[] = [];
  const results = new Map<ServerName, Figures[]>();
  try {
    for (const serverName of scenario.servers ?? singleServers) {
      const server = await startBenchServer(serverName);
      servers.push(server);
      await warmUp(server, scenario);
    }
    for (let round = 0; round < rounds; round += 1) {
      for (const server of servers) {
        for (let load = 0; load < loads; load += 1) {
          const figures = await drive(server, shape, flow);
          results.set(server.name, [...(results.get(server.name) ?? []), figures]);
          const latency = figures.p99Ms === undefined ? "" : `, p50 ${figures.p50Ms?.toFixed(1)} ms, p99 ${figures.p99Ms.toFixed(1)} ms`;
          tell(`${id} ${name}: ${server.name} ${Math.round(figures.deliveriesPerCpuSecond)} deliveries per CPU second${latency}`);
        }
      }
    }
  } finally {
    for (const server of servers) await server.stop();
  }
  const medianOf = (server: ServerName, pick: (figures: Figures) => number | undefined) =>
    median((results.get(server) ?? []).map((figures) => pick(figures) ?? Number.NaN));
  const rates = Object.fromEntries(
    servers.map((server) => [server.name, Math.round(medianOf(server.name, (each) => each.deliveriesPerCpuSecond))]),
  );
  const rows: Row[] = Object.entries(ratios).map(([peer, mark]) => ({
    id,
    scenario: name,
    measure: `deliveries per CPU second ÷ ${peer}`,
    value: Number(rates[own]) / Number(rates[peer]),
    ...mark,
    better: "higher",
    figures: rates,
  }));
  if (p99Ms !== undefined) {
    const { goal, floor, over } = p99Ms;
    const p99s = Object.fromEntries(servers.map((server) => [server.name, Number(medianOf(server.name, (each) => each.p99Ms).toFixed(2))]));
    rows.push({
      id,
      scenario: name,
      measure: over === undefined ? "p99 in ms" : `p99 in ms − that of ${over}`,
      value: Number(p99s[own]) - (over === undefined ? 0 : Number(p99s[over])),
      goal,
      floor,
      better: "lower",
      figures: p99s,
    });
  }
  return rows;
}
