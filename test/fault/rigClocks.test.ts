/** Tests wall clocks that are wrong and jump (short form of the rig). */
import { expect, it } from "vitest";
import { clocksSkewed } from "./rig/clocksSkewed.ts";

it("[FT60] [FT61] a node whose clock on the wall is wrong, and jumps by an hour while it works, does everything by the time of the store", async () => {
  const { outcome, told } = await clocksSkewed.play("R", "short");
  expect({ ...outcome, told }).toMatchObject({ bad: 0, lost: 0, dup: 0, told: [] });
  expect(outcome.acked).toBeGreaterThan(300);
});

it("[FT62] an embedded store begins no earlier than it ended, and goes on evenly, whatever the clock on the wall does", async () => {
  const { outcome, told } = await clocksSkewed.play("E", "short");
  expect({ ...outcome, told }).toMatchObject({ bad: 0, lost: 0, dup: 0, told: [] });
  expect(outcome.acked).toBeGreaterThan(100);
});
