/**
 * Which server is the master of a partition, and the one connection to it. What is known of masters is kept until a
 * caller doubts it; then it is asked for anew: from the Sentinels, or from any node of the Cluster.
 *
 * Written on plain connections: the client's own Sentinel and Cluster repeat commands whose answer was lost.
 */
import { type Partition, partitionCount } from "./port.ts";
import type { Entrance } from "./redisClient.ts";
import { type Connection, ErrorReply, NotSentError, openConnection, type Reply } from "./redisConnection.ts";
import { redisKeys } from "./redisKeys.ts";
import { type RedisAddress, type ServerAddress, toServerName } from "./storeAddress.ts";

export interface Topology {
  /** The open connection to a partition's master, if there is one. */
  current(partition: Partition): Connection | undefined;
  /** The same, opened now when there is none. Fails with a NotSentError or an ErrorReply. */
  connect(partition: Partition): Promise<Connection>;
  /** The connection to a server that a Cluster has named. */
  connectTo(server: ServerAddress): Promise<Connection>;
  /** What is known of masters may be wrong; `connection` leads to none, if it is given. */
  doubt(connection: Connection | undefined): void;
  /** One partition of each master, as far as they are known. */
  shards(): Promise<readonly Partition[]>;
  close(): void;
}

export interface TopologyOptions {
  readonly address: RedisAddress;
  /** Done to each new connection to a master before anybody else uses it. */
  readonly prepare: (connection: Connection) => Promise<void>;
}

const text = (reply: Reply | undefined) => (Buffer.isBuffer(reply) ? reply.toString() : String(reply ?? ""));

/** One connection a server; those that ask while it is being opened share it. */
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
    /** Whoever waits for an answer of another server is told that none will come. */
    closeAllBut(server: ServerAddress): void {
      for (const [name, { opened }] of connections) if (name !== toServerName(server)) opened?.close();
    },
    close(): void {
      closed = true;
      for (const { opened } of connections.values()) opened?.close();
    },
  };
}

/** Asks one server after the other until one answers. */
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

/** Keeps what `load` answered until it is forgotten; those that ask while it loads share it. */
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
      // Just after a failover the old master may still be named.
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
  /** A Cluster may have moved away from all the nodes that were named at first. */
  let seen: readonly ServerAddress[] = [];
  const masters = createKept(async () => {
    const found = await findMasters(address, seen);
    // What an old master has not answered yet, it will not; it may even be alive, and wait for replicas it has lost.
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
    doubt(connection) {
      if (isReplicated) masters.forget();
      // A master that has become a replica keeps its connections; a new one asks for its role again.
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

/** The master of each partition. */
async function findMasters(address: RedisAddress, seen: readonly ServerAddress[]): Promise<readonly ServerAddress[]> {
  const everywhere = (server: ServerAddress) => Array.from({ length: partitionCount }, () => server);
  if (address.kind === "single") return everywhere(address.servers[0] as ServerAddress);
  if (address.kind === "sentinel") return everywhere(await askSentinels(address));
  let doubtful: readonly ServerAddress[] | undefined;
  return askAny([...seen, ...address.servers], async (server) => {
    const { isWhole, masters } = await askCluster(server, address);
    if (isWhole) return masters;
    // It may be cut off from the others, who have made new masters meanwhile.
    doubtful ??= masters;
    throw new NotSentError(`the Cluster is down for its node ${toServerName(server)}`);
  }).catch((reason: unknown) => {
    if (doubtful === undefined) throw reason;
    return doubtful;
  });
}

/** The newest of what most Sentinels say: one that is cut off from the others goes on naming a master they have given up. */
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
  entrance: Entrance,
  ask: (connection: Connection) => Promise<Answer>,
): Promise<Answer> {
  const connection = await openConnection(server, entrance);
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
    // Most Sentinels let everybody in, and might refuse a user they do not know.
    if (password === undefined || !(reason instanceof ErrorReply && reason.message.startsWith("NOAUTH"))) throw reason;
    return withConnection(server, { tls, database: 0, password, ...(username === undefined ? {} : { username }) }, ask);
  }
}

/** `isWhole`: it takes commands, as far as it knows. */
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
      // A node that does not know its own name stands where it was asked.
      return { host: text(host) || server.host, port: Number(port) };
    });
    return { isWhole: text(info).includes("cluster_state:ok"), masters };
  });
}

/** The server that `MOVED` or `ASK` names. */
export function toNamedServer(refusal: ErrorReply, asked: ServerAddress): ServerAddress {
  const name = refusal.message.slice(refusal.message.lastIndexOf(" ") + 1);
  const colon = name.lastIndexOf(":");
  return { host: name.slice(0, colon) || asked.host, port: Number(name.slice(colon + 1)) };
}
