/** LogWatch on a log, a bus and a clock that the test controls. */
import { expect, test } from "vitest";
import { createManualTime } from "../test/support/manualTime.ts";
import { createLogWatch } from "./logWatch.ts";

const never = () => new AbortController().signal;

function createRig() {
  const time = createManualTime();
  const listeners = new Set<() => void>();
  const rig = { tail: 0, looks: 0, isSilent: false };
  const watch = createLogWatch({
    clock: time,
    subscribe(_topic, listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async tail() {
      rig.looks += 1;
      if (rig.isSilent) throw new Error("the store does not answer");
      return rig.tail;
    },
  });
  return Object.assign(rig, {
    time,
    watch,
    listeners,
    announce: () => {
      for (const listener of listeners) listener();
    },
    /** Lets a reader wait at this position. `isWoken` becomes true when the reader is woken. */
    wait(watched: ReturnType<typeof watch.watch>, position: number, signal = never()) {
      const seen = { isWoken: false };
      void watched.beyond(position, signal).then(() => {
        seen.isWoken = true;
      });
      return seen;
    },
  });
}

test("[SE12] the bus wakes a waiting reader at once; if the bus is silent, a poll does within a second", async () => {
  const rig = createRig();
  const watched = rig.watch.watch("run/1");
  const one = rig.wait(watched, 0);
  rig.tail = 1;
  rig.announce();
  await rig.time.advance(0);
  expect(one.isWoken).toBe(true);
  const two = rig.wait(watched, 1);
  rig.tail = 2;
  await rig.time.advance(999);
  expect(two.isWoken).toBe(false);
  await rig.time.advance(1);
  expect(two.isWoken).toBe(true);
  // A position below the known end resolves at once.
  expect(await rig.watch.watch("run/1").beyond(1, never())).toBeUndefined();
});

test("[SE12] all readers of a log share one poll per second, and only readers that are behind are woken", async () => {
  const rig = createRig();
  const readers = Array.from({ length: 50 }, (_, at) => rig.wait(rig.watch.watch("run/1"), at < 25 ? 3 : 4));
  rig.tail = 4;
  await rig.time.advance(1000);
  expect(readers.map(({ isWoken }) => isWoken)).toEqual(readers.map((_, at) => at < 25));
  await rig.time.advance(4000);
  expect([rig.looks, rig.listeners.size]).toEqual([5, 1]);
});

test("[SE12] a failed poll is repeated, and an announcement that arrives during a poll is not lost", async () => {
  const rig = createRig();
  const waiting = rig.wait(rig.watch.watch("run/1"), 0);
  rig.isSilent = true;
  rig.tail = 1;
  rig.announce();
  await rig.time.advance(2000);
  expect(waiting.isWoken).toBe(false);
  rig.isSilent = false;
  await rig.time.advance(1000);
  expect(waiting.isWoken).toBe(true);
  const next = rig.wait(rig.watch.watch("run/1"), 1);
  rig.announce();
  rig.tail = 2;
  rig.announce();
  await rig.time.advance(0);
  expect(next.isWoken).toBe(true);
});

test("[SE4] if the store lost entries, readers beyond its end are woken, and no reader polls in a loop", async () => {
  const rig = createRig();
  rig.tail = 9;
  const [ahead, behind] = [rig.watch.watch("run/1"), rig.watch.watch("run/1")];
  const waiting = rig.wait(ahead, 9);
  await rig.time.advance(1000);
  expect(waiting.isWoken).toBe(false);
  rig.tail = 7;
  // This reader has read up to 7, the end of the log, although `known` is still 9.
  await behind.beyond(7, never());
  const paused = rig.wait(behind, 7);
  await rig.time.advance(0);
  expect([paused.isWoken, waiting.isWoken]).toEqual([false, false]);
  await rig.time.advance(1000);
  expect([paused.isWoken, waiting.isWoken]).toEqual([false, true]);
  rig.tail = 8;
  await rig.time.advance(1000);
  expect(paused.isWoken).toBe(true);
});

test("[SE10] a reader that leaves stops waiting; after the last one the log is not polled any more", async () => {
  const rig = createRig();
  const [one, two] = [rig.watch.watch("run/1"), rig.watch.watch("run/1")];
  const going = new AbortController();
  const waiting = rig.wait(one, 0, going.signal);
  rig.wait(two, 0);
  going.abort();
  await rig.time.advance(0);
  expect(waiting.isWoken).toBe(true);
  expect(await one.beyond(0, going.signal)).toBeUndefined();
  one.close();
  one.close();
  expect(rig.listeners.size).toBe(1);
  two.close();
  expect(rig.listeners.size).toBe(0);
  rig.looks = 0;
  await rig.time.advance(10_000);
  expect(rig.looks).toBe(0);
});
