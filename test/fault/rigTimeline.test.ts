/** Viewers who go from node to node while nodes are killed; the short form of the rig. Of one node tells timeline.test.ts. */
import { expect, it } from "vitest";
import { timelineResumed } from "./rig/timelineResumed.ts";

it("[FT14] a timeline resumed at another node over kills has no gap, no duplicate and one order", async () => {
  const { outcome, told } = await timelineResumed.play("R", "short");
  expect({ ...outcome, told }).toMatchObject({ bad: 0, lost: 0, dup: 0, told: [] });
  expect(outcome.acked).toBeGreaterThan(50);
});
