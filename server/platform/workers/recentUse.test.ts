import { expect, test } from "vitest";
import { createRecentUse } from "./recentUse.ts";

test("[AR24] used time counts half after half a minute, and fades to nothing", () => {
  let nowMs = 0;
  const recentUse = createRecentUse(() => nowMs);
  recentUse.add("a", 4000);
  nowMs = 30_000;
  recentUse.add("b", 1000);
  expect([recentUse.of("a"), recentUse.of("b"), recentUse.of("c")]).toEqual([2000, 1000, 0]);
  recentUse.add("a", 500);
  expect(recentUse.of("a")).toBe(2500);
  nowMs = 3_600_000;
  recentUse.add("c", 10);
  expect([recentUse.of("a"), recentUse.of("b"), recentUse.of("c")]).toEqual([0, 0, 10]);
});
