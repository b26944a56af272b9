/**
 * Turns measures operations on a small server and on larger ones, which take turns, and returns the ratios as rows.
 *
 * The cost of an operation is the processor time of the server. All servers run all the time, so the machine's noise
 * meets all of them.
 */
import { median, type Row } from "../live/row.ts";
import type { GrownServer } from "./grownServer.ts";

export interface Prepared {
  /** Runs the operation many times and returns the milliseconds of each. */
  run(): Promise<readonly number[]>;
  /** Undoes what `prepare` did, outside the measurement. */
  end?(): Promise<void> | void;
}

export interface Operation {
  readonly name: string;
  /** False if the operation may grow with the size: its figures are printed and not judged. */
  readonly isFlat: boolean;
  /** What the operation needs and must not be counted. */
  readonly prepare: (server: GrownServer) => Promise<Prepared>;
}

/** Larger ÷ small: within 20 % counts as flat. */
const flat = 1.2;
const warmUpTurns = 2;

interface Cost {
  readonly cpuMicroseconds: number;
  readonly p50Ms: number;
}

async function measure(server: GrownServer, { prepare }: Operation): Promise<Cost> {
  const prepared = await prepare(server);
  const before = await server.cpuSeconds();
  const latenciesMs = await prepared.run();
  const used = (await server.cpuSeconds()) - before;
  await prepared.end?.();
  return { cpuMicroseconds: (used / latenciesMs.length) * 1e6, p50Ms: median(latenciesMs) };
}

export interface TurnsOptions {
  readonly id: string;
  readonly scenario: string;
  readonly servers: readonly [small: GrownServer, ...larger: GrownServer[]];
  readonly operations: readonly Operation[];
  readonly turns: number;
  readonly tell: (line: string) => void;
}

export async function takeTurns({ id, scenario, servers, operations, turns, tell }: TurnsOptions): Promise<readonly Row[]> {
  const costs = new Map<string, Cost[]>();
  const key = (operation: Operation, server: GrownServer) => `${operation.name} ${server.size}`;
  for (let turn = -warmUpTurns; turn < turns; turn += 1) {
    for (const operation of operations) {
      for (const server of turn % 2 === 0 ? servers : servers.toReversed()) {
        const cost = await measure(server, operation);
        if (turn >= 0) costs.set(key(operation, server), [...(costs.get(key(operation, server)) ?? []), cost]);
      }
    }
  }
  return operations.flatMap((operation): Row[] => {
    const figuresOf = (pick: (cost: Cost) => number, digits: number) =>
      Object.fromEntries(
        servers.map((server) => [server.size, Number(median((costs.get(key(operation, server)) ?? []).map(pick)).toFixed(digits))]),
      );
    const [small, ...larger] = servers;
    const toRows = (measure: string, figures: Record<string, number>): readonly Row[] =>
      larger.map((large) => ({
        id,
        scenario: `${operation.name}, ${scenario}`,
        measure: `${measure}, ${large.size} ÷ ${small.size}`,
        value: (figures[large.size] ?? Number.NaN) / (figures[small.size] ?? Number.NaN),
        goal: flat,
        floor: flat,
        better: "lower",
        figures,
      }));
    const rows = [
      ...toRows(
        "CPU in µs",
        figuresOf(({ cpuMicroseconds }) => cpuMicroseconds, 1),
      ),
      ...toRows(
        "p50 in ms",
        figuresOf(({ p50Ms }) => p50Ms, 3),
      ),
    ];
    for (const { measure, value, figures } of rows)
      tell(`${id} ${operation.name}, ${scenario}: ${measure} ${value.toFixed(2)} ${JSON.stringify(figures)}`);
    return operation.isFlat ? rows : [];
  });
}
