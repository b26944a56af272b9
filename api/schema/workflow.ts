/**
 * Defines the schemas of workflows and their steps, as the specification states them. All schemas refuse unknown
 * fields.
 */
import { z } from "zod";
import { ArticleFile } from "./article.ts";
import { FreeForm, flag, text } from "./common.ts";

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
export const WorkflowStepType = z.enum(workflowStepTypes).meta({ id: "WorkflowStepType", description: "Type of a step." });
export type WorkflowStepType = z.infer<typeof WorkflowStepType>;

/**
 * `required`: the step waits for approval. `optional`: it waits for a limited time and then continues. `none`: it does
 * not wait.
 */
export const ApprovalType = z.enum(["required", "optional", "none"]).meta({
  id: "ApprovalType",
  description:
    "`required`: the step waits for a person's approval. `optional`: the step waits for some time and then continues without a decision. `none`: the step does not wait.",
});
export type ApprovalType = z.infer<typeof ApprovalType>;

export const WorkflowSource = z
  .enum(["system", "workspace", "folder"])
  .meta({ id: "WorkflowSource", description: "Origin of a workflow: built in, or created for a workspace or a folder." });

/** The file that receives the output of a step. With `createAutoVersion` the output is committed at once. */
export const PersistToArticle = z
  .strictObject({
    file: ArticleFile,
    createAutoVersion: flag(
      "Whether the output is committed at once. Otherwise the next commit or checkpoint contains it.",
      true,
    ).optional(),
  })
  .meta({ id: "PersistToArticle", description: "The file of the article that receives the output of the step." });

export const WorkflowStep = z
  .strictObject({
    name: text("Name of the step, unique in the workflow.", "outline"),
    type: WorkflowStepType,
    tools: z.array(z.string()).meta({ description: "Tools that the step may use.", example: ["read_brief"] }),
    config: FreeForm.describe("Settings of the step, by its type."),
    approval: ApprovalType,
    persistToArticle: PersistToArticle.optional(),
  })
  .meta({ id: "WorkflowStep", description: "A step of a workflow." });
export type WorkflowStep = z.infer<typeof WorkflowStep>;

const id = text("Id of the workflow: the id of a built-in one, or the name of a custom one.", "outline");
const name = text("Name of the workflow.", "outline");
const description = text("What the workflow does.", "Research, thesis and an outline to approve.");
const version = text("Version; each change increases it.", "1");

export const WorkflowSummary = z
  .strictObject({
    id,
    name,
    title: text("Display name.", "Outline"),
    description,
    source: WorkflowSource,
    steps: z.array(z.string()).meta({ description: "Names of the steps, in order.", example: ["research", "thesis", "outline"] }),
    version,
    userVisible: flag("Whether to offer the workflow to people.", true),
    costClass: z.enum(["cheap", "expensive"]).describe("Expected cost of a run."),
    isDefault: flag("Whether to preselect the workflow.", false),
    intentId: text("Purpose of the workflow; `custom` for a custom workflow.", "outline").optional(),
  })
  .meta({ id: "WorkflowSummary", description: "Summary of a workflow." });
export type WorkflowSummary = z.infer<typeof WorkflowSummary>;

export const ListWorkflowsResponse = z
  .strictObject({ workflows: z.array(WorkflowSummary).describe("Workflows that the workspace can run.") })
  .meta({ id: "ListWorkflowsResponse", description: "Workflows." });

export const GetWorkflowResponse = z
  .strictObject({
    id,
    name,
    description,
    version,
    source: WorkflowSource,
    steps: z.array(WorkflowStep).describe("Steps, in order."),
  })
  .meta({ id: "GetWorkflowResponse", description: "A workflow with its steps." });
export type GetWorkflowResponse = z.infer<typeof GetWorkflowResponse>;
