/**
 * Tests viewers that move between nodes while nodes are killed (short form of the rig). For one node see
 * timeline.test.ts.
 */
import { expect, it } from "vitest";
import { timelineResumed } from "./rig/timelineResumed.ts";

it("[FT14] a timeline resumed at another node over kills has no gap, no duplicate and one order", async () => {
  const { outcome, told } = await timelineResumed.play("R", "short");
  expect({ ...outcome, told }).toMatchObject({ bad: 0, lost: 0, dup: 0, told: [] });
  expect(outcome.acked).toBeGreaterThan(50);
});
