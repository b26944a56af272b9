/**
 * Which server is the master of a partition, and the one connection to it. What is known of masters is kept until a
 * caller doubts it; then it is asked for anew: from the Sentinels, or from any node of the Cluster.
 *
 * Written on plain connections: the client's own Sentinel and Cluster repeat commands whose answer was lost.
 */
import { type Partition, partitionCount } from "./port.ts";
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
  throw last instanceof NotSentError || last instanceof ErrorReply ? last : new NotSentError((last as Error).message, { cause: last });
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
  if (address.kind === "sentinel") return everywhere(await askAny(address.servers, (server) => askSentinel(server, address)));
  return askAny([...seen, ...address.servers], (server) => askCluster(server, address));
}

async function withConnection<Answer>(
  server: ServerAddress,
  address: RedisAddress,
  ask: (connection: Connection) => Promise<Answer>,
): Promise<Answer> {
  const connection = await openConnection(server, address);
  try {
    return await ask(connection);
  } finally {
    connection.close();
  }
}

function askSentinel(server: ServerAddress, address: RedisAddress): Promise<ServerAddress> {
  // Sentinels have no databases, and their own passwords: none here.
  const { tls } = address;
  return withConnection(server, { kind: "single", servers: [server], tls, database: 0 }, async (connection) => {
    const reply = (await connection.send(["SENTINEL", "get-master-addr-by-name", address.master ?? ""])) as readonly Reply[] | null;
    if (reply === null) throw new NotSentError(`the Sentinel at ${toServerName(server)} knows no master "${address.master}"`);
    return { host: text(reply[0]), port: Number(text(reply[1])) };
  });
}

function askCluster(server: ServerAddress, address: RedisAddress): Promise<readonly ServerAddress[]> {
  return withConnection(server, address, async (connection) => {
    const partitions = Array.from({ length: partitionCount }, (_, partition) => partition);
    const [ranges, ...slots] = await Promise.all([
      connection.send(["CLUSTER", "SLOTS"]),
      ...partitions.map((partition) => connection.send(["CLUSTER", "KEYSLOT", redisKeys.meta(partition)])),
    ]);
    return slots.map((slot, partition) => {
      const range = (ranges as readonly (readonly Reply[])[]).find(
        ([from, to]) => Number(from) <= Number(slot) && Number(slot) <= Number(to),
      );
      if (range === undefined) throw new NotSentError(`no node of the Cluster holds the slot ${Number(slot)} of partition ${partition}`);
      const [host, port] = range[2] as readonly Reply[];
      // A node that does not know its own name stands where it was asked.
      return { host: text(host) || server.host, port: Number(port) };
    });
  });
}

/** The server that `MOVED` or `ASK` names. */
export function toNamedServer(refusal: ErrorReply, asked: ServerAddress): ServerAddress {
  const name = refusal.message.slice(refusal.message.lastIndexOf(" ") + 1);
  const colon = name.lastIndexOf(":");
  return { host: name.slice(0, colon) || asked.host, port: Number(name.slice(colon + 1)) };
}
