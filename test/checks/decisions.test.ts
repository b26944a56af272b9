/** The form of docs/decisions.md, and that the check notices each kind of violation. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findDecisionProblems } from "./decisions.ts";

const good = `# Decisions

| id | date | status | area | decision |
|---|---|---|---|---|
| [D-001](#d-001-use-lmdb-not-sqlite) | 2026-11-20 | superseded by D-002 | storage | Use LMDB, not SQLite |
| [D-002](#d-002-use-both) | 2026-11-21 | accepted | storage | Use both |

## D-001 Use LMDB, not SQLite
2026-11-20 · superseded by D-002 · storage

Text.

## D-002 Use both
2026-11-21 · accepted · storage

Text.
`;

test("[OP19] every decision has an id, a date and a status, and is in the index", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/decisions.md"), "utf8");
  expect(findDecisionProblems(page)).toEqual([]);
  expect(page.match(/^## D-/gm)?.length).toBeGreaterThan(70);
});

test.each([
  ["a heading without an id", "## D-002 Use both", "## Use both", `a heading is "## D-nnn Title"`],
  ["an id out of sequence", "## D-002 Use both", "## D-003 Use both", "D-003: the next id is D-002"],
  ["a missing date", "\n2026-11-21 · accepted", "\naccepted", "D-002: the line below the heading"],
  ["an unknown status", "\n2026-11-21 · accepted", "\n2026-11-21 · maybe", "D-002: the line below the heading"],
  ["a date before the previous one", "\n2026-11-21 · accepted", "\n2026-11-19 · accepted", "D-002: 2026-11-19 is before"],
  ["a missing successor", "\n2026-11-20 · superseded by D-002", "\n2026-11-20 · superseded by D-009", "D-001: no later entry D-009"],
  ["a title that differs from the index", "## D-002 Use both", "## D-002 Use one", "the index lacks | [D-002](#d-002-use-one)"],
  [
    "a row without an entry",
    "\n\n## D-001",
    "\n| [D-003](#d-003-more) | 2026-11-21 | accepted | storage | More |\n\n## D-001",
    "has 3 rows",
  ],
])("[OP19] the check of decisions notices %s", (_name, right, wrong, problem) => {
  expect(findDecisionProblems(good)).toEqual([]);
  expect(good).toContain(right);
  expect(findDecisionProblems(good.replace(right, wrong)).join("\n")).toContain(problem);
});
