/** Tests timers while nodes are killed (short form of the rig). */
import { expect, it } from "vitest";
import { timersKilled } from "./rig/timersKilled.ts";

it("[FT16] [AC3] a timer fires once and not early, whichever of two nodes is alive at its time", async () => {
  const { outcome, told } = await timersKilled.play("R", "short");
  expect({ ...outcome, told }).toMatchObject({ acked: 16, bad: 0, lost: 0, dup: 0, told: [] });
});
