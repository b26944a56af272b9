import { z } from "zod";
import { WorkspaceId } from "../schema/id.ts";
import { Run, StartRunRequest } from "../schema/run.ts";
import { GetWorkflowResponse, ListWorkflowsResponse } from "../schema/workflow.ts";
import { operation } from "./operation.ts";

/** The id of a built-in workflow, or the name of a custom one. */
const WorkflowId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "must be the id of a workflow: 1 to 64 of a-z, 0-9, '_' and '-'")
  .meta({ description: "Id of a built-in workflow, or name of a custom one.", example: "outline" });
const InWorkspace = WorkspaceId.describe("Workspace in which the workflow runs.");
const params = z.strictObject({ workflowId: WorkflowId });
const read = {
  credential: "any",
  scopes: ["workspaces:read"],
  resource: { kind: "workspace", in: "query", name: "workspaceId" },
  role: "read",
} as const;

export const workflows = {
  list: operation({
    method: "GET",
    path: "/workflows",
    query: z.strictObject({
      workspaceId: InWorkspace,
      userVisible: z.boolean().describe("Only workflows to offer to people (`true`), or only the others (`false`).").optional(),
    }),
    replies: { 200: ListWorkflowsResponse },
    ...read,
    summary: "List the workflows that a workspace can run",
    description: "The list contains the built-in workflows.",
  }),
  get: operation({
    method: "GET",
    path: "/workflows/{workflowId}",
    params,
    query: z.strictObject({ workspaceId: InWorkspace }),
    replies: { 200: GetWorkflowResponse },
    ...read,
    summary: "Get a workflow with its steps",
    description: "The answer has each step with its type, its tools, its approval, and the file that its output is written to.",
  }),
  run: operation({
    method: "POST",
    path: "/workflows/{workflowId}/runs",
    params,
    bodies: { "application/json": StartRunRequest },
    replies: { 202: Run },
    replyHeaders: { location: "Address of the run" },
    location: "/runs/{runId}",
    credential: "any",
    scopes: ["workspaces:write", "articles:write"],
    resource: { kind: "workspace", in: "body", name: "workspaceId" },
    role: "write",
    rate: "runs",
    errors: ["run_in_progress", "invalid_transition"],
    summary: "Start a run of a workflow",
    description:
      "The target is at most one of `topicId`, `articleId` and `folderId`, and the workflow must accept it. A topic has at most one active run, and so has an article without a topic.",
    example: { workspaceId: "ws_01KAHX0000050123456789ABCD", topicId: "T-1", budget: { maxTokens: 200_000, maxSeconds: 1800 } },
  }),
} as const;
