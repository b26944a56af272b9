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
      status: z.array(RunStatus).min(1).max(20).describe("Only runs in one of these states; repeat it for several.").optional(),
      topicId: TopicReference.describe("Only runs of this topic, by its id or short id.").optional(),
      articleId: ArticleId.describe("Only runs of this article.").optional(),
      workflowId: z.string().max(64).meta({ description: "Only runs of this workflow.", example: "outline" }).optional(),
    }),
    replies: { 200: pageOf("runs", Run, { id: "RunList", description: "A page of runs.", items: "Runs, newest first." }) },
    ...read,
    resource: inWorkspace,
    summary: "List the runs of a workspace, newest first",
    description: "Of all topics and articles, also those that ended. Different filters narrow each other.",
  }),
  get: operation({
    method: "GET",
    path: "/runs/{runId}",
    params,
    replies: { 200: Run },
    replyHeaders: etag,
    ...read,
    summary: "Get a run",
    description: "Its state, steps, cost so far, and what it waits for.",
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
    description: "What the run wrote stays in the article; it writes nothing more.",
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
      "Goes on at the step it stopped at, or further back at `fromStep`. Text of the interrupted step is removed first, unless another run has written the article since.",
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
    summary: "List the approvals of a run, including those it has not reached yet",
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
      "edit_too_complex",
    ],
    summary: "Decide an approval, also before the run waits for it; edits need articles:write",
    description:
      "`approve` goes on, `reject` cancels the run, `request_changes` runs the step again with the note. `edits` are made first and committed with the decision. Each approval is decided once; a later decision answers 409 with the one that was taken.",
    example: { decision: "request_changes", note: "Two sections say the same; join them." },
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
    summary: "List what the steps of a run made",
    description: "In the order in which they were made, without their bytes.",
  }),
  artifact: operation({
    method: "GET",
    path: "/runs/{runId}/artifacts/{artifactKey}",
    params: z.strictObject({
      runId: RunId,
      artifactKey: z
        .string()
        .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/)
        .meta({ description: "Key of the artifact, from the list of artifacts.", example: "outline-1" }),
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
    summary: "Get an artifact: its bytes, in its own media type",
    description:
      "An artifact has its own media type (`contentType`) and `application/octet-stream`, both for the same bytes; any other is 406. `Accept: application/vnd.svc.artifact+json` gives its metadata, as the list does. Artifacts never change.",
  }),
  events: operation({
    method: "GET",
    path: "/runs/{runId}/events",
    params,
    query: z.strictObject({
      limit: pageQuery.limit,
      afterSeq: z.int().min(0).meta({ description: "Only events after this `seq`; from the first by default.", example: 0 }).optional(),
    }),
    replies: {
      200: z
        .strictObject({
          events: z.array(AgentEvent).describe("Events, oldest first."),
          lastSeq: z.int().min(0).meta({ description: "`seq` of the newest event of the run.", example: 12 }),
        })
        .meta({ id: "RunEvents", description: "A stretch of a run's timeline." }),
    },
    ...read,
    summary: "List the timeline events of a run, oldest first",
    description:
      "`seq` counts from 1 without a gap. Repeat the request with `afterSeq` of the last event until that is `lastSeq`. Events are kept for 30 days.",
  }),
} as const;
