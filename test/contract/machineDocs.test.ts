import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { machineDocsFolder, toMachineDocs } from "../support/machineDocs.ts";

test("[AC16] the diagrams agree with the machines; `npm run docs:machines` redraws them", () => {
  const made = toMachineDocs();
  expect(readdirSync(machineDocsFolder).sort()).toEqual([...made.keys()].sort());
  for (const [file, content] of made) expect(readFileSync(join(machineDocsFolder, file), "utf8"), file).toBe(content);
});

test("[AC16] a diagram shows every state of its machine and loads nothing", () => {
  for (const [file, content] of toMachineDocs()) {
    if (file === "publicLink.svg")
      for (const state of ["synced", "pending", "syncing", "retrying", "failed", "snapshot", "unpublished"])
        expect(content).toContain(state);
    expect(content).not.toMatch(/@import|url\((?!#)|https?:\/\/(?!www\.w3\.org\/)/);
  }
});
