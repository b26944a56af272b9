import { expect, test } from "vitest";
import { defaultLimits } from "../../api/limits.ts";
import { describedLimits, toLimitsPage } from "../support/limitsDoc.ts";

test("[API45] every limit is described once: what it bounds, its default with its unit, and what happens above it", () => {
  expect(describedLimits.toSorted()).toEqual(Object.keys(defaultLimits).toSorted());
});

test("[OP19] docs/limits.md is what api/limits.ts says (run vitest with -u after a change)", async () => {
  await expect(toLimitsPage()).toMatchFileSnapshot("../../docs/limits.md");
});
