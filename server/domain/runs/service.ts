/**
 * The run service builds and connects every module of runs: workflows, engine, decisions and requests.
 *
 * The handlers use runs through it. The executors are a parameter, so that tests can pass their own. `listeners.ts`
 * holds the part of runs in commits of articles.
 */
import type { Logger } from "pino";
import type { Limits } from "../../../api/limits.ts";
import type { Clock } from "../../../realtime/ports.ts";
import type { ActorRuntime } from "../../platform/actors/port.ts";
import type { Manifest } from "../../platform/composition/manifest.ts";
import type { IdSource } from "../../platform/storage/ids.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { ArticleWriter } from "../articles/port.ts";
import type { ArticleService } from "../articles/service.ts";
import type { PageTokens } from "../call/pageToken.ts";
import type { Pager } from "../call/paging.ts";
import type { FolderTopics } from "../folders/port.ts";
import type { Topics } from "../topics/port.ts";
import { type Approvals, createApprovals } from "./decisions/approvals.ts";
import { createDecisions } from "./decisions/decisions.ts";
import { createStageDecisions } from "./decisions/stageDecisions.ts";
import { createTopicTransitions, type ReadTransitions } from "./decisions/topicTransitions.ts";
import { createArtifacts } from "./engine/artifacts.ts";
import { createExecute, type ExecuteOptions } from "./engine/execute.ts";
import { provideRunEffects } from "./engine/runKind.ts";
import { createStartRun } from "./engine/startRun.ts";
import { createStepEnd } from "./engine/stepEnd.ts";
import { createStepInput } from "./engine/stepInput.ts";
import type { Executors } from "./executors/port.ts";
import { createFolderTopics } from "./folderTopics.ts";
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
  readonly kind: RunKind;
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
  readonly clock: Clock;
}

export interface RunService {
  readonly workflows: Workflows;
  readonly runs: Runs;
  readonly approvals: Approvals;
  /** Used by the handlers of topics. */
  readonly topicRuns: TopicRuns;
  readonly readTransitions: ReadTransitions;
  /** For folders. */
  readonly folderTopics: FolderTopics;
  readonly manifest: Manifest;
}

export function createRunService(options: RunServiceOptions): RunService {
  const { storage, actors, kind, topics, articles, edits, pageTokens, limits, ids, clock } = options;
  const workflows = createWorkflows();
  const artifacts = createArtifacts({ storage, limits });
  const startRun = createStartRun({ storage, kind, topics, articles, limits });
  const stepEnd = createStepEnd({ storage, topics, articles, startRun, ids });
  const readInput = createStepInput({ storage, topics, artifacts });
  const execute = createExecute({ ...options, readInput, artifacts, stepEnd, after: clock.after });
  const decisions = createDecisions({ actors, kind, topics, stepEnd });
  const refuseSecondRun = createRefuseSecondRun({ storage, actors, kind });
  const findActiveRun = createFindActiveRun({ storage, kind });
  const stageDecisions = createStageDecisions({ storage, topics, decisions, startRun, findActiveRun });
  const queries = createRunQueries({ ...options, artifacts });
  return {
    workflows,
    runs: createRuns({ ...options, startRun, workflows, queries, refuseSecondRun }),
    approvals: createApprovals({ storage, actors, kind, pageTokens, decisions, edits, articles, refuseSecondRun }),
    topicRuns: createTopicRuns({ storage, actors, kind, topics, startRun, findActiveRun, stageDecisions, refuseSecondRun }),
    readTransitions: createTopicTransitions({ storage, topics, findActiveRun }),
    folderTopics: createFolderTopics({ storage, kind, topics, findActiveRun }),
    manifest: { name: "runs", actorKinds: [provideRunEffects(kind, { storage, execute })] },
  };
}
