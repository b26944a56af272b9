/** Tests wall clocks that are wrong and jump (short form of the rig). */
import { expect, it } from "vitest";
import { clocksSkewed } from "./rig/clocksSkewed.ts";

it("[FT60] [FT61] a node with a wrong or jumping wall clock does everything by store time", async () => {
  const { outcome, told } = await clocksSkewed.play("R", "short");
  expect({ ...outcome, told }).toMatchObject({ bad: 0, lost: 0, dup: 0, told: [] });
  expect(outcome.acked).toBeGreaterThan(300);
});

it("[FT62] an embedded store starts no earlier than it ended, and its time advances evenly", async () => {
  const { outcome, told } = await clocksSkewed.play("E", "short");
  expect({ ...outcome, told }).toMatchObject({ bad: 0, lost: 0, dup: 0, told: [] });
  expect(outcome.acked).toBeGreaterThan(100);
});
