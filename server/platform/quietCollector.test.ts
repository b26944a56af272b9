import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { beginCollection, startQuietCollector } from "./quietCollector.ts";

/** Runs the collector on a clock of its own. Returns the number of collections after each of the given shares. */
function collectionsAfter(shares: readonly number[]): readonly number[] {
  let wake = () => {};
  let collections = 0;
  let share = 0;
  const collect = () => {
    collections += 1;
  };
  const after = (_delayMs: number, run: () => void) => {
    wake = run;
    return () => {};
  };
  startQuietCollector({ after, busyShare: () => share, collect });
  return shares.map((next) => {
    share = next;
    wake();
    return collections;
  });
}

it("[RT99] a busy process is not disturbed by collections, and a quiet one collects a few times", () => {
  const busy = Array.from({ length: 5 }, () => 0.5);
  const quiet = Array.from({ length: 20 }, () => 0.001);
  expect(collectionsAfter([...busy, ...quiet])).toEqual([
    ...[0, 0, 0, 0, 0],
    ...[0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4],
  ]);
});

it("[RT99] a process that becomes busy again collects again when it is quiet", () => {
  const quiet = Array.from({ length: 10 }, () => 0);
  expect(collectionsAfter([...quiet, 0.2, ...quiet]).at(-1)).toBe(8);
});

/** Makes an object, moves it to the old generation by two collections, and drops it. */
function dropOldObject(registry: FinalizationRegistry<string>, forceCollection: () => void): void {
  const dropped = { name: "a room" };
  registry.register(dropped, "freed");
  forceCollection();
  forceCollection();
}

// V8 itself collects 8 seconds after the forced collection that prepares this test, so the time limit is lower.
it("[RT99] a collection frees objects of the old generation, though nothing else is allocated", { timeout: 6000 }, async () => {
  setFlagsFromString("--expose-gc");
  const forceCollection = runInNewContext("gc") as () => void;
  let note = (_name: string) => {};
  const freed = new Promise<string>((resolve) => {
    note = resolve;
  });
  const registry = new FinalizationRegistry<string>((name) => note(name));
  dropOldObject(registry, forceCollection);
  await new Promise((resolve) => setImmediate(resolve));
  beginCollection();
  expect(await freed).toBe("freed");
  expect(registry).toBeDefined();
});
