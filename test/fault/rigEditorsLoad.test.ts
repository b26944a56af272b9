/** Tests forty editors with and without faults (short form of the rig). */
import { expect, it } from "vitest";
import { editorsAtFullLoad, editorsAtWork } from "./rig/editorsKilled.ts";

it.each(["E", "R"] as const)("[FT18] forty editors under kills of nodes and store lose nothing confirmed or seen (%s)", async (mode) => {
  const { outcome, told } = await editorsAtFullLoad.play(mode, "short");
  expect({ ...outcome, told }).toMatchObject({ bad: 0, lost: 0, dup: 0, told: [] });
});

it.each(["E", "R"] as const)("[FT19] without a fault, all that forty editors type is confirmed or seen (%s)", async (mode) => {
  const { outcome, told } = await editorsAtWork.play(mode, "short");
  expect({ ...outcome, told }).toMatchObject({ bad: 0, lost: 0, dup: 0, told: [] });
});
