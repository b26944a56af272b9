import { expect, test } from "vitest";
import { defaultLimits, type Limits } from "../../../api/limits.ts";
import { createMemoryStorage } from "../../platform/storage/memoryStorage.ts";
import { createNodeRateLimits } from "../calls/rateLimits.ts";
import { createPageReaders } from "./pageReaders.ts";

function createReaders(changed: Partial<Limits>) {
  const limits = { ...defaultLimits, ...changed };
  return createPageReaders({ pageLimits: createNodeRateLimits({ storage: createMemoryStorage(), limits }, "rate.connects"), limits });
}

test("[PL36] opening streams of pages is limited by rate.connects for each address", async () => {
  const readers = createReaders({ "rate.connects": { count: 1, seconds: 60, burst: 2 } });
  for (let opened = 0; opened < 2; opened += 1) expect((await readers.draw("203.0.113.7")).refusal).toBeUndefined();
  expect(await readers.draw("203.0.113.7")).toMatchObject({ refusal: { code: "rate_limited" }, policy: '"connects";q=1;w=60' });
  expect((await readers.draw("203.0.113.8")).refusal).toBeUndefined();
});

test("[PL36] an address has at most sse.address streams, an IPv6 network too, until one of them ends", () => {
  const readers = createReaders({ "sse.address": 2 });
  const open = ["2001:db8::1", "2001:db8::2"].map((address) => readers.admit(address));
  expect(() => readers.admit("2001:db8::3")).toThrow(expect.objectContaining({ code: "rate_limited" }));
  readers.admit("2001:db8:0:1::1");
  open[0]?.leave();
  open[0]?.leave();
  readers.admit("2001:db8::3");
  expect(() => readers.admit("2001:db8::4")).toThrow(expect.objectContaining({ code: "rate_limited" }));
  expect(readers.open).toBe(3);
});

test("[SE24] a server that stops ends the streams of pages and refuses new ones", () => {
  const readers = createReaders({});
  const ended: string[] = [];
  const reader = readers.admit("203.0.113.7");
  reader.onEnd((reason) => ended.push(reason));
  const late = readers.admit("203.0.113.7");
  readers.close();
  late.onEnd((reason) => ended.push(reason));
  expect(ended).toEqual(["lost", "lost"]);
  expect(() => readers.admit("203.0.113.7")).toThrow(expect.objectContaining({ code: "unavailable" }));
});
