/**
 * Tests idempotency keys under kills, with two nodes. For a node that is killed after each of its transactions, see
 * idempotencyKill.test.ts.
 */
import { expect, it } from "vitest";
import { requestsRepeated } from "./rig/requestsRepeated.ts";

it("[FT32] a request that arrives five times at two nodes, one killed, happens once, with one answer", async () => {
  const { outcome, told } = await requestsRepeated.play("R", "short");
  expect({ ...outcome, told }).toMatchObject({ bad: 0, lost: 0, dup: 0, told: [] });
  expect(outcome.acked).toBeGreaterThan(50);
});
