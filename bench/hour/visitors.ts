/**
 * Visitors come and go: each opens a document, types one character a second for one to three minutes, and leaves.
 *
 * Every visit has a client id of its own, as every opened browser tab has.
 */

import type { GrownServer } from "../growth/grownServer.ts";
import { BenchClient, plainWire } from "../live/benchClient.ts";

const everyMs = 1000;
const shortestVisit = 60;
const longestVisit = 180;
/** Longest time for which a visitor's place stays empty. */
const absentMs = 4000;

interface Visit {
  readonly client: BenchClient;
  readonly sentAtMs: Float64Array;
  readonly updates: number;
}

interface Place {
  visit: Visit | undefined;
  isOpening: boolean;
  nextAtMs: number;
}

export interface Window {
  readonly latenciesMs: readonly number[];
  readonly joins: number;
}

export class Visitors {
  readonly #server: GrownServer;
  readonly #places: readonly Place[];
  readonly #sent = new Map<number, Float64Array>();
  readonly #onFailed: (error: unknown) => void;
  #latenciesMs: number[] = [];
  #joins = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(server: GrownServer, count: number, onFailed: (error: unknown) => void) {
    this.#server = server;
    this.#onFailed = onFailed;
    const nowMs = performance.now();
    // The first visits begin over half a minute, so that they do not end together either.
    this.#places = Array.from({ length: count }, (_, at) => ({
      visit: undefined,
      isOpening: false,
      nextAtMs: nowMs + (at / count) * 30_000,
    }));
  }

  start(): void {
    this.#timer = setInterval(() => this.#step(performance.now()), 20);
  }

  stop(): void {
    clearInterval(this.#timer);
    for (const { visit } of this.#places) visit?.client.close();
  }

  /** What happened since the last call. */
  take(): Window {
    const window = { latenciesMs: this.#latenciesMs, joins: this.#joins };
    this.#latenciesMs = [];
    this.#joins = 0;
    return window;
  }

  #step(nowMs: number): void {
    for (const place of this.#places) {
      if (place.isOpening || nowMs < place.nextAtMs) continue;
      if (place.visit === undefined) this.#open(place).catch(this.#onFailed);
      else if (place.visit.client.sent < place.visit.updates) {
        const { client, sentAtMs } = place.visit;
        sentAtMs[client.sent] = nowMs;
        client.type();
        place.nextAtMs += everyMs;
      } else this.#leave(place, place.visit, nowMs);
    }
  }

  async #open(place: Place): Promise<void> {
    place.isOpening = true;
    const { articleIds } = this.#server;
    const room = articleIds[Math.floor(Math.random() * articleIds.length)] ?? "";
    const updates = shortestVisit + Math.floor(Math.random() * (longestVisit - shortestVisit));
    // The answer to a join contains text that was typed before the join. It is not counted as a delivery.
    let hasJoined = false;
    const onReceived = (clientId: number, from: number, to: number) => {
      if (hasJoined) this.#receive(clientId, from, to);
    };
    const client = await BenchClient.open({ ...this.#server.address(room), wire: plainWire, room, updates, onReceived });
    hasJoined = true;
    const sentAtMs = new Float64Array(updates);
    this.#sent.set(client.clientId, sentAtMs);
    this.#joins += 1;
    place.visit = { client, sentAtMs, updates };
    place.isOpening = false;
    place.nextAtMs = performance.now() + Math.random() * everyMs;
  }

  #leave(place: Place, { client }: Visit, nowMs: number): void {
    client.close();
    this.#sent.delete(client.clientId);
    place.visit = undefined;
    place.nextAtMs = nowMs + Math.random() * absentMs;
  }

  #receive(clientId: number, from: number, to: number): void {
    const sentAtMs = this.#sent.get(clientId);
    if (sentAtMs === undefined) return;
    const nowMs = performance.now();
    for (let clock = from; clock < to; clock += 1) this.#latenciesMs.push(nowMs - (sentAtMs[clock] ?? nowMs));
  }
}
