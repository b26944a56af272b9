/**
 * What the store uses of the `redis` package, in types of its own: those of the package describe every command of every
 * module, and made a third more work for the type check of the whole repository.
 */
import { RedisClient as PackageClient, RESP_TYPES } from "redis";
import type { RedisAddress, ServerAddress } from "./storeAddress.ts";

export interface RedisClient {
  readonly isReady: boolean;
  connect(): Promise<unknown>;
  /** Whatever is under way fails. */
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

/** Makes the class of all commands, which takes some 20 ms: the package's own `createClient` does so for each kind of options anew. */
let create: Create | undefined;

export type Entrance = Pick<RedisAddress, "tls" | "username" | "password" | "database">;

const connectMs = 2000;

/** A client that answers in bytes, never connects again, and keeps no commands for later. */
export function createRedisClient(server: ServerAddress, entrance: Entrance): RedisClient {
  const { tls, username, password, database } = entrance;
  create ??= (PackageClient as unknown as { factory(config: object): Create }).factory({});
  return create({
    socket: { host: server.host, port: server.port, connectTimeout: connectMs, reconnectStrategy: false, ...(tls ? { tls } : {}) },
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    database,
    disableOfflineQueue: true,
    // 0: no timer for each command; silence is noticed for the connection as a whole.
    commandOptions: { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer }, timeout: 0 },
  });
}

/** Fails, and destroys the client, also when somebody accepts the connection and then says nothing. */
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
