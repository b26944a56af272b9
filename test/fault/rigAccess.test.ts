/** Tests a key that is used at both nodes and loses its access (short form of the rig). */
import { expect, it } from "vitest";
import { accessLost } from "./rig/accessLost.ts";

it("[FT15] [AU12] a revoked key, removed member or lost role ends at every node at once", async () => {
  const { outcome, told } = await accessLost.play("R", "short");
  expect({ ...outcome, told }).toMatchObject({ bad: 0, told: [] });
  expect(outcome.acked).toBeGreaterThan(80);
});
