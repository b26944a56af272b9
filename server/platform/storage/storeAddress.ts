/**
 * This module parses the URL of a Redis into its servers and credentials.
 *
 * The scheme selects the kind: `redis` is one server, `redis+sentinel` the Sentinels that know the master, and
 * `redis+cluster` some nodes of a Cluster. `rediss` in place of `redis` selects TLS.
 */

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

export interface RedisAddress {
  readonly kind: "single" | "sentinel" | "cluster";
  /** The server, the Sentinels, or some nodes of the Cluster. */
  readonly servers: readonly ServerAddress[];
  /** Name of the master in the Sentinels' configuration. */
  readonly master?: string;
  readonly tls: boolean;
  /** Credentials for the servers that hold data. A Sentinel gets them only if it requires a password. */
  readonly username?: string;
  readonly password?: string;
  readonly database: number;
}

export const toServerName = ({ host, port }: ServerAddress) => (host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`);

/** Description for messages and logs; contains no password. */
export function describeRedis({ kind, servers, master }: RedisAddress): string {
  const list = servers.map(toServerName).join(", ");
  if (kind === "sentinel") return `Redis "${master}" of the Sentinels ${list}`;
  return kind === "cluster" ? `the Redis Cluster of ${list}` : `Redis at ${list}`;
}

const form = /^redis(s?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/]*)@)?([^@/?#]+)((?:\/[^/?#]*)*)$/;
const server = /^(?:\[([\da-fA-F:.]+)\]|([A-Za-z0-9._-]+))(?::(\d{1,5}))?$/;
const ports = { single: 6379, sentinel: 26_379, cluster: 6379 } as const;
const highestDatabase = 65_535;

function toServer(text: string, standardPort: number): ServerAddress | undefined {
  const match = server.exec(text);
  const port = Number(match?.[3] ?? standardPort);
  const host = match?.[1] ?? match?.[2];
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}

function toDatabase(text: string | undefined): number | undefined {
  if (text === undefined || text === "") return 0;
  return /^\d{1,5}$/.test(text) && Number(text) <= highestDatabase ? Number(text) : undefined;
}

function decode(text: string | undefined): string | undefined {
  try {
    return text === undefined || text === "" ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Parses a Redis URL; `undefined` if the text is not a valid address. */
export function toRedisAddress(text: string): RedisAddress | undefined {
  const match = form.exec(text);
  if (match === null) return undefined;
  const [, secure, topology, user, list = "", path = ""] = match;
  const kind = (topology ?? "single") as RedisAddress["kind"];
  const servers = list.split(",").map((each) => toServer(each, ports[kind]));
  if (servers.includes(undefined) || (kind === "single" && servers.length > 1)) return undefined;
  const steps = path.replace(/\/$/, "").split("/").slice(1);
  const master = kind === "sentinel" ? decode(steps.shift()) : undefined;
  const database = toDatabase(steps.shift());
  // A Cluster has only database 0.
  if (database === undefined || steps.length > 0 || (kind === "cluster" && database > 0)) return undefined;
  if (kind === "sentinel" && master === undefined) return undefined;
  const [name = "", ...words] = user?.split(":") ?? [];
  const secret = words.join(":");
  const username = decode(name);
  const password = decode(secret);
  // If the credentials cannot be decoded, the address is refused. Otherwise the server would connect without a password.
  if ((name !== "" && username === undefined) || (secret !== "" && password === undefined)) return undefined;
  return {
    kind,
    servers: servers as readonly ServerAddress[],
    ...(master === undefined ? {} : { master }),
    tls: secure === "s",
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    database,
  };
}
