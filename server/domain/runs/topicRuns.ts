/**
 * TopicRuns serves the requests that shortlist or archive a topic, start its pipeline, or decide about its outline or draft.
 *
 * Each request is one commit of all its effects: the topic's transition with its audit event, the run's start or
 * transition with its timeline entries, a new article, and the idempotent response. A topic is named by its id or short id.
 */
import type { z } from "zod";
import { notFound } from "../../../api/schema/error.ts";
import type {
  ArchiveTopicRequest,
  ChangesRequestedResponse,
  WorkspaceApproveDraftRequest,
  WorkspaceApproveOutlineRequest,
  WorkspaceApproveOutlineResponse,
  WorkspaceDraftRequestChangesRequest,
  WorkspaceGenerateOutlineRequest,
  WorkspaceGenerateOutlineResponse,
  WorkspaceOutlineRequestChangesRequest,
  WorkspaceRunDraftActionRequest,
  WorkspaceRunDraftActionResponse,
  WorkspaceRunInstructionsRequest,
  WorkspaceShortlistTopicResponse,
  WorkspaceStartWorkflowRequest,
  WorkspaceStartWorkflowResponse,
  WorkspaceTopicMessageResponse,
} from "../../../api/schema/topicOperations.ts";
import type { ActorRuntime, UnitOfWork } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { Call } from "../call/call.ts";
import { present } from "../call/present.ts";
import { principalOf, requireScopes } from "../call/principal.ts";
import { checkProse } from "../call/prose.ts";
import type { TopicRecord, Topics } from "../topics/port.ts";
import type { StageDecision, StageDecisions } from "./decisions/stageDecisions.ts";
import type { StartRun, StartRunParams } from "./engine/startRun.ts";
import type { FindActiveRun } from "./model/activeRun.ts";
import type { RunKind } from "./model/records.ts";
import type { RefuseSecondRun } from "./model/runInProgress.ts";
import { startedByOf } from "./model/startedBy.ts";
import { builtInWorkflow, type Workflow } from "./workflows/builtInWorkflows.ts";
import { requireStyleOf } from "./workflows/styles.ts";

/** Response with status 202 if a run was started, otherwise 200. */
export interface MaybeStarted<Response> {
  readonly response: Response;
  readonly started: boolean;
}

type ShortlistAnswer = z.output<typeof WorkspaceShortlistTopicResponse>;
type ApproveOutlineAnswer = z.output<typeof WorkspaceApproveOutlineResponse>;
type TopicRequest<Request extends z.ZodType, Answer> = (
  call: Call,
  topic: { readonly workspaceId: string; readonly topicId: string },
  request: z.output<Request>,
) => Promise<Answer>;

export interface TopicRuns {
  readonly shortlist: TopicRequest<typeof WorkspaceRunInstructionsRequest, MaybeStarted<ShortlistAnswer>>;
  readonly archive: TopicRequest<typeof ArchiveTopicRequest, z.output<typeof WorkspaceTopicMessageResponse>>;
  readonly startWorkflow: TopicRequest<typeof WorkspaceStartWorkflowRequest, z.output<typeof WorkspaceStartWorkflowResponse>>;
  readonly generateOutline: TopicRequest<typeof WorkspaceGenerateOutlineRequest, z.output<typeof WorkspaceGenerateOutlineResponse>>;
  readonly approveOutline: TopicRequest<typeof WorkspaceApproveOutlineRequest, MaybeStarted<ApproveOutlineAnswer>>;
  readonly requestOutlineChanges: TopicRequest<typeof WorkspaceOutlineRequestChangesRequest, z.output<typeof ChangesRequestedResponse>>;
  readonly approveDraft: TopicRequest<typeof WorkspaceApproveDraftRequest, z.output<typeof WorkspaceTopicMessageResponse>>;
  readonly requestDraftChanges: TopicRequest<typeof WorkspaceDraftRequestChangesRequest, z.output<typeof ChangesRequestedResponse>>;
  readonly runDraftAction: TopicRequest<typeof WorkspaceRunDraftActionRequest, z.output<typeof WorkspaceRunDraftActionResponse>>;
}

export interface TopicRunsOptions {
  readonly storage: Pick<Storage, "records" | "now">;
  readonly actors: Pick<ActorRuntime, "commitUnit">;
  readonly kind: RunKind;
  readonly topics: Pick<Topics, "find" | "send">;
  readonly startRun: StartRun;
  readonly findActiveRun: FindActiveRun;
  readonly stageDecisions: StageDecisions;
  readonly refuseSecondRun: RefuseSecondRun;
}

interface NamedTopic {
  readonly workspaceId: string;
  readonly topicId: string;
}

/** Fields that any of these requests may have. */
interface RunRequest {
  readonly note?: string | undefined;
  readonly instructions?: string | undefined;
  readonly feedback?: string | undefined;
  readonly styleProfileId?: string | undefined;
}

type Options = Pick<StartRunParams, "pipeline" | "action" | "chains">;

/** Operation of a request in the metrics of conflicts. */
const operation = "topic.run";

export function createTopicRuns(options: TopicRunsOptions): TopicRuns {
  const { storage, actors, kind, topics, startRun, findActiveRun, stageDecisions, refuseSecondRun } = options;

  /** Reads the topic, gathers the changes of the request, and commits them with the response. */
  async function commitRequest<Answer>(
    call: Call,
    { workspaceId, topicId }: NamedTopic,
    request: RunRequest,
    gather: (unit: UnitOfWork, topic: TopicRecord) => Promise<Answer>,
  ): Promise<Answer> {
    checkProse(call.limits, request);
    await requireStyleOf(storage, workspaceId, request.styleProfileId);
    return refuseSecondRun(() =>
      actors.commitUnit({ operation, partition: partitionOfId(workspaceId), committer: call }, async (unit) => {
        const topic = await topics.find(workspaceId, topicId, unit);
        if (topic === undefined) throw notFound();
        return gather(unit, topic.value);
      }),
    );
  }

  /** Starts a run of the workflow. If the topic has no article, the same commit creates and links one. */
  async function start(
    unit: UnitOfWork,
    call: Call,
    topic: TopicRecord,
    workflow: Workflow,
    { instructions, styleProfileId }: RunRequest,
    more: Options = {},
  ): Promise<{ readonly runId: string; readonly articleId: string }> {
    const runId = call.ids.next("run", partitionOfId(topic.id));
    const { workspaceId } = topic.context;
    const by = startedByOf(call);
    const { traceparent, ids } = call;
    const nowMs = storage.now();
    const params = { runId, workspaceId, workflow, topic, by, ids, nowMs, instructions, styleProfileId, traceparent };
    const { articleId } = await startRun(unit, { ...params, ...more });
    if (articleId === undefined) throw new Error(`a run of ${workflow.id} has no article`);
    return { runId, articleId };
  }

  function toChangesAnswer(topic: TopicRecord, stage: string, { started, continued, articleId }: StageDecision) {
    const runId = started?.runId ?? continued?.runId;
    const message = started === undefined ? `The run writes the ${stage} again.` : `A run that writes the ${stage} again was started.`;
    return { message, topicId: topic.id, ...present({ runId, articleId }) };
  }

  return {
    async shortlist(call, named, request) {
      const starts = request.instructions !== undefined || request.styleProfileId !== undefined;
      if (starts) requireScopes(call, ["workspaces:write", "articles:write"]);
      return commitRequest<MaybeStarted<ShortlistAnswer>>(call, named, request, async (unit, topic) => {
        await topics.send(unit, topic.id, { type: "topic.shortlist", by: principalOf(call).username });
        if (!starts) return { response: { message: "The topic was shortlisted.", topicId: topic.id }, started: false };
        const { runId, articleId } = await start(unit, call, topic, builtInWorkflow("research"), request);
        const message = "The topic was shortlisted and its research started.";
        return { response: { message, topicId: topic.id, runId, workflowId: "research", articleId }, started: true };
      });
    },

    archive: (call, named, { reason = "manual", note }) =>
      commitRequest(call, named, { note }, async (unit, topic) => {
        const { username: by } = principalOf(call);
        const active = await findActiveRun(topic.id, unit);
        if (active !== undefined) {
          await unit.send(kind, active.value.id, { type: "run.cancel", by, reason: "The topic was archived." });
        }
        await topics.send(unit, topic.id, { type: "topic.archive", reason, by, ...present({ note }) });
        const message = active === undefined ? "The topic was archived." : "The topic was archived and its run cancelled.";
        return { message, topicId: topic.id };
      }),

    startWorkflow: (call, named, { pipeline = "staged", ...request }) =>
      commitRequest(call, named, request, async (unit, topic) => {
        const workflow = builtInWorkflow(pipeline === "full" ? "full_editorial_article" : "outline");
        const more = pipeline === "full" ? { pipeline } : { pipeline, chains: "draft" };
        const { runId, articleId } = await start(unit, call, topic, workflow, request, more);
        return { runId, workflowId: workflow.id, articleId, topicId: topic.id, status: "queued" };
      }),

    generateOutline: (call, named, request) =>
      commitRequest(call, named, request, async (unit, topic) => ({
        ...(await start(unit, call, topic, builtInWorkflow("outline"), request)),
        status: "queued",
      })),

    approveOutline: (call, named, request) =>
      commitRequest<MaybeStarted<ApproveOutlineAnswer>>(call, named, request, async (unit, topic) => {
        const { note: text, instructions, styleProfileId } = request;
        const params = { call, topic, stage: "outline", text, instructions, styleProfileId } as const;
        const { started, articleId } = await stageDecisions.approve(unit, params);
        const answer = { topicId: topic.id, ...present({ articleId }) };
        if (started === undefined) return { response: { message: "The outline was approved.", ...answer }, started: false };
        const message = "The outline was approved and the draft started.";
        const { runId: draftRunId, workflowId } = started;
        return { response: { message, draftRunId, workflowId, ...answer }, started: true };
      }),

    requestOutlineChanges: (call, named, request) =>
      commitRequest(call, named, request, async (unit, topic) => {
        const { feedback: text, styleProfileId } = request;
        const params = { call, topic, stage: "outline", text, styleProfileId } as const;
        return toChangesAnswer(topic, "outline", await stageDecisions.requestChanges(unit, params));
      }),

    approveDraft: (call, named, request) =>
      commitRequest(call, named, request, async (unit, topic) => {
        await stageDecisions.approve(unit, { call, topic, stage: "draft", text: request.note });
        return { message: "The draft was approved.", topicId: topic.id };
      }),

    requestDraftChanges: (call, named, request) =>
      commitRequest(call, named, request, async (unit, topic) => {
        const { feedback: text, styleProfileId } = request;
        const params = { call, topic, stage: "draft", text, styleProfileId } as const;
        return toChangesAnswer(topic, "draft", await stageDecisions.requestChanges(unit, params));
      }),

    runDraftAction: (call, named, { action, ...request }) =>
      commitRequest(call, named, request, async (unit, topic) => {
        const { runId, articleId } = await start(unit, call, topic, builtInWorkflow("draft"), request, { action });
        return { runId, articleId, workflowId: "draft", action, status: "queued" };
      }),
  };
}
