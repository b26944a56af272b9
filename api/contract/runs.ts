import { z } from "zod";
import { bytes, operation } from "../operation.ts";
import { pageQuery } from "../schema/common.ts";
import { ApprovalId, ArticleId, RunId, WorkspaceId } from "../schema/id.ts";
import {
  Approval,
  Artifact,
  CancelRunRequest,
  ResolveApprovalRequest,
  RetryRunRequest,
  Run,
  RunStatus,
  TopicReference,
} from "../schema/run.ts";
import { AgentEvent } from "../schema/timeline.ts";

const params = z.strictObject({ runId: RunId });
const read = {
  credential: "any",
  scopes: ["workspaces:read"],
  resource: { kind: "run", in: "params", name: "runId" },
  role: "read",
} as const;
const write = { ...read, scopes: ["workspaces:write"], role: "write" } as const;

export const runs = {
  list: operation({
    method: "GET",
    path: "/workspaces/{workspaceId}/runs",
    params: z.strictObject({ workspaceId: WorkspaceId }),
    query: z.strictObject({
      ...pageQuery,
      status: z.array(RunStatus).min(1).max(20).optional(),
      topicId: TopicReference.optional(),
      articleId: ArticleId.optional(),
      workflowId: z.string().max(64).optional(),
    }),
    replies: { 200: z.strictObject({ runs: z.array(Run), nextToken: z.string().optional() }).meta({ id: "RunList" }) },
    ...read,
    resource: { kind: "workspace", in: "params", name: "workspaceId" },
    summary: "List the runs of a workspace, newest first",
  }),
  get: operation({
    method: "GET",
    path: "/runs/{runId}",
    params,
    replies: { 200: Run },
    replyHeaders: { etag: "Entity tag of this revision of the record" },
    ...read,
    summary: "Get a run",
  }),
  cancel: operation({
    method: "POST",
    path: "/runs/{runId}/cancel",
    params,
    bodies: { "application/json": CancelRunRequest },
    bodyOptional: true,
    replies: { 202: Run },
    ...write,
    errors: ["invalid_transition"],
    summary: "Cancel a run",
    description: "What it wrote stays in the article, and nothing more of it is written.",
    example: { reason: "Started for the wrong topic." },
  }),
  retry: operation({
    method: "POST",
    path: "/runs/{runId}/retry",
    params,
    bodies: { "application/json": RetryRunRequest },
    bodyOptional: true,
    replies: { 202: Run },
    ...write,
    scopes: ["workspaces:write", "articles:write"],
    rate: "runs",
    errors: ["invalid_transition", "run_in_progress"],
    summary: "Go on with a failed or cancelled run; finished steps are not run again",
    description:
      "Goes on at the step it stopped at, or further back at `fromStep`. Text that the interrupted step left is taken back first, unless another run has written the article since.",
    example: { fromStep: "outline" },
  }),
  approvals: operation({
    method: "GET",
    path: "/runs/{runId}/approvals",
    params,
    query: z.strictObject(pageQuery),
    replies: { 200: z.strictObject({ approvals: z.array(Approval), nextToken: z.string().optional() }).meta({ id: "ApprovalList" }) },
    ...read,
    summary: "List the approvals of a run, those to come among them",
    description: "In the order in which they were made.",
  }),
  resolveApproval: operation({
    method: "POST",
    path: "/runs/{runId}/approvals/{approvalId}",
    params: z.strictObject({ runId: RunId, approvalId: ApprovalId }),
    bodies: { "application/json": ResolveApprovalRequest },
    documentText: true,
    replies: { 200: Approval },
    ...write,
    errors: [
      "approval_already_resolved",
      "approval_expired",
      "invalid_transition",
      "revision_conflict",
      "precondition_required",
      "content_too_large",
    ],
    summary: "Decide an approval, also before the run waits for it; edits need articles:write",
    description:
      "`approve` goes on, `reject` cancels the run, `request_changes` runs the step again with the note. `edits` are made first and committed with the decision. Each approval is decided once: who comes later is told what was decided.",
    example: { decision: "request_changes", note: "Two sections say the same; join them." },
  }),
  artifacts: operation({
    method: "GET",
    path: "/runs/{runId}/artifacts",
    params,
    query: z.strictObject(pageQuery),
    replies: { 200: z.strictObject({ artifacts: z.array(Artifact), nextToken: z.string().optional() }).meta({ id: "ArtifactList" }) },
    ...read,
    scopes: ["workspaces:read", "articles:read"],
    summary: "List what the steps of a run made",
  }),
  artifact: operation({
    method: "GET",
    path: "/runs/{runId}/artifacts/{artifactKey}",
    params: z.strictObject({ runId: RunId, artifactKey: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/) }),
    // The first is for who asks for nothing in particular.
    replies: { 200: { media: { "text/markdown": bytes, "application/octet-stream": bytes, "application/json": Artifact } } },
    ...read,
    scopes: ["workspaces:read", "articles:read"],
    summary: "Get an artifact: its bytes, in its own content type; what is known of it for `Accept: application/json`",
  }),
  events: operation({
    method: "GET",
    path: "/runs/{runId}/events",
    params,
    query: z.strictObject({ limit: pageQuery.limit, afterSeq: z.int().min(0).optional() }),
    replies: {
      200: z.strictObject({ events: z.array(AgentEvent), lastSeq: z.int().min(0) }).meta({ id: "RunEvents" }),
    },
    ...read,
    summary: "The timeline events of a run after a position, as far back as they are kept; `lastSeq` is that of the newest",
    description: "`seq` counts from 1 without a gap. Go on with `afterSeq` of the last event until it is `lastSeq`.",
  }),
} as const;
