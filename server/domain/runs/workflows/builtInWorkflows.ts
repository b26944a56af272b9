/**
 * Defines the workflows of every workspace as data: their steps, target files, approvals and allowed targets.
 *
 * The approvals of outline and draft apply only if the content project, where there is one, requires them.
 */
import type { ApprovalType, WorkflowStep, WorkflowStepType } from "../../../../api/schema/workflow.ts";

/** Kind of object that a run works on. */
export type RunTarget = "topic" | "article" | "folder" | "none";

export interface Workflow {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly version: string;
  readonly steps: readonly WorkflowStep[];
  readonly costClass: "cheap" | "expensive";
  /** True if generic workflow pickers show the workflow. */
  readonly userVisible: boolean;
  readonly isDefault: boolean;
  readonly targets: readonly RunTarget[];
}

const persisted: Partial<Record<WorkflowStepType, WorkflowStep["persistToArticle"]>> = {
  research: { file: "research.md" },
  outline: { file: "outline.md", createAutoVersion: true },
  draft: { file: "content.md", createAutoVersion: true },
};

function step(type: WorkflowStepType, approval: ApprovalType = "none"): WorkflowStep {
  const persistToArticle = persisted[type];
  return { name: type, type, tools: [], config: {}, approval, ...(persistToArticle === undefined ? {} : { persistToArticle }) };
}

const ofContent = { version: "1", userVisible: true, isDefault: false, targets: ["topic", "article"] } as const;
const ofIdeas = { version: "1", userVisible: false, isDefault: false, targets: ["folder", "none"] } as const;

export const builtInWorkflows: readonly Workflow[] = [
  {
    ...ofContent,
    id: "standard_article",
    title: "Standard article",
    description: "Researches a topic, finds its thesis, writes an outline for approval, then drafts and reviews the article.",
    steps: [step("research"), step("thesis"), step("outline", "required"), step("draft", "optional"), step("review")],
    costClass: "expensive",
    isDefault: true,
  },
  {
    ...ofContent,
    id: "research",
    title: "Research",
    description: "Writes the facts and sources that an article on the topic needs into research.md.",
    steps: [step("research")],
    costClass: "cheap",
  },
  {
    ...ofContent,
    id: "outline",
    title: "Outline",
    description: "Researches a topic, finds its thesis and writes outline.md for approval.",
    steps: [step("research"), step("thesis"), step("outline", "required")],
    costClass: "cheap",
  },
  {
    ...ofContent,
    id: "draft",
    title: "Draft",
    description: "Writes content.md from the outline, then checks it for search and for validity.",
    steps: [step("draft"), step("seo_review"), step("article_validation")],
    costClass: "expensive",
  },
  {
    ...ofContent,
    id: "full_editorial_article",
    title: "Full editorial article",
    description:
      "Benchmarks the results pages first, then researches, outlines and drafts, and takes the draft through every editorial check.",
    steps: [
      step("serp_benchmark"),
      step("research"),
      step("thesis"),
      step("outline", "required"),
      step("draft"),
      step("citation_enrichment"),
      step("tech_review"),
      step("editorial_review"),
      step("draft_revision"),
      step("code_verification"),
      step("claims_audit"),
      step("article_scorecard"),
      step("quality_pass"),
    ],
    costClass: "expensive",
  },
  {
    ...ofIdeas,
    id: "topic_research",
    title: "Topic research",
    description: "Finds topics worth writing about, quickly.",
    steps: [step("topic_research")],
    costClass: "cheap",
  },
  {
    ...ofIdeas,
    id: "deep_topic_research",
    title: "Deep topic research",
    description: "Finds topics worth writing about, with evidence for each.",
    steps: [step("deep_topic_research")],
    costClass: "expensive",
  },
  {
    ...ofContent,
    id: "seo_review",
    title: "Search review",
    description: "Checks an article against its topic's search brief.",
    steps: [step("seo_review")],
    costClass: "cheap",
    userVisible: false,
  },
];

const byId = new Map(builtInWorkflows.map((workflow) => [workflow.id, workflow]));

export function findBuiltInWorkflow(workflowId: string): Workflow | undefined {
  return byId.get(workflowId);
}

/** Returns a workflow that this service starts by name. Throws if it does not exist. */
export function builtInWorkflow(workflowId: "research" | "outline" | "draft" | "full_editorial_article"): Workflow {
  const workflow = byId.get(workflowId);
  if (workflow === undefined) throw new Error(`there is no workflow ${workflowId}`);
  return workflow;
}
