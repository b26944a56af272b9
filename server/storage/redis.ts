/**
 * The store on Redis: one server, Sentinel or Cluster, shared by any number of nodes. This file puts its parts
 * together, waits for Redis at the start, and counts what is under way so that closing waits for it.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type Storage, type StorageDamagedError, StorageFullError, StorageUnavailableError } from "./port.ts";
import { type AnyRecordType, createRecordTypes } from "./recordType.ts";
import { createRedisBlobs } from "./redisBlobs.ts";
import { createRedisBus, toChannel } from "./redisBus.ts";
import { type Calls, createCalls } from "./redisCalls.ts";
import { createCommit } from "./redisCommit.ts";
import type { Connection, Reply } from "./redisConnection.ts";
import { createRedisDue, createRedisLeases } from "./redisDue.ts";
import { openRedisHealth, type RedisHealth } from "./redisHealth.ts";
import { redisKeys } from "./redisKeys.ts";
import { createRedisLogs } from "./redisLogs.ts";
import { createRedisRates } from "./redisRates.ts";
import { createRedisReads } from "./redisReads.ts";
import { createReplicated } from "./redisReplicas.ts";
import { redisScripts } from "./redisScripts.ts";
import { createTopology } from "./redisTopology.ts";
import { describeRedis, type RedisAddress } from "./storeAddress.ts";
import { storeVersion } from "./storeVersion.ts";

export interface RedisStorageOptions {
  readonly address: RedisAddress;
  /** Replicas that must hold a write before it is acknowledged. */
  readonly waitReplicas?: number;
  /** When given, a record of any other type is refused as a bug. */
  readonly recordTypes?: readonly AnyRecordType[];
  /** Redis holds other data than at the start: everything is refused from then on, and the process should end. By default it does. */
  readonly onLost?: (error: StorageDamagedError) => void;
  /** How long the start waits for Redis. */
  readonly startMs?: number;
  /** How long a call goes on trying what Redis did not get or refused without doing it. */
  readonly patienceMs?: number;
  readonly now?: () => number;
}

const MiB = 1024 * 1024;
const lookMs = 1000;

function crash(error: Error): void {
  queueMicrotask(() => {
    throw error;
  });
}

/** Scripts are loaded so that commits are done in the order in which they are sent: one that meets a missing script is sent again. */
async function prepare(connection: Connection, address: RedisAddress): Promise<void> {
  const rights = [redisKeys.meta(0), toChannel(address, "")];
  const scripts = Object.values(redisScripts);
  const [known] = await Promise.all([
    connection.send(["SCRIPT", "EXISTS", ...scripts.map(({ sha1 }) => sha1)]),
    connection.send(["EVAL", redisScripts.checkRights.text, "0", ...rights]),
  ]);
  const missing = scripts.filter((_, at) => (known as readonly Reply[])[at] !== 1);
  await Promise.all(missing.map(({ text }) => connection.send(["SCRIPT", "LOAD", text])));
}

/** Throws a StorageUnavailableError when Redis does not answer in time, a StorageDamagedError when its data is of a newer version. */
export async function createRedisStorage(options: RedisStorageOptions): Promise<Storage> {
  const { address, waitReplicas = 0, onLost = crash, startMs = 30_000, patienceMs = 3000 } = options;
  const recordTypes = options.recordTypes === undefined ? undefined : createRecordTypes(options.recordTypes);
  const topology = createTopology({ address, prepare: (connection) => prepare(connection, address) });
  // A master whose replicas are gone may be one that others have given up.
  const replicatedWithin = (ms: number) => createReplicated(waitReplicas, ms, () => topology.doubt(undefined));
  const bus = createRedisBus({ address, topology, nodeId: randomBytes(16) });
  const plain = createCalls({ topology, replicated: replicatedWithin(patienceMs), patienceMs });
  // A look that has to wait has found what it looked for.
  const looking = createCalls({ topology, replicated: replicatedWithin(0), patienceMs: Math.min(patienceMs, lookMs) });
  let health: RedisHealth | undefined;
  let closed: Promise<void> | undefined;
  const underway = new Set<Promise<unknown>>();

  /** Refuses what comes after the end, and knows what is under way before it. */
  async function guarded<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    if (closed !== undefined) throw new Error("the store is closed");
    const lost = health?.lost();
    if (lost !== undefined) throw lost;
    const running = work();
    underway.add(running);
    try {
      return await running;
    } catch (reason) {
      if (reason instanceof StorageFullError) health?.wasRefused();
      throw reason;
    } finally {
      underway.delete(running);
    }
  }
  const calls: Calls = {
    run: (call) => guarded(() => plain.run(call)),
    read: (partition, command) => guarded(() => plain.read(partition, command)),
  };

  function end(): void {
    health?.close();
    bus.close();
    topology.close();
  }

  const untilMs = performance.now() + startMs;
  while (health === undefined) {
    try {
      health = await openRedisHealth({
        calls: looking,
        topology,
        address,
        waitReplicas,
        now: options.now,
        onLost,
        alongside: () => void bus.keep(),
      });
    } catch (reason) {
      const passes = reason instanceof StorageUnavailableError && !/too old|lets this server not in/.test(reason.message);
      if (passes && performance.now() < untilMs) {
        await delay(200);
        continue;
      }
      end();
      if (passes) throw new StorageUnavailableError(`${describeRedis(address)} cannot be used: ${reason.message}`, { cause: reason });
      throw reason;
    }
  }
  await bus.keep();
  const opened = health;
  const commit = createCommit({ calls: plain, recordTypes, now: opened.now });

  return {
    ...createRedisReads(calls),
    log: createRedisLogs(calls),
    due: createRedisDue(calls, opened.now),
    leases: createRedisLeases(calls, opened.now),
    rates: { take: createRedisRates(calls, opened.now) },
    blobs: createRedisBlobs(calls, opened.now),
    bus: bus.bus,
    commit: (batch) => guarded(() => commit(batch)),
    now: opened.now,
    async status() {
      const weaknesses = opened.weaknesses();
      const facts = opened.facts();
      const sum = (bytes: (each: (typeof facts)[number]) => number) => Math.ceil(facts.reduce((all, each) => all + bytes(each), 0) / MiB);
      return {
        kind: "redis",
        durable: weaknesses.length === 0,
        ...(weaknesses.length === 0 ? {} : { reason: weaknesses.join("; ") }),
        writes: opened.takesWrites() ? "ok" : "refused",
        usedMiB: sum((each) => each.usedBytes),
        ...(facts.every((each) => each.maxBytes > 0) ? { maxMiB: sum((each) => each.maxBytes) } : {}),
        storeVersion,
      };
    },
    close() {
      closed ??= Promise.allSettled([...underway]).then(end);
      return closed;
    },
  };
}
