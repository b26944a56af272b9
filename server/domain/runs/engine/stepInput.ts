/**
 * Builds the input of a step: topic, article, brief, style, outputs of earlier steps, and the rest of the budget.
 *
 * It also decides whether a step must not begin (`refuseStep`).
 */
import type { Limits } from "../../../../api/limits.ts";
import type { TopicSeoBrief } from "../../../../api/schema/seo.ts";
import type { WorkflowStepType } from "../../../../api/schema/workflow.ts";
import { currentStep, type RunContext } from "../../../../machines/agentRun.ts";
import type { Storage, Stored } from "../../../platform/storage/port.ts";
import { type ArticleRecord, articleRecord } from "../../articles/records.ts";
import { present } from "../../call/present.ts";
import { workspaceRecord } from "../../identity/workspaces/records.ts";
import type { TopicRecord, Topics } from "../../topics/port.ts";
import type { StepContext } from "../executors/port.ts";
import { toMissingExecutor } from "../executors/unavailableReports.ts";
import { runRecord } from "../model/records.ts";
import { findStyle } from "../workflows/styles.ts";
import type { Artifacts } from "./artifacts.ts";

export interface StepInput {
  readonly topic?: Stored<TopicRecord>;
  readonly article?: ArticleRecord;
  readonly brief?: Stored<TopicSeoBrief>;
  /**
   * Input of the executor without the parts that belong to one execution: live texts, writer, abort signal, clock and
   * limits.
   */
  readonly context: Omit<StepContext, "texts" | "write" | "signal" | "now" | "limits">;
}

export type ReadStepInput = (runId: string, run: RunContext) => Promise<StepInput>;

export interface StepInputOptions {
  readonly storage: Pick<Storage, "records" | "now">;
  readonly topics: Pick<Topics, "find" | "view" | "contentProject" | "brief" | "projectBrief">;
  readonly artifacts: Pick<Artifacts, "find" | "bytes">;
}

/** Normal chains have two runs. The bound stops a search in a loop of parent runs. */
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

/** Step types that are skipped if they have no executor, because no later step uses their output. */
const skippableTypes: readonly WorkflowStepType[] = ["visual_planning", "illustrate"];

/**
 * The event that ends a step which cannot begin: no executor exists, or the run has used up its journal or its budget.
 * Undefined if the step may begin.
 */
export function refuseStep(
  run: RunContext,
  hasExecutor: boolean,
  limits: Pick<Limits, "run.journal">,
):
  | { readonly type: "step.skipped"; readonly code: string; readonly reason: string }
  | { readonly type: "step.failed"; readonly code: string; readonly message: string; readonly retryable: boolean }
  | undefined {
  const { type } = currentStep(run);
  if (!hasExecutor) {
    const { code, message } = toMissingExecutor(type);
    if (skippableTypes.includes(type)) return { type: "step.skipped", code, reason: message };
    const advice =
      "The output of earlier steps is kept. Start a workflow without this step, or retry the run on a server that can execute it.";
    return { type: "step.failed", code, message: `${message} ${advice}`, retryable: false };
  }
  if (run.begun >= limits["run.journal"]) {
    const message = `The steps of the run were started ${run.begun} times; at most ${limits["run.journal"]} starts are kept (run.journal).`;
    return { type: "step.failed", code: "limit_reached", message, retryable: false };
  }
  const spent = describeSpentBudget(run);
  return spent === undefined ? undefined : { type: "step.failed", code: "budget_exhausted", message: spent, retryable: true };
}

const retryWithMore = "Retry the run with a larger budget.";

function describeSpentBudget({ budget, usage, workedMs }: RunContext): string | undefined {
  const tokens = usage.inputTokens + usage.outputTokens;
  if (budget?.maxTokens !== undefined && tokens > budget.maxTokens)
    return `The run used ${tokens} tokens; its budget allows ${budget.maxTokens} (maxTokens). ${retryWithMore}`;
  if (budget?.maxUsd !== undefined && usage.usd > budget.maxUsd)
    return `The run used ${usage.usd} US dollars; its budget allows ${budget.maxUsd} (maxUsd). ${retryWithMore}`;
  if (budget?.maxSeconds !== undefined && workedMs >= budget.maxSeconds * 1000) return spentTime(budget.maxSeconds);
  return undefined;
}

export function spentTime(maxSeconds: number): string {
  return `The run has used the ${maxSeconds} seconds of its budget (maxSeconds). ${retryWithMore}`;
}
