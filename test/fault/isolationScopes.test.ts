/** Tests on both stores that a key can do exactly what its scopes allow. */
import { expect, it } from "vitest";
import { scopes } from "./rig/scopes.ts";

it.each(["E", "R"] as const)("[FT31] a key of any one scope can use only that scope and makes no stronger key (%s)", async (mode) => {
  const { outcome, told } = await scopes.play(mode, "short");
  expect({ ...outcome, told }).toMatchObject({ bad: 0, told: [] });
  expect(outcome.acked).toBeGreaterThan(2000);
});
