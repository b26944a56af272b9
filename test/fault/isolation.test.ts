/** Tests on both stores that no account can read another workspace. */
import { expect, it } from "vitest";
import { isolation } from "./rig/isolation.ts";

it.each(["E", "R"] as const)("[FT30] a request for another workspace's resource is answered as for a missing one (%s)", async (mode) => {
  const { outcome, told } = await isolation.play(mode, "short");
  expect({ ...outcome, told }).toMatchObject({ bad: 0, told: [] });
  expect(outcome.acked).toBeGreaterThan(1000);
});
