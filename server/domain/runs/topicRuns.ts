/**
 * The topic run requests shortlist and archive topics, start pipelines, and decide about outlines and drafts.
 *
 * Each request is one commit of all its effects: the topic's move with its audit event, the run's move or birth with
 * its timeline entries, a new article, and the idempotent response. A topic is named by its id or short id.
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
import type { TopicEvent } from "../../../machines/topic.ts";
import type { ActorRuntime, Timeless } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage, Stored } from "../../platform/storage/port.ts";
import type { Call } from "../call/call.ts";
import { present } from "../call/present.ts";
import { principalOf, requireScopes } from "../call/principal.ts";
import { checkProse } from "../call/prose.ts";
import { commitTogether, type Decision, type Part } from "../call/together.ts";
import type { TopicRecord, Topics } from "../topics/port.ts";
import { byOf, type StageDecision, type StageDecisions } from "./decisions/stageDecisions.ts";
import type { RunStarter, StartRunParams } from "./engine/startRun.ts";
import type { RunKind } from "./model/records.ts";
import type { RefuseSecondRun } from "./model/runInProgress.ts";
import { builtInWorkflow, type Workflow } from "./workflows/builtInWorkflows.ts";
import { requireStyleOf } from "./workflows/styles.ts";

/** Response with status 202 if a run was started, otherwise 200. */
export interface MaybeStarted<Response> {
  readonly response: Response;
  readonly started: boolean;
}

type ShortlistAnswer = z.output<typeof WorkspaceShortlistTopicResponse>;
type ApproveOutlineAnswer = z.output<typeof WorkspaceApproveOutlineResponse>;
type Ask<Request extends z.ZodType, Answer> = (
  call: Call,
  topic: { readonly workspaceId: string; readonly topicId: string },
  request: z.output<Request>,
) => Promise<Answer>;

export interface TopicRuns {
  readonly shortlist: Ask<typeof WorkspaceRunInstructionsRequest, MaybeStarted<ShortlistAnswer>>;
  readonly archive: Ask<typeof ArchiveTopicRequest, z.output<typeof WorkspaceTopicMessageResponse>>;
  readonly startWorkflow: Ask<typeof WorkspaceStartWorkflowRequest, z.output<typeof WorkspaceStartWorkflowResponse>>;
  readonly generateOutline: Ask<typeof WorkspaceGenerateOutlineRequest, z.output<typeof WorkspaceGenerateOutlineResponse>>;
  readonly approveOutline: Ask<typeof WorkspaceApproveOutlineRequest, MaybeStarted<ApproveOutlineAnswer>>;
  readonly requestOutlineChanges: Ask<typeof WorkspaceOutlineRequestChangesRequest, z.output<typeof ChangesRequestedResponse>>;
  readonly approveDraft: Ask<typeof WorkspaceApproveDraftRequest, z.output<typeof WorkspaceTopicMessageResponse>>;
  readonly requestDraftChanges: Ask<typeof WorkspaceDraftRequestChangesRequest, z.output<typeof ChangesRequestedResponse>>;
  readonly runDraftAction: Ask<typeof WorkspaceRunDraftActionRequest, z.output<typeof WorkspaceRunDraftActionResponse>>;
}

export interface TopicRunsOptions {
  readonly storage: Pick<Storage, "records" | "now">;
  readonly actors: Pick<ActorRuntime, "move">;
  readonly kind: RunKind;
  readonly topics: Pick<Topics, "find">;
  readonly starter: RunStarter;
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

export function createTopicRuns(options: TopicRunsOptions): TopicRuns {
  const { storage, actors, kind, topics, starter, stageDecisions, refuseSecondRun } = options;

  /** Reads the topic, decides, and commits the changes with the response. Retries on conflict. */
  async function decide<Answer>(
    call: Call,
    { workspaceId, topicId }: NamedTopic,
    request: RunRequest,
    make: (topic: Stored<TopicRecord>) => Promise<Decision<Answer>>,
  ): Promise<Answer> {
    checkProse(call.limits, request);
    await requireStyleOf(storage, workspaceId, request.styleProfileId);
    return refuseSecondRun(() =>
      commitTogether(partitionOfId(workspaceId), call.commit.bind(call), async () => {
        const topic = await topics.find(workspaceId, topicId);
        if (topic === undefined) throw notFound();
        return make(topic);
      }),
    );
  }

  /**
   * Prepares a run of the workflow. If the topic has no article, the same changes create and link one. The events in
   * `before` move the topic before the events of the run start.
   */
  async function prepare(
    call: Call,
    topic: Stored<TopicRecord>,
    workflow: Workflow,
    { instructions, styleProfileId }: RunRequest,
    { before = [], ...options }: Options & { readonly before?: readonly Timeless<TopicEvent>[] } = {},
  ): Promise<{ readonly runId: string; readonly articleId: string; readonly parts: readonly Part[] }> {
    const runId = call.ids.next("run", partitionOfId(topic.value.id));
    const { workspaceId } = topic.value.context;
    const by = byOf(principalOf(call));
    const { traceparent, ids } = call;
    const wish = { runId, workspaceId, workflow, topic, by, ids, nowMs: storage.now(), instructions, styleProfileId, traceparent };
    const { articleId, parts, topicEvents } = await starter.prepare({ ...wish, ...options });
    if (articleId === undefined) throw new Error(`a run of ${workflow.id} has no article`);
    return { runId, articleId, parts: starter.withTopic(parts, topic, [...before, ...topicEvents]) };
  }

  function toChangesAnswer(topic: TopicRecord, stage: string, { started, continued, articleId, parts }: StageDecision) {
    const runId = started?.runId ?? continued?.runId;
    const message = started === undefined ? `The run writes the ${stage} again.` : `A run that writes the ${stage} again was started.`;
    return { parts, value: { message, topicId: topic.id, ...present({ runId, articleId }) } };
  }

  return {
    async shortlist(call, named, request) {
      const starts = request.instructions !== undefined || request.styleProfileId !== undefined;
      if (starts) requireScopes(call, ["workspaces:write", "articles:write"]);
      return decide<MaybeStarted<ShortlistAnswer>>(call, named, request, async (topic) => {
        const { username: by } = principalOf(call);
        const topicId = topic.value.id;
        const before = [{ type: "topic.shortlist", by }] as const;
        if (!starts) {
          const response = { message: "The topic was shortlisted.", topicId };
          return { parts: starter.withTopic([], topic, before), value: { response, started: false } };
        }
        const { runId, articleId, parts } = await prepare(call, topic, builtInWorkflow("research"), request, { before });
        const message = "The topic was shortlisted and its research started.";
        return { parts, value: { response: { message, topicId, runId, workflowId: "research", articleId }, started: true } };
      });
    },

    archive: (call, named, { reason = "manual", note }) =>
      decide(call, named, { note }, async (topic) => {
        const { username: by } = principalOf(call);
        const active = await stageDecisions.activeRun(topic.value);
        const cancelled =
          active === undefined ? [] : [actors.move(kind, active, { type: "run.cancel", by, reason: "The topic was archived." })];
        const parts = starter.withTopic(cancelled, topic, [{ type: "topic.archive", reason, by, ...present({ note }) }]);
        const message = active === undefined ? "The topic was archived." : "The topic was archived and its run cancelled.";
        return { parts, value: { message, topicId: topic.value.id } };
      }),

    startWorkflow: (call, named, { pipeline = "staged", ...request }) =>
      decide(call, named, request, async (topic) => {
        const workflow = builtInWorkflow(pipeline === "full" ? "full_editorial_article" : "outline");
        const options = pipeline === "full" ? { pipeline } : { pipeline, chains: "draft" };
        const { runId, articleId, parts } = await prepare(call, topic, workflow, request, options);
        return { parts, value: { runId, workflowId: workflow.id, articleId, topicId: topic.value.id, status: "queued" } };
      }),

    generateOutline: (call, named, request) =>
      decide(call, named, request, async (topic) => {
        const { runId, articleId, parts } = await prepare(call, topic, builtInWorkflow("outline"), request);
        return { parts, value: { runId, articleId, status: "queued" } };
      }),

    approveOutline: (call, named, request) =>
      decide<MaybeStarted<ApproveOutlineAnswer>>(call, named, request, async (topic) => {
        const { note: text, instructions, styleProfileId } = request;
        const wish = { call, topic, stage: "outline", text, instructions, styleProfileId } as const;
        const { parts, started, articleId } = await stageDecisions.approve(wish);
        const topicId = topic.value.id;
        if (started === undefined) {
          return {
            parts,
            value: { response: { message: "The outline was approved.", topicId, ...present({ articleId }) }, started: false },
          };
        }
        const message = "The outline was approved and the draft started.";
        const { runId: draftRunId, workflowId } = started;
        return { parts, value: { response: { message, topicId, draftRunId, workflowId, ...present({ articleId }) }, started: true } };
      }),

    requestOutlineChanges: (call, named, request) =>
      decide(call, named, request, async (topic) => {
        const { feedback: text, styleProfileId } = request;
        return toChangesAnswer(
          topic.value,
          "outline",
          await stageDecisions.requestChanges({ call, topic, stage: "outline", text, styleProfileId }),
        );
      }),

    approveDraft: (call, named, request) =>
      decide(call, named, request, async (topic) => {
        const { parts } = await stageDecisions.approve({ call, topic, stage: "draft", text: request.note });
        return { parts, value: { message: "The draft was approved.", topicId: topic.value.id } };
      }),

    requestDraftChanges: (call, named, request) =>
      decide(call, named, request, async (topic) => {
        const { feedback: text, styleProfileId } = request;
        return toChangesAnswer(
          topic.value,
          "draft",
          await stageDecisions.requestChanges({ call, topic, stage: "draft", text, styleProfileId }),
        );
      }),

    runDraftAction: (call, named, { action, ...request }) =>
      decide(call, named, request, async (topic) => {
        const { runId, articleId, parts } = await prepare(call, topic, builtInWorkflow("draft"), request, { action });
        return { parts, value: { runId, articleId, workflowId: "draft", action, status: "queued" } };
      }),
  };
}
