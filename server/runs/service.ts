/**
 * Runs as one part: what the handlers, the articles, the access resolver, the actor runtime and the due pump take from
 * it. It comes with its executors given, so that tests can give their own.
 */
import type { Logger } from "pino";
import type { Limits } from "../../api/limits.ts";
import { type After, after as realAfter } from "../actors/after.ts";
import type { ActorRuntime } from "../actors/port.ts";
import type { ArticleWriter } from "../articles/port.ts";
import type { ArticleService } from "../articles/service.ts";
import type { PageTokens } from "../calls/pageToken.ts";
import type { Pager } from "../calls/paging.ts";
import type { IdSource } from "../ids.ts";
import type { Storage } from "../storage/port.ts";
import type { Topics } from "../topics/port.ts";
import { type Approvals, createApprovals } from "./approvals.ts";
import { createArtifacts } from "./artifacts.ts";
import { createDecisions } from "./decisions.ts";
import { createExecute, type ExecuteOptions } from "./execute.ts";
import type { Executors } from "./executors/port.ts";
import { createRefuseSecondRun } from "./runInProgress.ts";
import { createRunKind } from "./runKind.ts";
import { createRuns, type Runs, type RunsOptions } from "./runs.ts";
import { createStageDecisions } from "./stageDecisions.ts";
import { createRunStarter, type RunKind } from "./startRun.ts";
import { createStepEnd } from "./stepEnd.ts";
import { createStepInput } from "./stepInput.ts";
import { createTopicRuns, type TopicRuns } from "./topicRuns.ts";
import { createWorkflows, type Workflows } from "./workflows.ts";

export interface RunServiceOptions extends Pick<ExecuteOptions, "rooms" | "writing" | "documents"> {
  readonly storage: Storage;
  readonly actors: ActorRuntime;
  readonly topics: Topics;
  readonly folders: RunsOptions["folders"];
  readonly articles: ArticleWriter;
  readonly edits: ArticleService["edits"];
  readonly executors: Executors;
  readonly timeline: RunsOptions["timeline"];
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
  /** For the handlers of topics. */
  readonly topicRuns: TopicRuns;
  /** For the actor runtime. */
  readonly actorKinds: readonly [RunKind];
}

export function createRunService(options: RunServiceOptions): RunService {
  const { storage, actors, topics, articles, edits, pager, pageTokens, limits, ids, after = realAfter } = options;
  const kind = () => runKind;
  const workflows = createWorkflows();
  const artifacts = createArtifacts({ storage, limits });
  const starter = createRunStarter({ storage, actors, kind, topics, articles, limits });
  const stepEnd = createStepEnd({ storage, topics, articles, starter, ids });
  const readInput = createStepInput({ storage, topics, artifacts });
  const execute = createExecute({ ...options, kind, readInput, artifacts, stepEnd, after });
  const runKind = createRunKind({ storage, execute, keepEventsMs: limits["keep.events"] });
  const decisions = createDecisions({ actors, kind, stepEnd });
  const refuseSecondRun = createRefuseSecondRun({ storage, actors, kind });
  const stageDecisions = createStageDecisions({ storage, topics, decisions, starter });
  return {
    workflows,
    runs: createRuns({ ...options, kind, starter, workflows, artifacts, refuseSecondRun, pager }),
    approvals: createApprovals({ storage, pageTokens, decisions, topics, edits, articles, starter, refuseSecondRun }),
    topicRuns: createTopicRuns({ storage, actors, kind, topics, starter, stageDecisions, refuseSecondRun }),
    actorKinds: [runKind],
  };
}
