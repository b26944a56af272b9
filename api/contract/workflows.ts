import { z } from "zod";
import { operation } from "../operation.ts";
import { WorkspaceId } from "../schema/id.ts";
import { Run, StartRunRequest } from "../schema/run.ts";
import { GetWorkflowResponse, ListWorkflowsResponse } from "../schema/workflow.ts";

/** A built-in workflow's id, or the name of a custom one. */
const WorkflowId = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "must be the id of a workflow: 1 to 64 of a-z, 0-9, '_' and '-'");
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
    query: z.strictObject({ workspaceId: WorkspaceId, userVisible: z.boolean().optional() }),
    replies: { 200: ListWorkflowsResponse },
    ...read,
    summary: "List the workflows that a workspace can run",
  }),
  get: operation({
    method: "GET",
    path: "/workflows/{workflowId}",
    params,
    query: z.strictObject({ workspaceId: WorkspaceId }),
    replies: { 200: GetWorkflowResponse },
    ...read,
    summary: "Get a workflow with its steps",
  }),
  run: operation({
    method: "POST",
    path: "/workflows/{workflowId}/runs",
    params,
    bodies: { "application/json": StartRunRequest },
    replies: { 202: Run },
    replyHeaders: { location: "Address of the run" },
    credential: "any",
    scopes: ["workspaces:write", "articles:write"],
    resource: { kind: "workspace", in: "body", name: "workspaceId" },
    role: "write",
    rate: "runs",
    errors: ["run_in_progress", "invalid_transition"],
    summary: "Start a run of a workflow",
    description:
      "For at most one of `topicId`, `articleId` and `folderId`, which the workflow must take. A topic has one active run at most, and so has an article without a topic.",
    example: { workspaceId: "ws_01KAHX0000050123456789ABCD", topicId: "T-1", budget: { maxTokens: 200_000, maxSeconds: 1800 } },
  }),
} as const;
