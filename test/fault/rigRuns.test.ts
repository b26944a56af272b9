/** Tests runs at two nodes that are killed or stop answering (short form of the rig). For one node see runKill.test.ts. */
import { expect, it } from "vitest";
import { runsKilled } from "./rig/runsKilled.ts";
import { runsTakenOver } from "./rig/runsTakenOver.ts";

it("[FT12] [RU29] nodes are killed under runs: no finished step is asked for again, and no value that it gave changes", async () => {
  const { outcome, told } = await runsKilled.play("R", "short");
  expect({ ...outcome, told }).toMatchObject({ bad: 0, lost: 0, dup: 0, told: [] });
  expect(outcome.acked).toBeGreaterThanOrEqual(25);
});

it("[FT13] a run's owner that falls silent beyond its lease writes nothing when it comes back; the run ends once at the other node", async () => {
  const { outcome, told } = await runsTakenOver.play("R", "short");
  expect({ ...outcome, told }).toMatchObject({ acked: 45, bad: 0, lost: 0, dup: 0, told: [] });
});
