/**
 * The stores that a server of the tests can stand on: a folder of its own, or a Redis of its own. Which one a test gets
 * that does not ask is said by `TEST_STORE`, so that the same file runs on both.
 */
import { type RedisProcess, startRedis } from "./redisServer.ts";

export type StoreKind = "embedded" | "redis";

export interface Store {
  readonly kind: StoreKind;
  /** What a server has to be told to use it; the embedded one stands in the data directory. */
  readonly settings: Readonly<Record<string, string>>;
  /** The process behind it, if it is one. */
  readonly redis: RedisProcess | undefined;
  /** Ends it and removes its data. */
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
