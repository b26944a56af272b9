/** Idempotency keys under kills, at two nodes; of one node killed behind each of its transactions tells idempotencyKill.test.ts. */
import { expect, it } from "vitest";
import { requestsRepeated } from "./rig/requestsRepeated.ts";

it("[FT32] a request that arrives five times at two nodes, one killed, happens once, with one answer", async () => {
  const { outcome, told } = await requestsRepeated.play("R", "short");
  expect({ ...outcome, told }).toMatchObject({ bad: 0, lost: 0, dup: 0, told: [] });
  expect(outcome.acked).toBeGreaterThan(50);
});
