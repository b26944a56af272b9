/** Tests what nodes share besides data (rates, the bus, time), and the status that the store reports. */
import { describe, expect, test } from "vitest";
import { batch, put, type WithStorage } from "./storageTypes.ts";

function createClock() {
  let nowMs = 1_900_000_000_000;
  return { now: () => nowMs, advance: (ms: number) => (nowMs += ms) };
}

const tenASecond = { count: 10, seconds: 1, burst: 20 };

export function sharedTests(withStorage: WithStorage): void {
  describe("rates", () => {
    test("[ST17] a bucket allows its burst, then its rate, and returns when the next token is available", () => {
      const clock = createClock();
      return withStorage(async (storage) => {
        const take = async (cost?: number) =>
          (await storage.rates.take([{ bucket: "a", policy: tenASecond, ...(cost === undefined ? {} : { cost }) }]))[0];
        for (let left = 19; left >= 1; left -= 1) expect(await take()).toEqual({ allowed: true, remaining: left, retryAfterMs: 0 });
        expect(await take()).toEqual({ allowed: true, remaining: 0, retryAfterMs: 100 });
        expect(await take()).toEqual({ allowed: false, remaining: 0, retryAfterMs: 100 });
        clock.advance(60);
        expect(await take()).toEqual({ allowed: false, remaining: 0, retryAfterMs: 40 });
        clock.advance(40);
        expect(await take()).toMatchObject({ allowed: true });
        clock.advance(500);
        expect(await take(8)).toEqual({ allowed: false, remaining: 5, retryAfterMs: 300 });
        expect(await take(5)).toMatchObject({ allowed: true, remaining: 0 });
        clock.advance(60_000);
        expect(await take(20)).toMatchObject({ allowed: true, remaining: 0 });
        expect(await take(21)).toMatchObject({ allowed: false });
      }, clock);
    });

    test("[ST17] several buckets are used together, or none of them if one is short", () => {
      const clock = createClock();
      return withStorage(async (storage) => {
        const demand = (bucket: string, cost = 1) => ({ bucket, policy: tenASecond, cost });
        await storage.rates.take([demand("short", 20)]);
        const refused = await storage.rates.take([demand("full", 5), demand("short")]);
        expect(refused).toEqual([
          { allowed: true, remaining: 20, retryAfterMs: 0 },
          { allowed: false, remaining: 0, retryAfterMs: 100 },
        ]);
        expect(await storage.rates.take([demand("full", 20)])).toMatchObject([{ allowed: true, remaining: 0 }]);
        expect(await storage.rates.take([demand("twice", 12), demand("twice", 12)])).toMatchObject([{ allowed: true }, { allowed: false }]);
      }, clock);
    });
  });

  describe("bus", () => {
    test("[ST24] a message reaches every listener of its topic and none that has ended", () =>
      withStorage(async (storage) => {
        const heard: string[] = [];
        const listen = (name: string, topic: string) => storage.bus.subscribe(topic, (message) => heard.push(`${name}:${message[0]}`));
        const ends = [listen("one", "t"), listen("two", "t"), listen("three", "other")];
        const delivered = new Promise<void>((resolve) => storage.bus.subscribe("t", (message) => message[0] === 3 && resolve()));
        storage.bus.publish("t", Uint8Array.of(1));
        await new Promise((resolve) => setImmediate(resolve));
        ends[1]?.();
        ends[1]?.();
        storage.bus.publish("t", Uint8Array.of(2));
        storage.bus.publish("nobody", Uint8Array.of(9));
        storage.bus.publish("t", Uint8Array.of(3));
        await delivered;
        expect(heard).toEqual(["one:1", "two:1", "one:2", "one:3"]);
      }));
  });

  describe("the store itself", () => {
    test("[ST21] store time never goes back, even if its clock does", () => {
      const clock = createClock();
      return withStorage(async (storage) => {
        const before = storage.now();
        clock.advance(1000);
        expect(storage.now()).toBe(before + 1000);
        clock.advance(-500_000);
        expect(storage.now()).toBe(before + 1000);
        clock.advance(500_001);
        expect(storage.now()).toBe(before + 1001);
      }, clock);
    });

    test("[ST19] status names the kind of store and whether it accepts writes", () =>
      withStorage(async (storage) => {
        const status = await storage.status();
        expect(status).toMatchObject({ writes: "ok", storeVersion: 1 });
        expect(status.durable || typeof status.reason === "string").toBe(true);
      }));

    test("[ST1] a closed store refuses writes, and closing waits for accepted ones and their repeats", () =>
      withStorage(async (storage) => {
        const accepted = Array.from({ length: 20 }, (_, at) => storage.commit(batch(1, { records: [put({ id: `01/${at}` })] })));
        await storage.close();
        expect((await Promise.all(accepted)).every((result) => result.ok)).toBe(true);
        await expect(storage.commit(batch(1, { records: [put({ id: "01/late" })] }))).rejects.toThrow(/closed/);
      }));
  });
}
