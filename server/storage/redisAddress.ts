/** Where a Redis is and how it is entered: one server, the Sentinels that know the master, or nodes of a Cluster. */

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

export interface RedisAddress {
  readonly kind: "single" | "sentinel" | "cluster";
  /** The server, the Sentinels, or some nodes of the Cluster. */
  readonly servers: readonly ServerAddress[];
  /** The name under which Sentinels know the master. */
  readonly master?: string;
  readonly tls: boolean;
  readonly username?: string;
  readonly password?: string;
  readonly database: number;
}

export const toServerName = ({ host, port }: ServerAddress) => (host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`);

/** For people: no password in it. */
export function describeRedis({ kind, servers, master }: RedisAddress): string {
  const list = servers.map(toServerName).join(", ");
  if (kind === "sentinel") return `Redis "${master}" of the Sentinels ${list}`;
  return kind === "cluster" ? `the Redis Cluster of ${list}` : `Redis at ${list}`;
}
