/**
 * The stores of test servers: an own folder, or an own Redis. `TEST_STORE` decides which store a test gets by default,
 * so that the same file runs on both.
 */
import { type RedisProcess, startRedis } from "./redisServer.ts";

export type StoreKind = "embedded" | "redis";

export interface Store {
  readonly kind: StoreKind;
  /** Settings that make a server use the store. The embedded store is in the data directory. */
  readonly settings: Readonly<Record<string, string>>;
  /** The process of the store, if there is one. */
  readonly redis: RedisProcess | undefined;
  /** Ends the store and removes its data. */
  remove(): Promise<void>;
}

const kinds: readonly StoreKind[] = ["embedded", "redis"];

function readKind(text: string): StoreKind {
  const kind = kinds.find((each) => each === text);
  if (kind === undefined) throw new Error(`TEST_STORE is ${text}, not one of ${kinds.join(", ")}`);
  return kind;
}

export const storeUnderTest: StoreKind = readKind(process.env.TEST_STORE ?? "embedded");

/** Nodes on one Redis need the same key. */
export const secretKey = "5a".repeat(32);

export async function startStore(kind: StoreKind): Promise<Store> {
  if (kind === "embedded") return { kind, settings: {}, redis: undefined, remove: async () => {} };
  const redis = await startRedis();
  return {
    kind,
    settings: { REDIS_URL: `redis://127.0.0.1:${redis.port}`, SVC_SECRET_KEY: secretKey },
    redis,
    remove: () => redis.remove(),
  };
}
