/** Every scenario of the rig, in the order of the series. */
import { editorsKilled } from "./editorsKilled.ts";
import type { Scenario } from "./scenario.ts";

export const scenarios: readonly Scenario[] = [editorsKilled];
