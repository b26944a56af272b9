/**
 * The health check reads the state of Redis every second. It reads the server time, probes whether each master accepts
 * writes, and checks that each master still has the data this server has read. Every ten checks it reads the durability
 * settings of the servers again.
 */
import { randomUUID } from "node:crypto";
import { type Partition, partitionCount, StorageDamagedError, StorageUnavailableError } from "../port.ts";
import type { RedisAddress } from "../storeAddress.ts";
import { storeVersion } from "../storeVersion.ts";
import { createDistantClock } from "./clock.ts";
import { type Calls, RedisRefusedError, toUnavailable } from "./commands.ts";
import { AnswerLostError, ErrorReply, NotSentError, type Reply } from "./connection.ts";
import { readFacts, readSettings, type ServerFacts, toWeaknesses } from "./durability.ts";
import { redisKeys } from "./keys.ts";
import { redisScripts } from "./scripts.ts";
import type { Topology } from "./topology.ts";

/** This partition stores the layout version, the store's id and the store time. */
const metaPartition: Partition = 0;
const checkEveryMs = 1000;
const checksBetweenReadings = 10;

const text = (reply: Reply | undefined) => (reply === null || reply === undefined ? "" : String(reply));

export interface RedisHealth {
  /** Store time in Unix milliseconds; never goes back. */
  now(): number;
  weaknesses(): readonly string[];
  facts(): readonly ServerFacts[];
  /** True if every master accepted a write during the last check. */
  takesWrites(): boolean;
  /** Reports that a write was refused for lack of memory or disk. Writes count as refused until a check succeeds. */
  wasRefused(): void;
  /** The error if Redis no longer has the data of the store that was opened. */
  lost(): StorageDamagedError | undefined;
  close(): void;
}

export interface RedisHealthOptions {
  readonly calls: Calls;
  readonly topology: Topology;
  readonly address: RedisAddress;
  readonly waitReplicas: number;
  /** Replaces the server's clock in tests. */
  readonly now: (() => number) | undefined;
  readonly onLost: (error: StorageDamagedError) => void;
  /** Called during each check. */
  readonly onCheck: () => void;
}

/**
 * Writes the store's id into each partition of a new store, and checks it in an existing store. The masters of a
 * Cluster can lose their data one by one. Throws a StorageDamagedError if a partition has no id or the id of another
 * store.
 */
async function claimPartitions(calls: Calls, store: string, isNew: boolean): Promise<void> {
  const stores = await Promise.all(
    Array.from({ length: partitionCount }, (_, partition) =>
      calls.run({
        partition,
        script: redisScripts.claimPartition,
        keys: [redisKeys.meta(partition)],
        args: [store, isNew ? "1" : "0"],
        repeatable: true,
      }),
    ),
  );
  const missing = stores.findIndex((found) => text(found) !== store);
  if (missing !== -1) throw new StorageDamagedError(`partition ${missing} of the store is gone, or belongs to another store`);
  if (isNew)
    await calls.run({
      partition: metaPartition,
      script: redisScripts.closeStore,
      keys: [redisKeys.meta(metaPartition)],
      args: [],
      repeatable: true,
    });
}

/**
 * Opens the store and starts the checks. Throws a StorageDamagedError if the data belongs to a newer layout or does not
 * belong to this store.
 */
export async function openRedisHealth(options: RedisHealthOptions): Promise<RedisHealth> {
  const { calls, topology, address, waitReplicas, onLost } = options;
  const metaKeys = [redisKeys.meta(metaPartition)];
  const opened = (await calls.run({
    partition: metaPartition,
    script: redisScripts.openStore,
    keys: metaKeys,
    args: [String(storeVersion), String(partitionCount), randomUUID()],
    repeatable: true,
  })) as readonly Reply[];
  const [version, partitions, store = "", whole] = opened.map(text);
  if (Number(version) > storeVersion)
    throw new StorageDamagedError(`the store has version ${version}; this server knows stores up to version ${storeVersion}`);
  if (Number(partitions) !== partitionCount)
    throw new StorageDamagedError(`the store has ${partitions} partitions; this server has ${partitionCount}`);
  if (address.kind === "cluster") await claimPartitions(calls, store, whole !== "1");

  const clock = createDistantClock();
  let latestMs = 0;
  let writes = true;
  let lost: StorageDamagedError | undefined;
  let weaknesses: readonly string[] = [];
  let facts: readonly ServerFacts[] = [];
  let closed = false;
  /** For each probed partition: the mark that identifies its data, and the latest probe time known to be stored there. */
  const seen = new Map<Partition, { readonly mark: string; readonly reachedMs: number }>();

  async function readTime(): Promise<void> {
    const askedMs = performance.now();
    const reply = await calls.run({
      partition: metaPartition,
      script: redisScripts.readTime,
      keys: metaKeys,
      args: [],
      repeatable: true,
    });
    const [timeMs, found] = (reply as readonly Reply[]).map(text);
    clock.addReading({ askedMs, serverMs: Number(timeMs), answeredMs: performance.now() });
    if (found !== store) lose();
  }

  function lose(): void {
    if (lost !== undefined) return;
    lost = new StorageDamagedError(
      "Redis no longer holds what this server has read: it was emptied, replaced, or set back to an older state",
    );
    onLost(lost);
  }

  async function readServers(): Promise<void> {
    const shards = await topology.shards();
    const read = await Promise.all(
      shards.map(async (partition) => {
        const connection = await topology.connect(partition);
        const server = await readFacts(connection);
        if (server.isTooOld) throw new RedisRefusedError(`Redis ${server.version} is too old: 7.0 or newer is needed`);
        return { server, found: toWeaknesses(await readSettings(connection), server, { kind: address.kind, waitReplicas }) };
      }),
    );
    facts = read.map(({ server }) => server);
    weaknesses = [...new Set(read.flatMap(({ found }) => found))];
  }

  async function readPromise(): Promise<void> {
    try {
      await readServers();
    } catch (reason) {
      if (reason instanceof ErrorReply) throw toUnavailable(reason);
      if (!(reason instanceof NotSentError || reason instanceof AnswerLostError)) throw reason;
      throw new StorageUnavailableError(reason.message, { cause: reason });
    }
  }

  async function probe(): Promise<void> {
    const shards = await topology.shards();
    await Promise.all(
      shards.map(async (partition) => {
        const nowMs = clock.at(performance.now());
        const reply = await calls.run({
          partition,
          script: redisScripts.probe,
          keys: [redisKeys.meta(partition)],
          args: [randomUUID(), String(nowMs)],
          repeatable: true,
          replicated: true,
        });
        const [mark = "", reached] = (reply as readonly Reply[]).map(text);
        const known = seen.get(partition);
        if (known !== undefined && (known.mark !== mark || Number(reached) < known.reachedMs)) lose();
        seen.set(partition, { mark, reachedMs: Math.max(Number(reached), nowMs) });
      }),
    );
  }

  await Promise.all([readPromise(), readTime()]);
  let checking = false;
  let checks = 0;
  async function check(): Promise<void> {
    if (checking || closed) return;
    checking = true;
    options.onCheck();
    try {
      await readTime();
      await probe();
      writes = true;
      checks += 1;
      if (checks % checksBetweenReadings === 0) await readPromise();
    } catch {
      // Callers get the reason from their own failed commands. Here a failure only means that writes are refused.
      writes = false;
    } finally {
      checking = false;
    }
  }
  const timer = setInterval(() => void check(), checkEveryMs).unref();

  const readClock = options.now ?? (() => clock.at(performance.now()));
  return {
    now() {
      latestMs = Math.max(latestMs, readClock());
      return latestMs;
    },
    weaknesses: () => weaknesses,
    facts: () => facts,
    takesWrites: () => writes && lost === undefined,
    wasRefused() {
      writes = false;
    },
    lost: () => lost,
    close() {
      closed = true;
      clearInterval(timer);
    },
  };
}
