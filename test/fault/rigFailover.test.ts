/** Tests Redis under a Sentinel when its master dies or is cut off under load (short form of the rig). */
import { expect, it } from "vitest";
import { failover } from "./rig/failover.ts";

it("[FT3] [ST52] when the master dies or is cut off, its successor has all that was answered or seen", async () => {
  const { outcome, told } = await failover.play("S", "short");
  expect({ ...outcome, told }).toMatchObject({ bad: 0, lost: 0, dup: 0, told: [] });
  expect(outcome.acked).toBeGreaterThan(100);
});
