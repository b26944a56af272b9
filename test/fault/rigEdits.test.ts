/** Tests writers that race for the same text and the same record (short form of the rig). */
import { expect, it } from "vitest";
import { editsRaced } from "./rig/editsRaced.ts";

it("[FT63] [AR9] of racing conditional writers at killed nodes, one at a time succeeds", async () => {
  const { outcome, told } = await editsRaced.play("R", "short");
  expect({ ...outcome, told }).toMatchObject({ bad: 0, lost: 0, dup: 0, told: [] });
  expect(outcome.acked).toBeGreaterThanOrEqual(120);
});
