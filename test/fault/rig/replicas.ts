/**
 * A master, its replica, and a replica of that one, under a Sentinel, with the faults of the master and its failover.
 *
 * The third server replicates the second one, not the master, for two reasons. The new master has a replica at once, so
 * writes continue without the old one. And Sentinel has no choice: with two replicas of the master, it might promote
 * the one that lacks writes that the other has confirmed.
 */
import { setTimeout as pause } from "node:timers/promises";
import { type RedisProcess, startRedis, startRedisSentinel } from "../../support/redisServer.ts";

export interface Replicas {
  /** Address for the nodes, which have their own account. */
  readonly url: string;
  readonly master: RedisProcess;
  /** Sets an option of this master until it rejoins. */
  set(name: string, value: string): Promise<void>;
  /** Kills the master. */
  kill(): Promise<void>;
  /** Cuts the master off from its replica and from Sentinel. The nodes still reach it, on old and on new connections. */
  cutOff(): Promise<void>;
  /** Resolves when Sentinel names the successor. */
  followed(): Promise<void>;
  /** The old master returns behind the last replica, and the state is as at the start. */
  rejoin(): Promise<void>;
  remove(): Promise<void>;
}

const nodePassword = "of-the-nodes";
const account = `node on >${nodePassword} ~* &* +@all`;
const cutOffPassword = "nobody-has-it";
const patienceMs = 30_000;
const betweenLooksMs = 20;

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const endMs = Date.now() + patienceMs; !(await holds().catch(() => false)); await pause(betweenLooksMs)) {
    if (Date.now() > endMs) throw new Error(`not within ${patienceMs / 1000} s: ${what}`);
  }
}

export async function startReplicas(): Promise<Replicas> {
  const options = { user: account };
  const trio = await startRedisSentinel(options);
  const { sentinel } = trio;
  const [first, second] = trio.servers as [RedisProcess, RedisProcess];
  const third = await startRedis({ ...options, replicaof: `127.0.0.1 ${second.port}` }).catch(async (reason: unknown) => {
    await trio.remove();
    throw reason;
  });
  /** Each server except the first is a replica of the server before it. */
  let chain = [first, second, third] as [RedisProcess, RedisProcess, RedisProcess];
  let old: RedisProcess | undefined;

  const follows = async (replica: RedisProcess, of: RedisProcess) => {
    const info = String(await replica.command("INFO", "replication"));
    return info.includes(`master_port:${of.port}\r`) && info.includes("master_link_status:up");
  };
  const isWhole = async () => (await follows(chain[1], chain[0])) && (await follows(chain[2], chain[1]));
  const watchedPort = async () =>
    Number(((await sentinel.command("SENTINEL", "master", "main")) as Readonly<Record<string, unknown>>).port);
  const masterPort = async () => Number(((await sentinel.command("SENTINEL", "get-master-addr-by-name", "main")) as readonly string[])[1]);

  /** True if Sentinel knows the replica and reaches it. */
  async function isWatched(): Promise<boolean> {
    const known = (await sentinel.command("SENTINEL", "replicas", "main")) as readonly Readonly<Record<string, unknown>>[];
    const [{ flags, port, "master-link-status": link } = {}, ...more] = known;
    return more.length === 0 && `${flags} ${link} ${port}` === `slave ok ${chain[1].port}`;
  }

  async function settle(): Promise<void> {
    await until("each replica follows the one before it", isWhole);
    // A master that is cut off refuses writes after the maximum lag has passed.
    for (const server of chain) await server.command("CONFIG", "SET", "min-replicas-to-write", "1", "min-replicas-max-lag", "2");
    await sentinel.command("SENTINEL", "RESET", "main");
    await until("Sentinel sees the replica", isWatched);
  }

  async function remove(): Promise<void> {
    await third.remove();
    await trio.remove();
  }

  try {
    // By default, Sentinel asks every ten seconds.
    await sentinel.command("SENTINEL", "DEBUG", "info-period", "200");
    await settle();
  } catch (reason) {
    await remove();
    throw reason;
  }
  return {
    url: `redis+sentinel://node:${nodePassword}@127.0.0.1:${sentinel.port}/main`,
    get master() {
      return chain[0];
    },
    async set(name, value) {
      await chain[0].command("CONFIG", "SET", name, value);
    },
    kill: () => chain[0].kill(),
    async cutOff() {
      const [master] = chain;
      await master.command("CONFIG", "SET", "requirepass", cutOffPassword);
      await master.command("CLIENT", "KILL", "TYPE", "replica");
      for (const client of String(await master.command("CLIENT", "LIST")).split("\n")) {
        const [, id] = /^id=(\d+) .*name=sentinel-/.exec(client) ?? [];
        if (id !== undefined) await master.command("CLIENT", "KILL", "ID", id);
      }
    },
    async followed() {
      const next = chain[1].port;
      await until("Sentinel names the successor", async () => (await masterPort()) === next);
      old = chain[0];
      chain = [chain[1], chain[2], chain[0]];
    },
    async rejoin() {
      const [master, replica, last] = chain;
      if (old === undefined) return;
      old = undefined;
      await until("the successor has its replica", () => follows(replica, master));
      await until("Sentinel watches the successor", async () => (await watchedPort()) === master.port);
      // Reset Sentinel first; otherwise it would attach this server to the new master directly.
      await sentinel.command("SENTINEL", "RESET", "main");
      await last.kill();
      await last.start();
      await last.command("REPLICAOF", "127.0.0.1", String(replica.port));
      await settle();
    },
    remove,
  };
}
