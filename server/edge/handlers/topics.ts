/**
 * `createTopicHandlers` connects the operations of `api/contract/topics.ts` to their services.
 *
 * `serve` calls the service; `reply` turns its result into status, headers and body. Rules of the domain do not belong here.
 */
import type { topics as contract } from "../../../api/contract/topics.ts";
import type { ContentAuditEvent } from "../../../api/schema/topicAudit.ts";
import type { CallReply, Handlers } from "../../domain/call/call.ts";
import type { Page } from "../../domain/call/paging.ts";
import { recordEtag } from "../../domain/call/precondition.ts";
import type { ReadTransitions } from "../../domain/runs/decisions/topicTransitions.ts";
import type { MaybeStarted, TopicRuns } from "../../domain/runs/topicRuns.ts";
import type { CreatedTopic, EnsuredArticle, FoundTopic, StageText, TopicPage, TopicRequests } from "../../domain/topics/topics.ts";

export interface TopicHandlerServices {
  readonly topics: TopicRequests;
  /** Requests that start, continue or end a run. */
  readonly topicRuns: TopicRuns;
  readonly readTransitions: ReadTransitions;
}

function maybeStarted({ response, started }: MaybeStarted<unknown>): CallReply {
  return { status: started ? 202 : 200, body: response };
}

const done = (body: unknown): CallReply => ({ status: 200, body });
const queued = (body: unknown): CallReply => ({ status: 202, body });
const events = ({ items, ...rest }: Page<ContentAuditEvent>): CallReply => done({ events: items, ...rest });

export function createTopicHandlers({
  topics,
  topicRuns,
  readTransitions,
}: TopicHandlerServices): Handlers<{ topics: typeof contract }>["topics"] {
  return {
    list: {
      serve: ({ params, query }) => topics.list({ ...params, ...query }),
      reply: ({ items, ...rest }: TopicPage) => done({ topics: items, ...rest }),
    },
    create: {
      serve: ({ params, body }, call) => topics.create(call, params.workspaceId, body),
      reply: ({ workspaceId, response }: CreatedTopic) => ({
        status: 201,
        headers: { location: `/workspaces/${workspaceId}/topics/${response.topicId}` },
        body: response,
      }),
    },
    get: {
      serve: ({ params }) => topics.get(params),
      reply: ({ topic, revision }: FoundTopic) => ({ status: 200, headers: { etag: recordEtag(revision) }, body: topic }),
    },
    update: { serve: ({ params, body }, call) => topics.update(call, params, body), reply: done },
    transitions: { serve: ({ params }) => readTransitions(params), reply: done },
    shortlist: { serve: ({ params, body = {} }, call) => topicRuns.shortlist(call, params, body), reply: maybeStarted },
    archive: { serve: ({ params, body = {} }, call) => topicRuns.archive(call, params, body), reply: done },
    restore: { serve: ({ params }, call) => topics.restore(call, params), reply: done },
    ensureArticle: {
      serve: ({ params, body = {} }, call) => topics.ensure(call, params.workspaceId, params.topicId, body.articleId),
      reply: (value: EnsuredArticle) =>
        value.created ? { status: 201, headers: { location: `/articles/${value.articleId}` }, body: value } : { status: 200, body: value },
    },
    startWorkflow: { serve: ({ params, body = {} }, call) => topicRuns.startWorkflow(call, params, body), reply: queued },
    generateOutline: { serve: ({ params, body = {} }, call) => topicRuns.generateOutline(call, params, body), reply: queued },
    getOutline: {
      serve: ({ params }) => topics.read(params.workspaceId, params.topicId, "outline.md"),
      reply: ({ text: outline, ...rest }: StageText) => done({ ...rest, outline }),
    },
    approveOutline: { serve: ({ params, body = {} }, call) => topicRuns.approveOutline(call, params, body), reply: maybeStarted },
    requestOutlineChanges: {
      serve: ({ params, body = {} }, call) => topicRuns.requestOutlineChanges(call, params, body),
      reply: queued,
    },
    getDraft: {
      serve: ({ params }) => topics.read(params.workspaceId, params.topicId, "content.md"),
      reply: ({ text: draft, ...rest }: StageText) => done({ ...rest, draft }),
    },
    approveDraft: { serve: ({ params, body = {} }, call) => topicRuns.approveDraft(call, params, body), reply: done },
    requestDraftChanges: { serve: ({ params, body = {} }, call) => topicRuns.requestDraftChanges(call, params, body), reply: queued },
    runDraftAction: { serve: ({ params, body }, call) => topicRuns.runDraftAction(call, params, body), reply: queued },
    audit: { serve: ({ params, query }) => topics.audit(params, query), reply: events },
    workspaceAudit: { serve: ({ params, query }) => topics.workspaceAudit(params.workspaceId, query), reply: events },
  };
}
