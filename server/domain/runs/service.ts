/**
 * The run service builds and connects every module of runs: workflows, engine, decisions and requests.
 *
 * Handlers, articles, the access resolver, the actor runtime and the due pump use runs through it. The executors are a
 * parameter, so that tests can pass their own.
 */
import type { Logger } from "pino";
import type { Limits } from "../../../api/limits.ts";
import { type After, after as realAfter } from "../../platform/actors/after.ts";
import type { ActorRuntime } from "../../platform/actors/port.ts";
import type { IdSource } from "../../platform/storage/ids.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { ArticleWriter } from "../articles/port.ts";
import type { ArticleService } from "../articles/service.ts";
import type { PageTokens } from "../call/pageToken.ts";
import type { Pager } from "../call/paging.ts";
import type { Topics } from "../topics/port.ts";
import { type Approvals, createApprovals } from "./decisions/approvals.ts";
import { createDecisions } from "./decisions/decisions.ts";
import { createStageDecisions } from "./decisions/stageDecisions.ts";
import { createTopicTransitions, type ReadTransitions } from "./decisions/topicTransitions.ts";
import { createArtifacts } from "./engine/artifacts.ts";
import { createExecute, type ExecuteOptions } from "./engine/execute.ts";
import { createRunKind } from "./engine/runKind.ts";
import { createStartRun } from "./engine/startRun.ts";
import { createStepEnd } from "./engine/stepEnd.ts";
import { createStepInput } from "./engine/stepInput.ts";
import type { Executors } from "./executors/port.ts";
import { createFindActiveRun } from "./model/activeRun.ts";
import type { RunKind } from "./model/records.ts";
import { createRefuseSecondRun } from "./model/runInProgress.ts";
import { createRunQueries, type RunQueriesOptions } from "./runQueries.ts";
import { createRuns, type Runs, type RunsOptions } from "./runs.ts";
import { createTopicRuns, type TopicRuns } from "./topicRuns.ts";
import { createWorkflows, type Workflows } from "./workflows/workflows.ts";

export interface RunServiceOptions extends Pick<ExecuteOptions, "rooms" | "writing" | "documents"> {
  readonly storage: Storage;
  readonly actors: ActorRuntime;
  readonly topics: Topics;
  readonly folders: RunsOptions["folders"];
  readonly articles: ArticleWriter;
  readonly edits: ArticleService["edits"];
  readonly executors: Executors;
  readonly timeline: RunQueriesOptions["timeline"];
  readonly pager: Pager;
  readonly pageTokens: PageTokens;
  readonly ids: IdSource;
  readonly limits: Limits;
  readonly log: Logger;
  readonly after?: After;
}

export interface RunService {
  readonly workflows: Workflows;
  readonly runs: Runs;
  readonly approvals: Approvals;
  /** Used by the handlers of topics. */
  readonly topicRuns: TopicRuns;
  readonly readTransitions: ReadTransitions;
  /** Registered with the actor runtime. */
  readonly actorKinds: readonly [RunKind];
}

export function createRunService(options: RunServiceOptions): RunService {
  const { storage, actors, topics, articles, edits, pageTokens, limits, ids, after = realAfter } = options;
  const kind = () => runKind;
  const workflows = createWorkflows();
  const artifacts = createArtifacts({ storage, limits });
  const startRun = createStartRun({ storage, kind, topics, articles, limits });
  const stepEnd = createStepEnd({ storage, topics, articles, startRun, ids });
  const readInput = createStepInput({ storage, topics, artifacts });
  const execute = createExecute({ ...options, kind, readInput, artifacts, stepEnd, after });
  const runKind = createRunKind({ storage, execute, keepEventsMs: limits["keep.events"] });
  const decisions = createDecisions({ actors, kind, topics, stepEnd });
  const refuseSecondRun = createRefuseSecondRun({ storage, actors, kind });
  const findActiveRun = createFindActiveRun({ storage, kind });
  const stageDecisions = createStageDecisions({ storage, topics, decisions, startRun, findActiveRun });
  const queries = createRunQueries({ ...options, artifacts });
  return {
    workflows,
    runs: createRuns({ ...options, kind, startRun, workflows, queries, refuseSecondRun }),
    approvals: createApprovals({ storage, actors, kind, pageTokens, decisions, edits, articles, refuseSecondRun }),
    topicRuns: createTopicRuns({ storage, actors, kind, topics, startRun, findActiveRun, stageDecisions, refuseSecondRun }),
    readTransitions: createTopicTransitions({ storage, topics, findActiveRun }),
    actorKinds: [runKind],
  };
}
