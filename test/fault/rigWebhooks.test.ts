/** Tests webhooks of nodes that are killed, and webhooks that are withdrawn (short forms of the rig). */
import { expect, it } from "vitest";
import { webhooksKilled } from "./rig/webhooksKilled.ts";
import { webhooksWithdrawn } from "./rig/webhooksWithdrawn.ts";

it("[FT50] [FT51] [WH8] under kills each commit reaches its webhook at least once, signed, one id", async () => {
  const { outcome, told } = await webhooksKilled.play("R", "short");
  expect({ ...outcome, told }).toMatchObject({ bad: 0, lost: 0, told: [] });
  expect(outcome.acked).toBeGreaterThanOrEqual(450);
  // A kill interrupts the open requests: 8 requests to each of 3 webhooks, at 3 kills.
  expect(outcome.dup).toBeLessThanOrEqual(72);
});

it("[FT52] [WH7] a webhook disabled, unsubscribed or deleted at one node gets nothing from the other", async () => {
  const { outcome, told } = await webhooksWithdrawn.play("R", "short");
  expect({ ...outcome, told }).toMatchObject({ bad: 0, lost: 0, dup: 0, told: [] });
  expect(outcome.acked).toBeGreaterThan(0);
});
