/** Workflows and their steps, as the specification states them. All shapes are closed. */
import { z } from "zod";
import { ArticleFile } from "./article.ts";
import { FreeForm } from "./common.ts";

export const workflowStepTypes = [
  "research",
  "thesis",
  "outline",
  "draft",
  "visual_planning",
  "illustrate",
  "review",
  "custom",
  "topic_research",
  "deep_topic_research",
  "seo_review",
  "citation_enrichment",
  "tech_review",
  "editorial_review",
  "draft_revision",
  "article_validation",
  "article_scorecard",
  "quality_pass",
  "serp_benchmark",
  "code_verification",
  "claims_audit",
] as const;
export const WorkflowStepType = z.enum(workflowStepTypes).meta({ id: "WorkflowStepType" });
export type WorkflowStepType = z.infer<typeof WorkflowStepType>;

/** required: the step pauses for approval; optional: it may pause and proceeds by itself; none: it runs on. */
export const ApprovalType = z.enum(["required", "optional", "none"]).meta({ id: "ApprovalType" });
export type ApprovalType = z.infer<typeof ApprovalType>;

export const WorkflowSource = z.enum(["system", "workspace", "folder"]).meta({ id: "WorkflowSource" });

/** Where a step's output goes; `createAutoVersion` makes a commit of it. */
export const PersistToArticle = z
  .strictObject({ file: ArticleFile, createAutoVersion: z.boolean().optional() })
  .meta({ id: "PersistToArticle" });

export const WorkflowStep = z
  .strictObject({
    /** Unique within the workflow. */
    name: z.string(),
    type: WorkflowStepType,
    tools: z.array(z.string()),
    config: FreeForm,
    approval: ApprovalType,
    persistToArticle: PersistToArticle.optional(),
  })
  .meta({ id: "WorkflowStep" });
export type WorkflowStep = z.infer<typeof WorkflowStep>;

export const WorkflowSummary = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    title: z.string(),
    description: z.string(),
    source: WorkflowSource,
    steps: z.array(z.string()),
    version: z.string(),
    userVisible: z.boolean(),
    costClass: z.enum(["cheap", "expensive"]),
    isDefault: z.boolean(),
    intentId: z.string().optional(),
  })
  .meta({ id: "WorkflowSummary" });
export type WorkflowSummary = z.infer<typeof WorkflowSummary>;

export const ListWorkflowsResponse = z.strictObject({ workflows: z.array(WorkflowSummary) }).meta({ id: "ListWorkflowsResponse" });

export const GetWorkflowResponse = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    version: z.string(),
    source: WorkflowSource,
    steps: z.array(WorkflowStep),
  })
  .meta({ id: "GetWorkflowResponse" });
export type GetWorkflowResponse = z.infer<typeof GetWorkflowResponse>;
