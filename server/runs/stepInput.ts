/** What a step is given to work with: topic, brief, style, what earlier steps made, and what is left of the budget. */
import type { Limits } from "../../api/limits.ts";
import type { TopicSeoBrief } from "../../api/schema/seo.ts";
import type { WorkflowStepType } from "../../api/schema/workflow.ts";
import { currentStep, type RunContext } from "../../machines/agentRun.ts";
import { type ArticleRecord, articleRecord } from "../articles/records.ts";
import type { Storage, Stored } from "../storage/port.ts";
import type { TopicRecord, Topics } from "../topics/port.ts";
import { workspaceRecord } from "../workspaces/records.ts";
import type { Artifacts } from "./artifacts.ts";
import type { StepContext } from "./executors/port.ts";
import { present } from "./present.ts";
import { runRecord } from "./records.ts";
import { findStyle } from "./styles.ts";

export interface StepInput {
  readonly topic?: Stored<TopicRecord>;
  readonly article?: ArticleRecord;
  readonly brief?: Stored<TopicSeoBrief>;
  /** Everything an executor is told but what it writes with. */
  readonly context: Omit<StepContext, "texts" | "write" | "signal" | "now" | "limits">;
}

export type ReadStepInput = (runId: string, run: RunContext) => Promise<StepInput>;

export interface StepInputOptions {
  readonly storage: Pick<Storage, "records" | "now">;
  readonly topics: Pick<Topics, "find" | "view" | "contentProject" | "brief" | "projectBrief">;
  readonly artifacts: Pick<Artifacts, "find" | "bytes">;
}

/** A chain is two runs long; more would be a loop. */
const maxChain = 8;

export function createStepInput({ storage, topics, artifacts }: StepInputOptions): ReadStepInput {
  async function findOutput(ofRun: string, ofContext: RunContext, type: WorkflowStepType): Promise<string | undefined> {
    let [runId, run] = [ofRun, ofContext];
    for (let depth = 0; depth < maxChain; depth += 1) {
      const step = run.steps.findLast((other) => other.type === type && other.output !== undefined);
      const artifact = step?.output === undefined ? undefined : await artifacts.find(runId, step.output);
      if (artifact !== undefined) return Buffer.from(await artifacts.bytes(artifact)).toString("utf8");
      const parent = run.parentRunId === undefined ? undefined : await storage.records.get(runRecord, run.parentRunId);
      if (parent === undefined) return undefined;
      runId = parent.value.id;
      run = parent.value.context;
    }
    return undefined;
  }

  return async (runId, run) => {
    const step = currentStep(run);
    const { workspaceId, topicId, articleId, budget, usage } = run;
    const [topic, article, workspace] = await Promise.all([
      topicId === undefined ? undefined : topics.find(workspaceId, topicId),
      articleId === undefined ? undefined : storage.records.get(articleRecord, articleId),
      storage.records.get(workspaceRecord, workspaceId),
    ]);
    const project = topic === undefined ? undefined : await topics.contentProject(topic.value);
    const view = topic === undefined ? undefined : topics.view(topic.value);
    const brief = topic === undefined ? undefined : await topics.brief(topic.value.id);
    const shownBrief =
      brief?.value ??
      (view === undefined ? undefined : topics.projectBrief(view, { username: run.startedBy, runId, nowMs: storage.now() }));
    const style = workspace === undefined || run.styleProfileId === undefined ? undefined : findStyle(workspace.value, run.styleProfileId);
    const file = article === undefined ? undefined : step.persistToArticle?.file;
    return {
      ...present({ topic, article: article?.value, brief }),
      context: {
        run: {
          runId,
          workspaceId,
          workflowId: run.workflowId,
          ...present({ articleId, instructions: run.instructions, style, action: run.action }),
        },
        step: {
          name: step.name,
          type: step.type,
          tools: [...step.tools],
          config: step.config,
          attempt: step.attempt,
          feedback: step.feedback,
          ...present({ file }),
        },
        idempotencyKey: `${runId}/${step.name}`,
        ...present({ topic: view, brief: shownBrief, wordCountRange: view?.wordCountRange ?? project?.wordCountRange }),
        title: article?.value.title ?? view?.title ?? "",
        output: (type) => findOutput(runId, run, type),
        budget: present({
          tokens: budget?.maxTokens === undefined ? undefined : Math.max(0, budget.maxTokens - usage.inputTokens - usage.outputTokens),
          usd: budget?.maxUsd === undefined ? undefined : Math.max(0, budget.maxUsd - usage.usd),
        }),
      },
    };
  };
}

/** Why a step cannot begin: what it would do is not known here, or the run has used up what it may. */
export function refuseStep(
  run: RunContext,
  hasExecutor: boolean,
  limits: Pick<Limits, "run.journal">,
):
  | { readonly type: "step.skipped"; readonly code: string; readonly reason: string }
  | { readonly type: "step.failed"; readonly code: string; readonly message: string; readonly retryable: boolean }
  | undefined {
  const { type } = currentStep(run);
  if (!hasExecutor) return { type: "step.skipped", code: "not_available", reason: `There is no executor for step type ${type} yet.` };
  if (run.begun >= limits["run.journal"]) {
    const message = `The steps of the run were begun ${run.begun} times; more than ${limits["run.journal"]} are not kept (run.journal).`;
    return { type: "step.failed", code: "limit_reached", message, retryable: false };
  }
  const spent = findSpent(run);
  return spent === undefined ? undefined : { type: "step.failed", code: "budget_exhausted", message: spent, retryable: true };
}

const retryWithMore = "Retry the run with a larger budget.";

function findSpent({ budget, usage, workedMs }: RunContext): string | undefined {
  const tokens = usage.inputTokens + usage.outputTokens;
  if (budget?.maxTokens !== undefined && tokens > budget.maxTokens)
    return `${tokens} tokens were used; the budget has ${budget.maxTokens} (maxTokens). ${retryWithMore}`;
  if (budget?.maxUsd !== undefined && usage.usd > budget.maxUsd)
    return `${usage.usd} US dollars were used; the budget has ${budget.maxUsd} (maxUsd). ${retryWithMore}`;
  if (budget?.maxSeconds !== undefined && workedMs >= budget.maxSeconds * 1000) return spentTime(budget.maxSeconds);
  return undefined;
}

export function spentTime(maxSeconds: number): string {
  return `The run has worked for the ${maxSeconds} seconds of its budget (maxSeconds). ${retryWithMore}`;
}
