import { z } from "zod";
import { pageQuery } from "../schema/common.ts";
import { ApprovalId, ArticleId, RunId, WorkspaceId } from "../schema/id.ts";
import {
  Approval,
  Artifact,
  type ArtifactMediaType,
  CancelRunRequest,
  ResolveApprovalRequest,
  RetryRunRequest,
  Run,
  RunStatus,
  TopicReference,
} from "../schema/run.ts";
import { AgentEvent } from "../schema/timeline.ts";
import { type Bytes, bytes, type MediaMap, operation } from "./operation.ts";
import { etag, inWorkspace, pageOf } from "./resource.ts";

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
      status: z.array(RunStatus).min(1).max(20).describe("Only runs in one of these states; repeat the parameter for several.").optional(),
      topicId: TopicReference.describe("Only runs of this topic, given by its id or its short id.").optional(),
      articleId: ArticleId.describe("Only runs of this article.").optional(),
      workflowId: z.string().max(64).meta({ description: "Only runs of this workflow.", example: "outline" }).optional(),
    }),
    replies: { 200: pageOf("runs", Run, { id: "RunList", description: "A page of runs.", items: "Runs, newest first." }) },
    ...read,
    resource: inWorkspace,
    summary: "List the runs of a workspace, newest first",
    description:
      "The list contains runs for all topics and articles, also runs that have ended. Filters of different kinds must all match.",
  }),
  get: operation({
    method: "GET",
    path: "/runs/{runId}",
    params,
    replies: { 200: Run },
    replyHeaders: etag,
    ...read,
    summary: "Get a run",
    description: "The answer has its state, its steps, its cost so far, and the approval that it waits for.",
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
    description: "The text that the run has written stays in the article. The run writes nothing more.",
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
    summary: "Retry a failed or cancelled run; finished steps are not executed again",
    description:
      "The run continues at the step where it stopped, or at the earlier step `fromStep`. The text of the interrupted step is removed first, unless another run has changed the article since.",
    example: { fromStep: "outline" },
  }),
  approvals: operation({
    method: "GET",
    path: "/runs/{runId}/approvals",
    params,
    query: z.strictObject(pageQuery),
    replies: {
      200: pageOf("approvals", Approval, {
        id: "ApprovalList",
        description: "A page of approvals.",
        items: "Approvals, in the order in which they were made.",
      }),
    },
    ...read,
    summary: "List the approvals of a run, including approvals of later steps",
    description: "The approvals are in the order in which they were made.",
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
      "edit_too_complex",
    ],
    summary: "Decide an approval, also before the run reaches it; edits need articles:write",
    description:
      "`approve` continues the run, `reject` cancels it, and `request_changes` executes the step again with the note. `edits` are applied first and committed with the decision. An approval is decided once; a later decision answers 409 with the decision that was made.",
    example: { decision: "request_changes", note: "The two sections say the same thing; merge them." },
  }),
  artifacts: operation({
    method: "GET",
    path: "/runs/{runId}/artifacts",
    params,
    query: z.strictObject(pageQuery),
    replies: {
      200: pageOf("artifacts", Artifact, {
        id: "ArtifactList",
        description: "A page of artifacts.",
        items: "Artifacts, in the order in which they were made.",
      }),
    },
    ...read,
    scopes: ["workspaces:read", "articles:read"],
    summary: "List the artifacts of a run",
    description: "The artifacts are in the order in which they were made, without their bytes.",
  }),
  artifact: operation({
    method: "GET",
    path: "/runs/{runId}/artifacts/{artifactKey}",
    params: z.strictObject({
      runId: RunId,
      artifactKey: z
        .string()
        .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/)
        .meta({ description: "Key of the artifact, as in the list of artifacts.", example: "outline-1" }),
    }),
    replies: {
      200: {
        media: {
          "text/markdown": bytes,
          "application/json": bytes,
          "application/octet-stream": bytes,
          "application/vnd.svc.artifact+json": Artifact,
        } satisfies Record<ArtifactMediaType, Bytes> & MediaMap,
      },
    },
    ...read,
    scopes: ["workspaces:read", "articles:read"],
    errors: ["not_acceptable"],
    summary: "Get the bytes of an artifact in its own media type",
    description:
      "The artifact is available as its own media type (`contentType`) and as `application/octet-stream`, both with the same bytes; other types answer 406. `Accept: application/vnd.svc.artifact+json` answers the metadata that the list has. Artifacts never change.",
  }),
  events: operation({
    method: "GET",
    path: "/runs/{runId}/events",
    params,
    query: z.strictObject({
      limit: pageQuery.limit,
      afterSeq: z.int().min(0).meta({ description: "Only events after this `seq`; all events by default.", example: 0 }).optional(),
    }),
    replies: {
      200: z
        .strictObject({
          events: z.array(AgentEvent).describe("Events, oldest first."),
          lastSeq: z.int().min(0).meta({ description: "`seq` of the newest event of the run.", example: 12 }),
        })
        .meta({ id: "RunEvents", description: "A page of the run's timeline." }),
    },
    ...read,
    summary: "List the timeline events of a run, oldest first",
    description:
      "`seq` starts at 1 and has no gaps. To read on, repeat the request with the `seq` of the last event as `afterSeq`, until that is `lastSeq`. Events are kept for 30 days.",
  }),
} as const;
