/** Tests writers that race for the same text and the same record (short form of the rig). */
import { expect, it } from "vitest";
import { editsRaced } from "./rig/editsRaced.ts";

it("[FT63] [AR9] of all who write on condition that nobody has written since, at two nodes that are killed meanwhile, one at a time succeeds and nothing is lost", async () => {
  const { outcome, told } = await editsRaced.play("R", "short");
  expect({ ...outcome, told }).toMatchObject({ bad: 0, lost: 0, dup: 0, told: [] });
  expect(outcome.acked).toBeGreaterThanOrEqual(120);
});
