import { expect, test } from "vitest";
import { describeRedis, toRedisAddress } from "./storeAddress.ts";

const local = (port: number) => ({ host: "127.0.0.1", port });

test.each([
  ["redis://127.0.0.1", { kind: "single", servers: [local(6379)], tls: false, database: 0 }],
  [
    "rediss://me:p%40ss:word@[::1]:7000/3",
    { kind: "single", servers: [{ host: "::1", port: 7000 }], tls: true, username: "me", password: "p@ss:word", database: 3 },
  ],
  [
    "redis://:secret@cache.example/",
    { kind: "single", servers: [{ host: "cache.example", port: 6379 }], tls: false, password: "secret", database: 0 },
  ],
  [
    "redis+sentinel://a,b:7001/main",
    {
      kind: "sentinel",
      servers: [
        { host: "a", port: 26_379 },
        { host: "b", port: 7001 },
      ],
      master: "main",
      tls: false,
      database: 0,
    },
  ],
  [
    "redis+sentinel://:pw@a/main/2",
    { kind: "sentinel", servers: [{ host: "a", port: 26_379 }], master: "main", tls: false, password: "pw", database: 2 },
  ],
  [
    "rediss+cluster://a:1,b:2,c",
    {
      kind: "cluster",
      servers: [
        { host: "a", port: 1 },
        { host: "b", port: 2 },
        { host: "c", port: 6379 },
      ],
      tls: true,
      database: 0,
    },
  ],
])("[ST40] %s names the Redis servers and the credentials", (text, address) => {
  expect(toRedisAddress(text)).toEqual(address);
});

test.each([
  "",
  "redis://",
  "http://127.0.0.1",
  "redis://a,b",
  "redis://a:0",
  "redis://a:70000",
  "redis://a/x",
  "redis://a/1/2",
  "redis://a?b=c",
  "redis://:50%@a",
  "redis://50%:secret@a",
  "redis+sentinel://a",
  "redis+sentinel://a/",
  "redis+cluster://a/1",
  "redis+other://a",
])("[ST40] %j is not a valid Redis address", (text) => {
  expect(toRedisAddress(text)).toBeUndefined();
});

test("[ST40] the description of an address contains no password", () => {
  const address = toRedisAddress("redis+sentinel://me:secret@a,b/main");
  expect(address && describeRedis(address)).toBe('Redis "main" of the Sentinels a:26379, b:26379');
});
