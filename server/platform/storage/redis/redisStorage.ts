/**
 * Redis storage implements the storage port on one Redis server, Sentinel or Cluster, shared by any number of nodes.
 *
 * This file connects the parts of the adapter, waits for Redis at the start, and tracks running calls so that `close`
 * waits for them.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type Storage, type StorageDamagedError, StorageFullError, StorageUnavailableError } from "../port.ts";
import { type AnyRecordType, createRecordTypes } from "../recordType.ts";
import { describeRedis, type RedisAddress } from "../storeAddress.ts";
import { storeVersion } from "../storeVersion.ts";
import { createRedisBlobs } from "./blobs.ts";
import { createRedisBus, toChannel } from "./bus.ts";
import { type Calls, createRedisCommands, RedisRefusedError } from "./commands.ts";
import { createCommit } from "./commit.ts";
import type { Connection, Reply } from "./connection.ts";
import { createRedisDue, createRedisLeases } from "./due.ts";
import { openRedisHealth, type RedisHealth } from "./health.ts";
import { redisKeys } from "./keys.ts";
import { createRedisLogs } from "./logs.ts";
import { createRedisRates } from "./rates.ts";
import { createRedisReads } from "./reads.ts";
import { createReplicated } from "./replicas.ts";
import { redisScripts } from "./scripts.ts";
import { createTopology } from "./topology.ts";

export interface RedisStorageOptions {
  readonly address: RedisAddress;
  /** Number of replicas that must hold a write before it is acknowledged. */
  readonly waitReplicas?: number;
  /** If given, a record of any other type is refused as a programming error. */
  readonly recordTypes?: readonly AnyRecordType[];
  /**
   * Called when Redis no longer holds the data of the start. All later calls fail, so the process should end. The
   * default handler throws the error uncaught, which ends the process.
   */
  readonly onLost?: (error: StorageDamagedError) => void;
  /** How long the start waits for Redis. */
  readonly startMs?: number;
  /** How long a call is retried if Redis did not receive it, or refused it without executing it. */
  readonly patienceMs?: number;
  readonly now?: () => number;
}

const MiB = 1024 * 1024;
const healthPatienceMs = 1000;

function crash(error: Error): void {
  queueMicrotask(() => {
    throw error;
  });
}

/**
 * Prepares a new connection: checks the user's rights and loads the scripts. A command whose script is missing must be
 * sent again, which would change the order of commits, so all scripts are loaded first.
 */
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

/**
 * Opens the store. Throws a StorageUnavailableError if Redis cannot be used in time, and a StorageDamagedError if its
 * data is newer than this server or belongs to another store.
 */
export async function createRedisStorage(options: RedisStorageOptions): Promise<Storage> {
  const { address, waitReplicas = 0, onLost = crash, startMs = 30_000, patienceMs = 3000 } = options;
  const recordTypes = options.recordTypes === undefined ? undefined : createRecordTypes(options.recordTypes);
  const topology = createTopology({ address, prepare: (connection) => prepare(connection, address) });
  // A master without enough replicas may have been replaced by a failover, so the masters are looked up again.
  const replicatedWithin = (ms: number) => createReplicated(waitReplicas, ms, () => topology.invalidate(undefined));
  const bus = createRedisBus({ address, topology, nodeId: randomBytes(16) });
  const plain = createRedisCommands({ topology, replicated: replicatedWithin(patienceMs), patienceMs });
  // Health checks do not wait for replicas: having to wait already means that the check has failed.
  const healthCommands = createRedisCommands({
    topology,
    replicated: replicatedWithin(0),
    patienceMs: Math.min(patienceMs, healthPatienceMs),
  });
  let health: RedisHealth | undefined;
  let closed: Promise<void> | undefined;
  const underway = new Set<Promise<unknown>>();

  /** Refuses calls after `close`, and tracks the calls that are running before it. */
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
        calls: healthCommands,
        topology,
        address,
        waitReplicas,
        now: options.now,
        onLost,
        onCheck: () => void bus.keep(),
      });
    } catch (reason) {
      const isTemporary = reason instanceof StorageUnavailableError && !(reason instanceof RedisRefusedError);
      if (isTemporary && performance.now() < untilMs) {
        await delay(200);
        continue;
      }
      end();
      if (isTemporary) throw new StorageUnavailableError(`${describeRedis(address)} cannot be used: ${reason.message}`, { cause: reason });
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
    isShared: true,
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
