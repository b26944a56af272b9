/** Runs single steps with the executors of a server, with an article and a topic in the form in which the engine passes them. */
import { afterAll, beforeAll } from "vitest";
import { defaultLimits } from "../../api/limits.ts";
import type { TopicSeoBrief } from "../../api/schema/seo.ts";
import type { ContentTopic } from "../../api/schema/topic.ts";
import type { WorkflowStepType } from "../../api/schema/workflow.ts";
import { createExecutors, type ExecutorService } from "../../server/domain/runs/executors/executors.ts";
import type { StepContext, StepResult } from "../../server/domain/runs/executors/port.ts";

/** The topic of a step, unless a test gives another one. */
export const topic: ContentTopic = {
  topicId: "top_1",
  workspaceId: "ws_1",
  ownerId: "ada",
  title: "How wells are dug",
  targetAudience: "village councils",
  estimatedIntent: "informational",
  priorityScore: 50,
  priorityRationale: "asked for often",
  status: "outlined",
  createdAt: 1,
  updatedAt: 1,
  articleType: "how_to",
  primaryKeyword: "hand-dug well",
  secondaryKeywords: ["well lining", "water table"],
  mustInclude: ["how to line the shaft"],
  thesis: "A lined well pays for itself in one dry season.",
  readerPain: "the well falls dry in August",
  suggestedSources: [{ url: "https://wells.example/guide", why: "tables of depths" }],
  evidencePlan: ["ask three councils for their costs"],
};

const brief = {
  revision: 3,
  intent: "informational",
  primaryTargets: [{ keyword: "hand-dug well", role: "primary", intent: "informational" }],
  supportingClusters: [
    {
      clusterId: "c1",
      label: "building",
      readerNeed: "how",
      intent: "informational",
      terms: ["well lining", "water table"].map((keyword) => ({ keyword, role: "supporting", intent: "informational" })),
    },
  ],
} as unknown as TopicSeoBrief;

/** What differs from a first step on empty files. */
interface Given {
  readonly title?: string;
  readonly topic?: ContentTopic | undefined;
  readonly texts?: Partial<StepContext["texts"]>;
  readonly outputs?: Partial<Record<WorkflowStepType, string>>;
  readonly action?: "create" | "update" | "optimize" | "rewrite";
  readonly feedback?: readonly string[];
  readonly wordCountRange?: { min: number; max: number };
  readonly budget?: StepContext["budget"];
  readonly written?: string[];
}

function toContext(type: WorkflowStepType, given: Given = {}): StepContext {
  const file = ({ research: "research.md", outline: "outline.md", draft: "content.md" } as const)[type as "draft"];
  return {
    run: { runId: "run_1", workspaceId: "ws_1", workflowId: "draft", ...(given.action === undefined ? {} : { action: given.action }) },
    step: { name: type, type, tools: [], config: {}, attempt: 1, feedback: given.feedback ?? [], ...(file === undefined ? {} : { file }) },
    idempotencyKey: `run_1/${type}`,
    ...("topic" in given && given.topic === undefined ? {} : { topic: given.topic ?? topic, brief }),
    ...(given.wordCountRange === undefined ? {} : { wordCountRange: given.wordCountRange }),
    title: given.title ?? topic.title,
    texts: { "content.md": "", "outline.md": "", "research.md": "", ...given.texts },
    output: async (wanted) => given.outputs?.[wanted],
    budget: given.budget ?? {},
    write: async (text) => void given.written?.push(text),
    signal: new AbortController().signal,
    limits: defaultLimits,
    now: () => 1_800_000_000_000,
  };
}
/** Call it at the top of a test file. `create` is called before the first test. */
export function useExecutors(create: () => ExecutorService = () => createExecutors({})) {
  let service: ExecutorService;
  beforeAll(() => {
    service = create();
  });
  afterAll(() => service.close());

  async function run(type: WorkflowStepType, given: Given = {}): Promise<StepResult> {
    const executor = service.executors[type];
    if (executor === undefined) throw new Error(`no executor for ${type}`);
    return executor(toContext(type, given));
  }
  return {
    run,
    async complete(type: WorkflowStepType, given: Given = {}) {
      const result = await run(type, given);
      if (result.kind !== "completed") throw new Error(JSON.stringify(result));
      return result;
    },
  };
}
