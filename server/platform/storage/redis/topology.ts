/**
 * The topology finds the master of each partition and keeps one connection to each master.
 *
 * Known masters are kept until a caller reports that they may be wrong (`invalidate`). They are then looked up again: from
 * the Sentinels, or from any node of the Cluster.
 *
 * It uses plain connections because the Sentinel and Cluster clients of the `redis` package resend commands whose
 * answer was lost.
 */
import { type Partition, partitionCount } from "../port.ts";
import { type RedisAddress, type ServerAddress, toServerName } from "../storeAddress.ts";
import type { RedisLogin } from "./client.ts";
import { type Connection, ErrorReply, NotSentError, openConnection, type Reply } from "./connection.ts";
import { redisKeys } from "./keys.ts";

export interface Topology {
  /** The open connection to a partition's master, if there is one. */
  current(partition: Partition): Connection | undefined;
  /** Like `current`, but opens the connection if needed. Throws a NotSentError or an ErrorReply. */
  connect(partition: Partition): Promise<Connection>;
  /** The connection to a server that a Cluster named in a redirect. */
  connectTo(server: ServerAddress): Promise<Connection>;
  /**
   * Reports that the known masters may be wrong, so that they are looked up again. `connection`, if given, leads to a
   * server that is not a master.
   */
  invalidate(connection: Connection | undefined): void;
  /** One partition of each known master. */
  shards(): Promise<readonly Partition[]>;
  close(): void;
}

export interface TopologyOptions {
  readonly address: RedisAddress;
  /** Runs on each new connection to a master before the connection is used. */
  readonly prepare: (connection: Connection) => Promise<void>;
}

const text = (reply: Reply | undefined) => (Buffer.isBuffer(reply) ? reply.toString() : String(reply ?? ""));

/** Keeps one connection per server. Callers share a connection that is being opened. */
function createConnections(open: (server: ServerAddress) => Promise<Connection>) {
  const connections = new Map<string, { opened: Connection | undefined; readonly opening: Promise<Connection> }>();
  let closed = false;
  return {
    find(server: ServerAddress): Connection | undefined {
      const found = connections.get(toServerName(server))?.opened;
      return found?.isOpen === true ? found : undefined;
    },
    async get(server: ServerAddress): Promise<Connection> {
      if (closed) throw new NotSentError("the store is closed");
      const name = toServerName(server);
      const found = connections.get(name);
      if (found !== undefined && (found.opened === undefined || found.opened.isOpen)) return found.opening;
      found?.opened?.close();
      const entry = { opened: undefined as Connection | undefined, opening: open(server) };
      connections.set(name, entry);
      try {
        const connection = await entry.opening;
        if (closed) connection.close();
        entry.opened = connection;
        return connection;
      } catch (reason) {
        if (connections.get(name) === entry) connections.delete(name);
        throw reason;
      }
    },
    /** Closes the connections to all other servers, so that callers waiting on them fail at once. */
    closeAllBut(server: ServerAddress): void {
      for (const [name, { opened }] of connections) if (name !== toServerName(server)) opened?.close();
    },
    close(): void {
      closed = true;
      for (const { opened } of connections.values()) opened?.close();
    },
  };
}

/** Asks the servers one after the other until one of them answers. */
async function askAny<Answer>(servers: Iterable<ServerAddress>, ask: (server: ServerAddress) => Promise<Answer>): Promise<Answer> {
  let last: unknown = new NotSentError("no server is named");
  for (const server of servers) {
    try {
      return await ask(server);
    } catch (reason) {
      last = reason;
    }
  }
  throw toFailure(last);
}

function toFailure(reason: unknown): unknown {
  if (reason instanceof NotSentError || reason instanceof ErrorReply) return reason;
  return new NotSentError((reason as Error).message, { cause: reason });
}

/** Keeps the result of `load` until `forget` is called. Concurrent callers share one load. */
function createKept<Value>(load: () => Promise<Value>) {
  let value: Value | undefined;
  let loading: Promise<Value> | undefined;
  return {
    current: () => value,
    forget(): void {
      value = undefined;
    },
    get(): Promise<Value> {
      if (value !== undefined) return Promise.resolve(value);
      loading ??= load()
        .then((loaded) => {
          value = loaded;
          return loaded;
        })
        .finally(() => {
          loading = undefined;
        });
      return loading;
    },
  };
}

export function createTopology({ address, prepare }: TopologyOptions): Topology {
  const isReplicated = address.kind !== "single";
  const connections = createConnections(async (server) => {
    const connection = await openConnection(server, address);
    try {
      // Just after a failover, the old master may still be listed as the master.
      if (isReplicated && text(((await connection.send(["ROLE"])) as readonly Reply[])[0]) !== "master") {
        throw new NotSentError(`Redis at ${toServerName(server)} is not a master`);
      }
      await prepare(connection);
      return connection;
    } catch (reason) {
      connection.close();
      throw reason;
    }
  });
  /** The masters found last. A Cluster may have moved away from all the nodes in the configured address. */
  let seen: readonly ServerAddress[] = [];
  const masters = createKept(async () => {
    const found = await findMasters(address, seen);
    // An old master may be alive and wait for replicas it has lost, so its pending answers may never come.
    if (address.kind === "sentinel") connections.closeAllBut(found[0] as ServerAddress);
    seen = [...new Map(found.map((server) => [toServerName(server), server])).values()];
    return found;
  });
  const masterOf = (partition: Partition): ServerAddress => {
    const server = masters.current()?.[partition];
    if (server === undefined) throw new NotSentError(`no Redis holds partition ${partition}`);
    return server;
  };

  return {
    current(partition) {
      const server = masters.current()?.[partition];
      return server === undefined ? undefined : connections.find(server);
    },
    async connect(partition) {
      await masters.get();
      const server = masterOf(partition);
      try {
        return await connections.get(server);
      } catch (reason) {
        if (isReplicated) masters.forget();
        throw reason;
      }
    },
    connectTo: connections.get,
    invalidate(connection) {
      if (isReplicated) masters.forget();
      // A master that has become a replica keeps its connections open. The connection is closed because a new one
      // checks the role.
      if (address.kind === "sentinel") connection?.close();
    },
    async shards() {
      const byServer = new Map<string, Partition>();
      for (const [partition, server] of (await masters.get()).entries()) {
        const name = toServerName(server);
        if (!byServer.has(name)) byServer.set(name, partition);
      }
      return [...byServer.values()];
    },
    close: connections.close,
  };
}

/** Returns the master of each partition. */
async function findMasters(address: RedisAddress, seen: readonly ServerAddress[]): Promise<readonly ServerAddress[]> {
  const everywhere = (server: ServerAddress) => Array.from({ length: partitionCount }, () => server);
  if (address.kind === "single") return everywhere(address.servers[0] as ServerAddress);
  if (address.kind === "sentinel") return everywhere(await askSentinels(address));
  let fallbackMasters: readonly ServerAddress[] | undefined;
  return askAny([...seen, ...address.servers], async (server) => {
    const { isWhole, masters } = await askCluster(server, address);
    if (isWhole) return masters;
    // The node may be cut off from the others, which may have elected new masters. Its answer is used only if no other
    // node answers.
    fallbackMasters ??= masters;
    throw new NotSentError(`the Cluster is down for its node ${toServerName(server)}`);
  }).catch((reason: unknown) => {
    if (fallbackMasters === undefined) throw reason;
    return fallbackMasters;
  });
}

/**
 * Waits for a majority of Sentinels and returns the answer with the highest epoch. A Sentinel that is cut off from the
 * others may still name a master that was replaced.
 */
async function askSentinels(address: RedisAddress): Promise<ServerAddress> {
  const { servers } = address;
  const most = Math.floor(servers.length / 2) + 1;
  const named: { readonly server: ServerAddress; readonly epoch: number }[] = [];
  let last: unknown;
  await new Promise<void>((resolve) => {
    let left = servers.length;
    for (const server of servers) {
      askSentinel(server, address)
        .then(
          (answer) => named.push(answer),
          (reason: unknown) => {
            last = reason;
          },
        )
        .finally(() => {
          left -= 1;
          if (left === 0 || named.length >= most) resolve();
        });
    }
  });
  const [newest] = named.sort((one, other) => other.epoch - one.epoch);
  if (newest === undefined) throw toFailure(last);
  return newest.server;
}

async function withConnection<Answer>(
  server: ServerAddress,
  login: RedisLogin,
  ask: (connection: Connection) => Promise<Answer>,
): Promise<Answer> {
  const connection = await openConnection(server, login);
  try {
    return await ask(connection);
  } finally {
    connection.close();
  }
}

async function askSentinel(server: ServerAddress, { tls, username, password, master = "" }: RedisAddress) {
  const ask = async (connection: Connection) => {
    const reply = (await connection.send(["SENTINEL", "get-master-addr-by-name", master])) as readonly Reply[] | null;
    if (reply === null) throw new NotSentError(`the Sentinel at ${toServerName(server)} knows no master "${master}"`);
    const facts = (await connection.send(["SENTINEL", "MASTER", master])) as unknown as Record<string, Reply>;
    return { server: { host: text(reply[0]), port: Number(text(reply[1])) }, epoch: Number(text(facts["config-epoch"])) };
  };
  try {
    return await withConnection(server, { tls, database: 0 }, ask);
  } catch (reason) {
    // The first attempt sends no credentials. Most Sentinels need none, and may refuse an unknown user.
    if (password === undefined || !(reason instanceof ErrorReply && reason.message.startsWith("NOAUTH"))) throw reason;
    return withConnection(server, { tls, database: 0, password, ...(username === undefined ? {} : { username }) }, ask);
  }
}

/** Returns the masters known to one node. `isWhole` is true if the node reports that the Cluster is up. */
function askCluster(
  server: ServerAddress,
  address: RedisAddress,
): Promise<{ readonly isWhole: boolean; readonly masters: readonly ServerAddress[] }> {
  return withConnection(server, address, async (connection) => {
    const partitions = Array.from({ length: partitionCount }, (_, partition) => partition);
    const [info, ranges, ...slots] = await Promise.all([
      connection.send(["CLUSTER", "INFO"]),
      connection.send(["CLUSTER", "SLOTS"]),
      ...partitions.map((partition) => connection.send(["CLUSTER", "KEYSLOT", redisKeys.meta(partition)])),
    ]);
    const masters = slots.map((slot, partition) => {
      const range = (ranges as readonly (readonly Reply[])[]).find(
        ([from, to]) => Number(from) <= Number(slot) && Number(slot) <= Number(to),
      );
      if (range === undefined) throw new NotSentError(`no node of the Cluster holds the slot ${Number(slot)} of partition ${partition}`);
      const [host, port] = range[2] as readonly Reply[];
      // A node that does not know its own host name is reachable at the address used for this query.
      return { host: text(host) || server.host, port: Number(port) };
    });
    return { isWhole: text(info).includes("cluster_state:ok"), masters };
  });
}

/** Returns the server named in a `MOVED` or `ASK` reply. */
export function toNamedServer(refusal: ErrorReply, asked: ServerAddress): ServerAddress {
  const name = refusal.message.slice(refusal.message.lastIndexOf(" ") + 1);
  const colon = name.lastIndexOf(":");
  return { host: name.slice(0, colon) || asked.host, port: Number(name.slice(colon + 1)) };
}
