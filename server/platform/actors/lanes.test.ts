import { describe, expect, test } from "vitest";
import type { Lane } from "./duePort.ts";
import { createLanes } from "./lanes.ts";

/** Starts work in lanes and counts the work in progress by the name of its last lane. */
function createYard() {
  const lanes = createLanes();
  const started: string[] = [];
  const underWay: (readonly Lane[])[] = [];
  return {
    started,
    enter(...needed: readonly Lane[]) {
      lanes.enter(needed, 1000, () => {
        started.push(needed.at(-1)?.name ?? "");
        underWay.push(needed);
      });
    },
    leave(name: string) {
      const at = underWay.findIndex((needed) => needed.at(-1)?.name === name);
      const [needed] = underWay.splice(at, 1);
      if (needed !== undefined) lanes.leave(needed);
    },
    count: (name: string) => underWay.filter((needed) => needed.at(-1)?.name === name).length,
  };
}

describe("lanes", () => {
  const all = { name: "all", max: 8 };

  test("[WH13] a few attempts that never end cannot use all the room", () => {
    const yard = createYard();
    const own = (name: string): Lane => ({ name, max: 4, maxInCrowd: 1 });
    for (const name of ["a", "b", "c", "d"]) for (let n = 0; n < 10; n += 1) yard.enter(all, own(name));
    expect(["a", "b", "c", "d"].map(yard.count)).toEqual([4, 1, 1, 1]);
    yard.enter(all, own("e"));
    expect(yard.count("e")).toBe(1);
    yard.enter(all, own("f"));
    expect(yard.count("f")).toBe(0);
    // The lines take turns: b has just had one.
    yard.leave("b");
    expect([yard.count("b"), yard.count("f")]).toEqual([0, 1]);
  });

  test("[CV110] a line whose work has just ended waits behind those that have waited meanwhile", () => {
    const yard = createYard();
    const two = { name: "two", max: 2 };
    for (const name of ["a", "b"]) for (let n = 0; n < 14; n += 1) yard.enter(two, { name, max: 1 });
    yard.enter(two, { name: "c", max: 1 });
    expect(yard.started).toEqual(["a", "b"]);
    yard.leave("a");
    expect(yard.started).toEqual(["a", "b", "c"]);
    yard.leave("b");
    expect(yard.started).toEqual(["a", "b", "c", "a"]);
  });

  test("[WH13] a lane that is alone, or has room to spare, gets its whole share", () => {
    const yard = createYard();
    const roomy = { name: "all", max: 100 };
    for (const name of ["a", "b"]) for (let n = 0; n < 10; n += 1) yard.enter(roomy, { name, max: 4, maxInCrowd: 1 });
    expect(["a", "b"].map(yard.count)).toEqual([4, 4]);
    yard.leave("a");
    expect(yard.count("a")).toBe(4);
  });
});
