import { expect, test } from "vitest";
import { defaultLimits } from "../../api/limits.ts";
import { describedLimits, toLimitsPage } from "../support/limitsDoc.ts";

test("[API45] every limit is described once: its meaning, default, unit and what happens above it", () => {
  expect(describedLimits.toSorted()).toEqual(Object.keys(defaultLimits).toSorted());
});

test("[OP19] docs/limits.md agrees with api/limits.ts (run vitest with -u after a change)", async () => {
  await expect(toLimitsPage()).toMatchFileSnapshot("../../docs/limits.md");
});
