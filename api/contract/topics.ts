import { z } from "zod";
import { oneOrMore, pageQuery, unixSeconds } from "../schema/common.ts";
import { WorkspaceId } from "../schema/id.ts";
import { TopicReference } from "../schema/run.ts";
import { ArticleType, ContentTopic, TopicStatus } from "../schema/topic.ts";
import { ContentAuditEvent, ContentAuditEventType } from "../schema/topicAudit.ts";
import {
  ArchiveTopicRequest,
  ChangesRequestedResponse,
  TopicTransitions,
  WorkspaceApproveDraftRequest,
  WorkspaceApproveOutlineRequest,
  WorkspaceApproveOutlineResponse,
  WorkspaceCreateTopicRequest,
  WorkspaceCreateTopicResponse,
  WorkspaceDraftRequestChangesRequest,
  WorkspaceEnsureTopicArticleRequest,
  WorkspaceEnsureTopicArticleResponse,
  WorkspaceGenerateOutlineRequest,
  WorkspaceGenerateOutlineResponse,
  WorkspaceGetDraftResponse,
  WorkspaceGetOutlineResponse,
  WorkspaceListTopicsResponse,
  WorkspaceOutlineRequestChangesRequest,
  WorkspaceRunDraftActionRequest,
  WorkspaceRunDraftActionResponse,
  WorkspaceRunInstructionsRequest,
  WorkspaceShortlistTopicResponse,
  WorkspaceStartWorkflowRequest,
  WorkspaceStartWorkflowResponse,
  WorkspaceTopicMessageResponse,
  WorkspaceUpdateTopicRequest,
} from "../schema/topicOperations.ts";
import { operation } from "./operation.ts";
import { etag, inWorkspace, pageOf } from "./resource.ts";

const workspaceParams = z.strictObject({ workspaceId: WorkspaceId });
const params = z.strictObject({ workspaceId: WorkspaceId, topicId: TopicReference });
const read = {
  credential: "any",
  scopes: ["workspaces:read"],
  resource: inWorkspace,
  role: "read",
} as const;
const write = { ...read, scopes: ["workspaces:write"], role: "write" } as const;
/** Access of operations that start a run or write into the article of the topic. */
const author = { ...write, scopes: ["workspaces:write", "articles:write"] } as const;
const starts = { ...author, rate: "runs" } as const;

const ScheduledDate = z.iso.date().meta({ example: "2026-12-01" });

export const topics = {
  list: operation({
    method: "GET",
    path: "/workspaces/{workspaceId}/topics",
    params: workspaceParams,
    query: z.strictObject({
      ...pageQuery,
      status: oneOrMore(TopicStatus, "Only topics in one of these states; repeat the parameter for several."),
      contentProjectId: z
        .string()
        .max(64)
        .meta({ description: "Only topics of this content project.", example: "fld_01KAHX0000050123456789ABCD" })
        .optional(),
      cluster: z.string().max(500).meta({ description: "Only topics of this cluster.", example: "Durability" }).optional(),
      articleType: ArticleType.describe("Only topics with this type of article.").optional(),
      q: z
        .string()
        .max(200)
        .meta({
          description: "Only topics whose title, primary keyword or cluster has words that start with each of these words.",
          example: "power cut",
        })
        .optional(),
      scheduledFrom: ScheduledDate.describe("Only topics planned for this day or later, as `YYYY-MM-DD`.").optional(),
      scheduledTo: ScheduledDate.describe("Only topics planned for this day or earlier, as `YYYY-MM-DD`.").optional(),
      includeArchived: z.boolean().describe("`true` also lists archived topics; `false` by default.").optional(),
      sort: z
        .enum(["priorityScore", "updatedAt", "createdAt", "scheduledDate"])
        .describe("Field to sort by; `createdAt` by default.")
        .optional(),
      order: z.enum(["asc", "desc"]).describe("Sort direction; `desc` by default.").optional(),
    }),
    replies: { 200: WorkspaceListTopicsResponse },
    ...read,
    summary: "List the topics of a workspace, with the number of topics in each status",
    description:
      "Archived topics are listed only if requested. The list is sorted by `sort` (default `createdAt`) and `order` (default `desc`). `statusCounts` counts the topics of the workspace, or of the given content project; other filters do not change it. A page can have fewer items than its limit and still have a `nextToken`.",
  }),
  create: operation({
    method: "POST",
    path: "/workspaces/{workspaceId}/topics",
    params: workspaceParams,
    bodies: { "application/json": WorkspaceCreateTopicRequest },
    replies: { 201: WorkspaceCreateTopicResponse },
    ...write,
    summary: "Create a topic; its status is idea",
    description:
      "Fields that are left out get defaults: `estimatedIntent` informational, `priorityScore` 50, and a rationale that names the caller. The answer contains the short id `T-<n>`, which every path accepts instead of the id.",
    example: {
      title: "How a draft survives a power cut",
      targetAudience: "people who run servers",
      primaryKeyword: "durable drafts",
      articleType: "explanation",
      wordCountRange: { min: 900, max: 1400 },
    },
  }),
  get: operation({
    method: "GET",
    path: "/workspaces/{workspaceId}/topics/{topicId}",
    params,
    replies: { 200: ContentTopic },
    replyHeaders: etag,
    ...read,
    summary: "Get a topic by its id or short id",
    description: "Fields without a value are absent.",
  }),
  update: operation({
    method: "PATCH",
    path: "/workspaces/{workspaceId}/topics/{topicId}",
    params,
    bodies: { "application/json": WorkspaceUpdateTopicRequest },
    replies: { 200: WorkspaceTopicMessageResponse },
    ...write,
    ifMatch: true,
    errors: ["invalid_transition"],
    summary: "Change the editorial fields of a topic that is not archived",
    description:
      "Fields that are left out do not change; `wordCountRange: null` removes the range. With `If-Match`, the request is refused (412) if the topic has changed since the tag was read.",
    example: { priorityScore: 80, scheduledDate: "2026-12-01", wordCountRange: null },
  }),
  transitions: operation({
    method: "GET",
    path: "/workspaces/{workspaceId}/topics/{topicId}/transitions",
    params,
    replies: { 200: TopicTransitions },
    ...read,
    summary: "List the operations that a topic allows now, and why it refuses the others",
    description: "For each operation, the answer has the resulting status, or the error code of the refusal.",
  }),
  shortlist: operation({
    method: "POST",
    path: "/workspaces/{workspaceId}/topics/{topicId}/shortlist",
    params,
    bodies: { "application/json": WorkspaceRunInstructionsRequest },
    bodyOptional: true,
    replies: { 200: WorkspaceShortlistTopicResponse, 202: WorkspaceShortlistTopicResponse },
    ...write,
    rate: "runs",
    rateWhen: { anyOf: ["instructions", "styleProfileId"] },
    errors: ["invalid_transition", "run_in_progress"],
    summary: "Shortlist an idea; with instructions or a style, also start a research run",
    description:
      "Without a run the answer is 200. With `instructions` or `styleProfileId` a `research` run starts and the answer is 202; the caller then needs `articles:write`, and the request counts against `rate.runs`.",
    example: { instructions: "Find out what an fsync costs on consumer disks." },
  }),
  archive: operation({
    method: "POST",
    path: "/workspaces/{workspaceId}/topics/{topicId}/archive",
    params,
    bodies: { "application/json": ArchiveTopicRequest },
    bodyOptional: true,
    replies: { 200: WorkspaceTopicMessageResponse },
    ...write,
    errors: ["invalid_transition"],
    summary: "Archive a topic; its active run is cancelled",
    description: "Archived topics are listed only if requested, and cannot be changed until they are restored. The article stays.",
    example: { note: "Covered by another article." },
  }),
  restore: operation({
    method: "POST",
    path: "/workspaces/{workspaceId}/topics/{topicId}/restore",
    params,
    replies: { 200: WorkspaceTopicMessageResponse },
    ...write,
    errors: ["invalid_transition"],
    summary: "Restore an archived topic to its earlier status",
    description: "The fields about the archiving are removed.",
  }),
  ensureArticle: operation({
    method: "POST",
    path: "/workspaces/{workspaceId}/topics/{topicId}/article",
    params,
    bodies: { "application/json": WorkspaceEnsureTopicArticleRequest },
    bodyOptional: true,
    replies: { 200: WorkspaceEnsureTopicArticleResponse, 201: WorkspaceEnsureTopicArticleResponse },
    ...author,
    errors: ["already_exists", "invalid_transition"],
    summary: "Link an article to the topic: a given one, the present one, or a new one",
    description: "The answer is 201 if a new article was created, and 200 if an existing article was linked or is already linked.",
    example: { articleId: "art_01KAHX0000050123456789ABCD" },
  }),
  startWorkflow: operation({
    method: "POST",
    path: "/workspaces/{workspaceId}/topics/{topicId}/workflow-runs",
    params,
    bodies: { "application/json": WorkspaceStartWorkflowRequest },
    bodyOptional: true,
    replies: { 202: WorkspaceStartWorkflowResponse },
    ...starts,
    errors: ["run_in_progress", "invalid_transition"],
    summary: "Start the staged (default) or the full pipeline",
    description:
      "`staged`: a run of `outline` and, after its approval, a run of `draft`. `full`: one run of `full_editorial_article`. If the topic has no article, a new one is created and linked.",
    example: { pipeline: "staged", instructions: "For readers who have never lost a file." },
  }),
  generateOutline: operation({
    method: "POST",
    path: "/workspaces/{workspaceId}/topics/{topicId}/outline",
    params,
    bodies: { "application/json": WorkspaceGenerateOutlineRequest },
    bodyOptional: true,
    replies: { 202: WorkspaceGenerateOutlineResponse },
    ...starts,
    errors: ["run_in_progress", "invalid_transition"],
    summary: "Start a run that writes the outline",
    description: "The run has the same steps as the first run of the staged pipeline, but no draft follows automatically.",
    example: { instructions: "Begin with the failure, not with the theory." },
  }),
  getOutline: operation({
    method: "GET",
    path: "/workspaces/{workspaceId}/topics/{topicId}/outline",
    params,
    replies: { 200: WorkspaceGetOutlineResponse },
    ...read,
    scopes: ["workspaces:read", "articles:read"],
    summary: "Get the outline: outline.md of the last commit that contains it",
    description: "Edits since that commit are not included. The answer is 404 if there is no outline.",
  }),
  approveOutline: operation({
    method: "POST",
    path: "/workspaces/{workspaceId}/topics/{topicId}/outline/approve",
    params,
    bodies: { "application/json": WorkspaceApproveOutlineRequest },
    bodyOptional: true,
    replies: { 200: WorkspaceApproveOutlineResponse, 202: WorkspaceApproveOutlineResponse },
    ...write,
    errors: ["invalid_transition", "approval_already_resolved", "run_in_progress"],
    summary: "Approve the outline; if a draft run follows, it starts (needs articles:write)",
    description:
      "The approval applies to the newest committed outline. An active run that waits for this decision receives it in the same commit. A draft run starts (202; needs `articles:write`) if the outline came from a staged run, or if the content project needs no approval of drafts.",
    example: { note: "Good. Keep the third section short." },
  }),
  requestOutlineChanges: operation({
    method: "POST",
    path: "/workspaces/{workspaceId}/topics/{topicId}/outline/request-changes",
    params,
    bodies: { "application/json": WorkspaceOutlineRequestChangesRequest },
    bodyOptional: true,
    replies: { 202: ChangesRequestedResponse },
    ...starts,
    errors: ["invalid_transition", "run_in_progress"],
    summary: "Request a new outline with feedback",
    description:
      "A run that waits for this decision receives the feedback; otherwise a new run of that stage starts with it. The approval is removed.",
    example: { feedback: "The two sections say the same thing; merge them." },
  }),
  getDraft: operation({
    method: "GET",
    path: "/workspaces/{workspaceId}/topics/{topicId}/draft",
    params,
    replies: { 200: WorkspaceGetDraftResponse },
    ...read,
    scopes: ["workspaces:read", "articles:read"],
    summary: "Get the draft: content.md of the last commit that contains it",
    description: "Edits since that commit are not included. The answer is 404 if there is no draft.",
  }),
  approveDraft: operation({
    method: "POST",
    path: "/workspaces/{workspaceId}/topics/{topicId}/draft/approve",
    params,
    bodies: { "application/json": WorkspaceApproveDraftRequest },
    bodyOptional: true,
    replies: { 200: WorkspaceTopicMessageResponse },
    ...write,
    errors: ["invalid_transition", "approval_already_resolved"],
    summary: "Approve the draft",
    description: "An active run that waits for this decision receives it in the same commit.",
    example: { note: "Ready." },
  }),
  requestDraftChanges: operation({
    method: "POST",
    path: "/workspaces/{workspaceId}/topics/{topicId}/draft/request-changes",
    params,
    bodies: { "application/json": WorkspaceDraftRequestChangesRequest },
    bodyOptional: true,
    replies: { 202: ChangesRequestedResponse },
    ...starts,
    errors: ["invalid_transition", "run_in_progress"],
    summary: "Request a new draft with feedback",
    description:
      "A run that waits for this decision receives the feedback; otherwise a new run of that stage starts with it. The approval is removed.",
    example: { feedback: "The introduction promises more than the text delivers." },
  }),
  runDraftAction: operation({
    method: "POST",
    path: "/workspaces/{workspaceId}/topics/{topicId}/draft/actions",
    params,
    bodies: { "application/json": WorkspaceRunDraftActionRequest },
    replies: { 202: WorkspaceRunDraftActionResponse },
    ...starts,
    errors: ["run_in_progress", "invalid_transition"],
    summary: "Start a run that writes, updates, optimises or rewrites the draft",
    description: "The run has the workflow `draft`. A topic has at most one active run: a second one answers 409 `run_in_progress`.",
    example: { action: "update", instructions: "Update the figures." },
  }),
  audit: operation({
    method: "GET",
    path: "/workspaces/{workspaceId}/topics/{topicId}/audit",
    params,
    query: z.strictObject(pageQuery),
    replies: {
      200: pageOf("events", ContentAuditEvent, {
        id: "ContentAuditEventList",
        description: "A page of a topic's events.",
        items: "Events, newest first.",
      }),
    },
    ...read,
    summary: "List the events of a topic, newest first",
    description: "Events are never changed or removed.",
  }),
  workspaceAudit: operation({
    method: "GET",
    path: "/workspaces/{workspaceId}/audit",
    params: workspaceParams,
    query: z.strictObject({
      ...pageQuery,
      eventType: oneOrMore(ContentAuditEventType, "Only events of these types; repeat the parameter for several."),
      actorId: z.string().max(64).meta({ description: "Only events that this account caused.", example: "ana" }).optional(),
      topicId: TopicReference.describe("Only events of this topic.").optional(),
      from: unixSeconds("Only events at this time or later.").optional(),
      to: unixSeconds("Only events at this time or earlier.").optional(),
    }),
    replies: {
      200: pageOf("events", ContentAuditEvent, {
        id: "WorkspaceAuditEventList",
        description: "A page of the workspace's events.",
        items: "Events, newest first.",
      }),
    },
    ...read,
    role: "admin",
    summary: "List the events of all topics of a workspace, newest first",
    description: "Only administrators can read this list. It is sorted by time; `from` and `to` are both included.",
  }),
} as const;
