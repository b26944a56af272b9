/** Tests the checker itself, because a rig that finds nothing must be able to find something. */
import { expect, it } from "vitest";
import { createJournal } from "./journal.ts";
import { percentile } from "./outcome.ts";

it("[FT10] an acknowledged write that is missing counts as lost, and one present twice as double", () => {
  let nowMs = 0;
  const journal = createJournal(() => nowMs);
  for (const entry of ["a", "b", "c", "d"]) journal.began(entry);
  nowMs = 10;
  journal.acknowledge("a", "b");
  nowMs = 40;
  journal.acknowledge("b", "c");
  journal.bad("something else");
  expect(journal.check(["a", "d", "d"])).toEqual({ lost: ["b", "c"], dup: ["d"] });
  expect(journal.sum(["a", "d", "d"])).toEqual({ bad: 1, acked: 3, lost: 2, dup: 1, p50: 10, p99: 40 });
  expect(journal.told).toEqual(["something else", "lost: b", "lost: c", "double: d"]);
});

it("[FT10] the checker's percentile is a measured value, and 0 without values", () => {
  expect([percentile([], 0.5), percentile([3], 0.99), percentile([5, 1, 3, 2, 4], 0.5)]).toEqual([0, 3, 3]);
});
