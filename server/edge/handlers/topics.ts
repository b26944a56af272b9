/**
 * `createTopicHandlers` connects the operations of `api/contract/topics.ts` to their services.
 *
 * The contract says how results become replies; `reply` is only
 * where it cannot. Rules of the domain do not belong here.
 */
import type { topics as contract } from "../../../api/contract/topics.ts";
import { type CallReply, type Handlers, Versioned } from "../../domain/call/call.ts";
import type { ReadTransitions } from "../../domain/runs/decisions/topicTransitions.ts";
import type { MaybeStarted, TopicRuns } from "../../domain/runs/topicRuns.ts";
import type { CreatedTopic, EnsuredArticle, TopicRequests } from "../../domain/topics/topics.ts";

export interface TopicHandlerServices {
  readonly topics: TopicRequests;
  /** Requests that start, continue or end a run. */
  readonly topicRuns: TopicRuns;
  readonly readTransitions: ReadTransitions;
}

function maybeStarted({ response, started }: MaybeStarted<unknown>): CallReply {
  return { status: started ? 202 : 200, body: response };
}

export function createTopicHandlers({
  topics,
  topicRuns,
  readTransitions,
}: TopicHandlerServices): Handlers<{ topics: typeof contract }>["topics"] {
  return {
    list: ({ params, query }) => topics.list({ ...params, ...query }),
    create: {
      serve: ({ params, body }, call) => topics.create(call, params.workspaceId, body),
      reply: ({ workspaceId, response }: CreatedTopic) => ({
        status: 201,
        headers: { location: `/workspaces/${workspaceId}/topics/${response.topicId}` },
        body: response,
      }),
    },
    get: ({ params }) => topics.get(params).then(({ topic, revision }) => new Versioned(topic, revision)),
    update: ({ params, body }, call) => topics.update(call, params, body),
    transitions: ({ params }) => readTransitions(params),
    shortlist: { serve: ({ params, body = {} }, call) => topicRuns.shortlist(call, params, body), reply: maybeStarted },
    archive: ({ params, body = {} }, call) => topicRuns.archive(call, params, body),
    restore: ({ params }, call) => topics.restore(call, params),
    ensureArticle: {
      serve: ({ params, body = {} }, call) => topics.ensure(call, params.workspaceId, params.topicId, body.articleId),
      reply: (value: EnsuredArticle) =>
        value.created ? { status: 201, headers: { location: `/articles/${value.articleId}` }, body: value } : { status: 200, body: value },
    },
    startWorkflow: ({ params, body = {} }, call) => topicRuns.startWorkflow(call, params, body),
    generateOutline: ({ params, body = {} }, call) => topicRuns.generateOutline(call, params, body),
    getOutline: async ({ params }) => {
      const { text: outline, ...rest } = await topics.read(params.workspaceId, params.topicId, "outline.md");
      return { ...rest, outline };
    },
    approveOutline: { serve: ({ params, body = {} }, call) => topicRuns.approveOutline(call, params, body), reply: maybeStarted },
    requestOutlineChanges: ({ params, body = {} }, call) => topicRuns.requestOutlineChanges(call, params, body),
    getDraft: async ({ params }) => {
      const { text: draft, ...rest } = await topics.read(params.workspaceId, params.topicId, "content.md");
      return { ...rest, draft };
    },
    approveDraft: ({ params, body = {} }, call) => topicRuns.approveDraft(call, params, body),
    requestDraftChanges: ({ params, body = {} }, call) => topicRuns.requestDraftChanges(call, params, body),
    runDraftAction: ({ params, body }, call) => topicRuns.runDraftAction(call, params, body),
    audit: ({ params, query }) => topics.audit(params, query),
    workspaceAudit: ({ params, query }) => topics.workspaceAudit(params.workspaceId, query),
  };
}
