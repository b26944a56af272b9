import { z } from "zod";
import { pageQuery, unixSeconds } from "../schema/common.ts";
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
/** A query parameter that may be repeated. Several values mean OR. */
function oneOrMore<Item extends z.ZodType>(item: Item, description: string) {
  return z.array(item).min(1).max(20).describe(description).optional();
}

export const topics = {
  list: operation({
    method: "GET",
    path: "/workspaces/{workspaceId}/topics",
    params: workspaceParams,
    query: z.strictObject({
      ...pageQuery,
      status: oneOrMore(TopicStatus, "Only topics in one of these states; repeat it for several."),
      contentProjectId: z
        .string()
        .max(64)
        .meta({ description: "Only topics of this content project.", example: "fld_01KAHX0000050123456789ABCD" })
        .optional(),
      cluster: z.string().max(500).meta({ description: "Only topics of this cluster.", example: "Durability" }).optional(),
      articleType: ArticleType.describe("Only topics for this type of article.").optional(),
      q: z
        .string()
        .max(200)
        .meta({
          description: "Only topics with words in title, primary keyword or cluster that start with each of these words.",
          example: "power cut",
        })
        .optional(),
      scheduledFrom: ScheduledDate.describe("Only topics planned for this day or later, as `YYYY-MM-DD`.").optional(),
      scheduledTo: ScheduledDate.describe("Only topics planned for this day or earlier, as `YYYY-MM-DD`.").optional(),
      includeArchived: z.boolean().describe("`true` lists archived topics too; `false` by default.").optional(),
      sort: z
        .enum(["priorityScore", "updatedAt", "createdAt", "scheduledDate"])
        .describe("What to order by; `createdAt` by default.")
        .optional(),
      order: z.enum(["asc", "desc"]).describe("Which way; `desc` by default.").optional(),
    }),
    replies: { 200: WorkspaceListTopicsResponse },
    ...read,
    summary: "List the topics of a workspace, with their number by status; archived ones only when asked for",
    description:
      "Ordered by `sort` (`createdAt` unless said) and `order` (`desc` unless said). `statusCounts` counts the topics of the workspace, or of the content project asked for; other filters do not change it. A page may be shorter than its limit and still carry `nextToken`.",
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
      "What the request leaves out is filled in: `estimatedIntent` informational, `priorityScore` 50, and a rationale that names the caller. The answer carries the short id `T-<n>`, which every path takes in place of the id.",
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
    description: "Fields that are not set are absent.",
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
      "Fields that are left out stay; `wordCountRange: null` takes the range away. With `If-Match` it is refused (412) when the topic has changed since.",
    example: { priorityScore: 80, scheduledDate: "2026-12-01", wordCountRange: null },
  }),
  transitions: operation({
    method: "GET",
    path: "/workspaces/{workspaceId}/topics/{topicId}/transitions",
    params,
    replies: { 200: TopicTransitions },
    ...read,
    summary: "List the operations that a topic takes now, and why it refuses the others",
    description: "For each operation the status it leads to, or the code with which it would be refused.",
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
    summary: "Shortlist an idea; with instructions or a style a research run starts (which needs articles:write)",
    description:
      "200 without a run. With `instructions` or `styleProfileId` a `research` run starts: 202, and the caller needs `articles:write` and draws from `rate.runs`.",
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
    description: "Archived topics are listed only when asked for, and take no changes until they are restored. The article stays.",
    example: { note: "Covered by another article." },
  }),
  restore: operation({
    method: "POST",
    path: "/workspaces/{workspaceId}/topics/{topicId}/restore",
    params,
    replies: { 200: WorkspaceTopicMessageResponse },
    ...write,
    errors: ["invalid_transition"],
    summary: "Take a topic out of the archive, back to the status it had",
    description: "The fields that tell of the archiving are removed.",
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
    summary: "Give the topic an article: the one named, the one it has, or a new one",
    description: "201 when an article was made, 200 when one was linked or is the topic's already.",
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
      "`staged`: a run of `outline` and, once that is approved, one of `draft`. `full`: one run of `full_editorial_article`. Makes and links an article where there is none.",
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
    description: "The same steps as the first run of the staged pipeline; no draft follows by itself.",
    example: { instructions: "Begin with the failure, not with the theory." },
  }),
  getOutline: operation({
    method: "GET",
    path: "/workspaces/{workspaceId}/topics/{topicId}/outline",
    params,
    replies: { 200: WorkspaceGetOutlineResponse },
    ...read,
    scopes: ["workspaces:read", "articles:read"],
    summary: "Get the outline: outline.md of the last commit that holds it",
    description: "What was typed since that commit is not in it. 404 while there is none.",
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
    summary: "Approve the outline; where a draft run follows (which needs articles:write) it starts",
    description:
      "Approves the newest committed outline; an active run that waits for this decision gets it too, in the same commit. A draft run starts (202; needs `articles:write`) when the outline came from a staged run, or the content project wants no approval of drafts.",
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
    summary: "Have the outline written again with feedback",
    description:
      "The run that waits for this decision gets the feedback; if none waits, a new run of that stage starts with it. Clears the approval.",
    example: { feedback: "Two sections say the same; join them." },
  }),
  getDraft: operation({
    method: "GET",
    path: "/workspaces/{workspaceId}/topics/{topicId}/draft",
    params,
    replies: { 200: WorkspaceGetDraftResponse },
    ...read,
    scopes: ["workspaces:read", "articles:read"],
    summary: "Get the draft: content.md of the last commit that holds it",
    description: "What was typed since that commit is not in it. 404 while there is none.",
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
    description: "An active run that waits for this decision gets it too, in the same commit.",
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
    summary: "Have the draft written again with feedback",
    description:
      "The run that waits for this decision gets the feedback; if none waits, a new run of that stage starts with it. Clears the approval.",
    example: { feedback: "The introduction promises more than the text keeps." },
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
    description: "A run of `draft`. A topic has one active run at most: a second one is refused with 409 `run_in_progress`.",
    example: { action: "update", instructions: "Bring the figures up to date." },
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
    summary: "List what happened to a topic, newest first",
    description: "In the order in which they happened. Events are never changed or removed.",
  }),
  workspaceAudit: operation({
    method: "GET",
    path: "/workspaces/{workspaceId}/audit",
    params: workspaceParams,
    query: z.strictObject({
      ...pageQuery,
      eventType: oneOrMore(ContentAuditEventType, "Only events of these types; repeat it for several."),
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
    summary: "List what happened to the topics of a workspace, newest first",
    description: "For administrators. Ordered by time; `from` and `to` are both included.",
  }),
} as const;
