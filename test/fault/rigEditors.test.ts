/** Tests editors under faults (short form of the rig). See also collabKill.test.ts. */
import { expect, it } from "vitest";
import { editorsKilled, editorsSilenced } from "./rig/editorsKilled.ts";

it("[FT11] [RT2] kill -9 of nodes and store under editors loses nothing seen, and all converge", async () => {
  const { outcome, told } = await editorsKilled.play("R", "short");
  expect({ ...outcome, told }).toMatchObject({ bad: 0, lost: 0, dup: 0, told: [] });
});

it("[FT17] a node stopped or cut off under editors loses nothing seen, and all converge", async () => {
  const { outcome, told } = await editorsSilenced.play("R", "short");
  expect({ ...outcome, told }).toMatchObject({ bad: 0, lost: 0, dup: 0, told: [] });
});
