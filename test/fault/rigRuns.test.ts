/** Tests runs at two nodes that are killed or stop answering (short form of the rig). For one node see runKill.test.ts. */
import { expect, it } from "vitest";
import { runsKilled } from "./rig/runsKilled.ts";
import { runsTakenOver } from "./rig/runsTakenOver.ts";

it("[FT12] [RU29] kills of nodes under runs repeat no finished step and change no result", async () => {
  const { outcome, told } = await runsKilled.play("R", "short");
  expect({ ...outcome, told }).toMatchObject({ bad: 0, lost: 0, dup: 0, told: [] });
  expect(outcome.acked).toBeGreaterThanOrEqual(25);
});

it("[FT13] a run's owner that was silent beyond its lease writes nothing, and the other node ends it", async () => {
  const { outcome, told } = await runsTakenOver.play("R", "short");
  expect({ ...outcome, told }).toMatchObject({ acked: 45, bad: 0, lost: 0, dup: 0, told: [] });
});
