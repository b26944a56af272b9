/**
 * The Redis client wraps the part of the `redis` package that the store uses, with its own types.
 *
 * The types of the package describe every command of every module; they made the type check of the whole repository
 * slower by a third.
 */
import { RedisClient as PackageClient, RESP_TYPES } from "redis";
import type { RedisAddress, ServerAddress } from "../storeAddress.ts";

export interface RedisClient {
  readonly isReady: boolean;
  connect(): Promise<unknown>;
  /** Closes the connection at once. Pending commands fail. */
  destroy(): void;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "end" | "terminated", listener: () => void): unknown;
  sendCommand(args: readonly (string | Buffer)[]): Promise<unknown>;
  subscribe(channel: string, listener: (message: Buffer) => void, asBytes: true): Promise<void>;
  unsubscribe(channel: string): Promise<void>;
}

interface RedisClientOptions {
  readonly socket: object;
  readonly username?: string;
  readonly password?: string;
  readonly database?: number;
  readonly disableOfflineQueue?: boolean;
  readonly commandOptions?: object;
}

type Create = (options: RedisClientOptions) => RedisClient;

/**
 * Creates clients. It is made once because the package takes about 20 ms to build its command class, and the package's
 * `createClient` builds the class again for each different set of options.
 */
let create: Create | undefined;

export type RedisLogin = Pick<RedisAddress, "tls" | "username" | "password" | "database">;

const connectMs = 2000;

/** Creates a client that returns bytes, never reconnects, and does not queue commands while it is offline. */
export function createRedisClient(server: ServerAddress, login: RedisLogin): RedisClient {
  const { tls, username, password, database } = login;
  create ??= (PackageClient as unknown as { factory(config: object): Create }).factory({});
  return create({
    socket: { host: server.host, port: server.port, connectTimeout: connectMs, reconnectStrategy: false, ...(tls ? { tls } : {}) },
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    database,
    disableOfflineQueue: true,
    // 0: no timer per command. `connection.ts` detects a connection that no longer answers.
    commandOptions: { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer }, timeout: 0 },
  });
}

/**
 * Connects the client. On failure it destroys the client and throws. A server that accepts the connection but never
 * answers also fails, after `2 × connectMs`.
 */
export async function connectRedisClient(client: RedisClient): Promise<void> {
  const giveUp = setTimeout(() => client.destroy(), connectMs * 2).unref();
  try {
    await client.connect();
  } catch (reason) {
    client.destroy();
    throw reason;
  } finally {
    clearTimeout(giveUp);
  }
}
