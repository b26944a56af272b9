/** Lists every scenario of the rig, in the order of the series. */
import { accessLost } from "./accessLost.ts";
import { clocksSkewed } from "./clocksSkewed.ts";
import { editorsAtFullLoad, editorsAtWork, editorsKilled, editorsSilenced } from "./editorsKilled.ts";
import { editsRaced } from "./editsRaced.ts";
import { failover } from "./failover.ts";
import { isolation } from "./isolation.ts";
import { requestsRepeated } from "./requestsRepeated.ts";
import { runsKilled } from "./runsKilled.ts";
import { runsTakenOver } from "./runsTakenOver.ts";
import type { Scenario } from "./scenario.ts";
import { scopes } from "./scopes.ts";
import { secrets } from "./secrets.ts";
import { timelineResumed } from "./timelineResumed.ts";
import { timersKilled } from "./timersKilled.ts";
import { webhooksKilled } from "./webhooksKilled.ts";
import { webhooksWithdrawn } from "./webhooksWithdrawn.ts";

export const scenarios: readonly Scenario[] = [
  editorsKilled,
  editorsSilenced,
  editorsAtFullLoad,
  editorsAtWork,
  runsKilled,
  runsTakenOver,
  timelineResumed,
  accessLost,
  timersKilled,
  clocksSkewed,
  editsRaced,
  webhooksKilled,
  webhooksWithdrawn,
  isolation,
  scopes,
  requestsRepeated,
  secrets,
  failover,
];
