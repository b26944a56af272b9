/** Tests a key that is used at both nodes and loses its access (short form of the rig). */
import { expect, it } from "vitest";
import { accessLost } from "./rig/accessLost.ts";

it("[FT15] [AU12] a key that is revoked, a member who is removed, a role that is lost: over at once at every node, also with a dead bus or store", async () => {
  const { outcome, told } = await accessLost.play("R", "short");
  expect({ ...outcome, told }).toMatchObject({ bad: 0, told: [] });
  expect(outcome.acked).toBeGreaterThan(80);
});
