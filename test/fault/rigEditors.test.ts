/**
 * Tests editors under faults, and forty editors with and without faults (short form of the rig). See also
 * collabKill.test.ts.
 */
import { expect, it } from "vitest";
import { editorsAtFullLoad, editorsAtWork, editorsKilled, editorsSilenced } from "./rig/editorsKilled.ts";

it("[FT11] [RT2] kill -9 of one of two nodes after the other, and of their store, under editors: nothing seen is lost, all converge", async () => {
  const { outcome, told } = await editorsKilled.play("R", "short");
  expect({ ...outcome, told }).toMatchObject({ bad: 0, lost: 0, dup: 0, told: [] });
  expect(outcome.acked).toBeGreaterThan(300);
});

it("[FT17] a node under editors that is stopped, or has a dead link to its store, and comes back: nothing seen is lost, all converge", async () => {
  const { outcome, told } = await editorsSilenced.play("R", "short");
  expect({ ...outcome, told }).toMatchObject({ bad: 0, lost: 0, dup: 0, told: [] });
  expect(outcome.acked).toBeGreaterThan(100);
});

it.each(["E", "R"] as const)(
  "[FT18] forty editors who type on while nodes and store are killed: nothing confirmed or seen is lost, all converge (%s)",
  async (mode) => {
    const { outcome, told } = await editorsAtFullLoad.play(mode, "short");
    expect({ ...outcome, told }).toMatchObject({ bad: 0, lost: 0, dup: 0, told: [] });
    expect(outcome.acked).toBeGreaterThan(300);
  },
);

it.each(["E", "R"] as const)("[FT19] all that forty editors type without a fault is confirmed or seen (%s)", async (mode) => {
  const { outcome, told } = await editorsAtWork.play(mode, "short");
  expect({ ...outcome, told }).toMatchObject({ bad: 0, lost: 0, dup: 0, told: [] });
  expect(outcome.acked).toBeGreaterThan(300);
});
