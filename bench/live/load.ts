/**
 * Load drives one server with many clients and measures what the server used for it.
 *
 * A delivery is one character that one other client received. Deliveries per processor second of the server are the
 * figure that a noisy machine disturbs least.
 */
import { setTimeout as pause } from "node:timers/promises";
import { cpuSeconds } from "../processFigures.ts";
import { BenchClient } from "./benchClient.ts";
import type { BenchServer } from "./benchServer.ts";

export interface Shape {
  readonly rooms: number;
  /** Clients of each room. */
  readonly clients: number;
  /** Clients of each room that type; the others read. */
  readonly typists: number;
}

export interface Flow {
  /** Updates of each typist. */
  readonly updates: number;
  /** Time between two updates of one typist; 0 means as fast as possible. */
  readonly everyMs: number;
}

export interface Figures {
  readonly deliveriesPerCpuSecond: number;
  /** From sending to receiving, in milliseconds. Absent where the load is as fast as possible. */
  readonly p50Ms?: number;
  readonly p99Ms?: number;
}

const hangMs = 180_000;

interface Crowd {
  readonly typists: readonly BenchClient[];
  readonly received: { characters: number };
  readonly latenciesMs: number[];
  /** When each typist sent each of its characters. */
  readonly sentAtMs: Map<number, Float64Array>;
  close(): void;
}

async function gather(server: BenchServer, { rooms, clients, typists }: Shape, { updates, everyMs }: Flow): Promise<Crowd> {
  const received = { characters: 0 };
  const latenciesMs: number[] = [];
  const sentAtMs = new Map<number, Float64Array>();
  const onReceived = (clientId: number, from: number, to: number) => {
    received.characters += to - from;
    if (everyMs === 0) return;
    const sent = sentAtMs.get(clientId);
    const nowMs = performance.now();
    for (let clock = from; clock < to; clock += 1) latenciesMs.push(nowMs - (sent?.[clock] ?? nowMs));
  };
  const all: BenchClient[] = [];
  const typing: BenchClient[] = [];
  const names = await server.makeRooms(rooms);
  for (const room of names) {
    for (let at = 0; at < clients; at += 1) {
      const isTypist = at < typists;
      const client = await BenchClient.open({
        ...server.address(room, at),
        wire: server.wire,
        room,
        updates: isTypist ? updates : 0,
        onReceived,
      });
      all.push(client);
      if (!isTypist) continue;
      typing.push(client);
      sentAtMs.set(client.clientId, new Float64Array(updates));
    }
  }
  return {
    typists: typing,
    received,
    latenciesMs,
    sentAtMs,
    close() {
      for (const client of all) client.close();
    },
  };
}

async function typeAll({ typists, sentAtMs }: Crowd, { updates, everyMs }: Flow): Promise<void> {
  if (everyMs === 0) {
    for (let at = 0; at < updates; at += 1) {
      for (const typist of typists) typist.type();
      if (at % 10 === 9) await new Promise((resolve) => setImmediate(resolve));
    }
    return;
  }
  const startedAtMs = performance.now();
  const gapMs = everyMs / typists.length;
  const total = typists.length * updates;
  for (let sent = 0; sent < total; ) {
    const due = Math.min(total, Math.floor((performance.now() - startedAtMs) / gapMs) + 1);
    for (; sent < due; sent += 1) {
      const typist = typists[sent % typists.length];
      const nowMs = performance.now();
      const clock = typist?.type() ?? 0;
      const sentAt = sentAtMs.get(typist?.clientId ?? 0);
      if (sentAt !== undefined) sentAt[clock] = nowMs;
    }
    await pause(Math.max(1, startedAtMs + sent * gapMs - performance.now()));
  }
}

/** The value below which this share of the sorted values lies. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Called before the first update and after the last delivery, to measure something besides the server. */
export interface Watch {
  begin(): Promise<void>;
  end(): Promise<void>;
}

/** Runs one load in new rooms and waits until every character has arrived at every other client. */
export async function drive(server: BenchServer, shape: Shape, flow: Flow, watch?: Watch): Promise<Figures> {
  const crowd = await gather(server, shape, flow);
  try {
    await pause(1500);
    const expected = shape.rooms * shape.typists * (shape.clients - 1) * flow.updates;
    await watch?.begin();
    const before = cpuSeconds(server.pids);
    await typeAll(crowd, flow);
    const giveUpAtMs = performance.now() + hangMs;
    while (crowd.received.characters < expected) {
      if (performance.now() > giveUpAtMs) {
        throw new Error(`${server.name}: ${crowd.received.characters} of ${expected} characters delivered after ${hangMs} ms`);
      }
      await pause(20);
    }
    const used = cpuSeconds(server.pids) - before;
    await watch?.end();
    const figures = { deliveriesPerCpuSecond: expected / used };
    if (flow.everyMs === 0) return figures;
    const sorted = crowd.latenciesMs.sort((a, b) => a - b);
    return { ...figures, p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99) };
  } finally {
    crowd.close();
    await pause(300);
  }
}

/** Connects clients that do nothing, calls `measure` at each of the given numbers of connections, and closes the clients. */
export async function holdIdle<T>(
  server: BenchServer,
  rooms: readonly string[],
  counts: readonly number[],
  measure: () => Promise<T>,
): Promise<readonly T[]> {
  const measured: T[] = [];
  const clients: BenchClient[] = [];
  for (const count of counts) {
    while (clients.length < count) {
      const at = clients.length;
      const room = rooms[at % rooms.length] ?? "";
      clients.push(await BenchClient.open({ ...server.address(room, at), wire: server.wire, room, updates: 0, onReceived: () => {} }));
    }
    measured.push(await measure());
  }
  for (const client of clients) client.close();
  return measured;
}
