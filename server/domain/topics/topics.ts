/**
 * The topic requests create, find, list, update and restore topics; requests that affect runs are in
 * `runs/topicRuns.ts`.
 *
 * The topic machine decides every transition. This module converts requests into events of the machine. The other
 * preconditions (topic number, content project, entity tag) are checked in the same commit.
 */
import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import { notFound } from "../../../api/schema/error.ts";
import { type ContentTopic, SeoIntent, type TopicStatusCounts } from "../../../api/schema/topic.ts";
import type { ContentAuditEvent } from "../../../api/schema/topicAudit.ts";
import type {
  WorkspaceCreateTopicRequest,
  WorkspaceCreateTopicResponse,
  WorkspaceTopicMessageResponse,
  WorkspaceUpdateTopicRequest,
} from "../../../api/schema/topicOperations.ts";
import type { TopicFields, TopicInput } from "../../../machines/topic.ts";
import { createKeyedQueue } from "../../platform/actors/keyedQueue.ts";
import type { ActorRuntime, UnitOfWork } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage, Stored } from "../../platform/storage/port.ts";
import type { Call } from "../call/call.ts";
import type { Page } from "../call/paging.ts";
import { requireMatch } from "../call/precondition.ts";
import { principalOf } from "../call/principal.ts";
import { toSlug } from "../call/slug.ts";
import type { Folders } from "../folders/service.ts";
import { withNextCounter, workspaceRecord } from "../identity/workspaces/records.ts";
import type { AuditEvents, AuditFilter } from "./auditEvents.ts";
import type { FindTopic } from "./findTopic.ts";
import { statusOf, type TopicRecord, topicRecord } from "./records.ts";
import { refuseMember } from "./refuseMember.ts";
import type { TopicArticles } from "./topicArticle.ts";
import { topicKind } from "./topicKind.ts";
import type { TopicFilter, TopicList } from "./topicList.ts";
import { toContentTopic, toShortId } from "./topicView.ts";

export type { EnsuredArticle } from "./topicArticle.ts";

/** Reference to a topic by its id or short id. */
export interface NamedTopic {
  readonly workspaceId: string;
  readonly topicId: string;
}

export interface FoundTopic {
  readonly topic: ContentTopic;
  /** Revision of the record, for the entity tag. */
  readonly revision: number;
}

export interface CreatedTopic {
  readonly workspaceId: string;
  readonly response: z.output<typeof WorkspaceCreateTopicResponse>;
}

export interface TopicPage extends Page<ContentTopic> {
  readonly statusCounts: TopicStatusCounts;
}

type Message = z.output<typeof WorkspaceTopicMessageResponse>;

export interface TopicRequests extends Pick<TopicArticles, "ensure" | "read"> {
  list(filter: TopicFilter): Promise<TopicPage>;
  create(call: Call, workspaceId: string, request: WorkspaceCreateTopicRequest): Promise<CreatedTopic>;
  get(named: NamedTopic): Promise<FoundTopic>;
  update(call: Call, named: NamedTopic, request: WorkspaceUpdateTopicRequest): Promise<Message>;
  restore(call: Call, named: NamedTopic): Promise<Message>;
  audit(named: NamedTopic, filter: AuditFilter): Promise<Page<ContentAuditEvent>>;
  workspaceAudit(workspaceId: string, filter: AuditFilter & { readonly topicId?: string | undefined }): Promise<Page<ContentAuditEvent>>;
}

export interface TopicRequestsOptions {
  readonly storage: Pick<Storage, "records">;
  readonly actors: Pick<ActorRuntime, "commitUnit" | "refusal">;
  readonly find: FindTopic;
  readonly folders: Folders;
  readonly list: TopicList;
  readonly audit: AuditEvents;
  readonly articles: TopicArticles;
}

const defaultPriority = 50;

/** Search intent of a text. An unknown or missing text means `informational`. */
function toIntent(text = ""): SeoIntent {
  return SeoIntent.safeParse(text.trim().toLowerCase()).data ?? "informational";
}

export function createTopicRequests(options: TopicRequestsOptions): TopicRequests {
  const { storage, actors, find, folders, list, audit, articles } = options;
  // Run the creates of a workspace one after the other. They share one counter and would otherwise conflict with each
  // other.
  const creates = createKeyedQueue();

  async function require({ workspaceId, topicId }: NamedTopic, unit?: UnitOfWork): Promise<Stored<TopicRecord>> {
    const topic = await find(workspaceId, topicId, unit);
    if (topic === undefined) throw notFound();
    return topic;
  }

  /** Requires that the folder is a content project and not archived, and holds it until the topic is created. */
  async function requireProject(unit: UnitOfWork, workspaceId: string, contentProjectId: string): Promise<void> {
    const folder = await folders.find(workspaceId, contentProjectId);
    if (folder === undefined || folder.value.contentProject === undefined || folder.value.archivedAtMs !== undefined) {
      throw refuseMember("contentProjectId", "must be the id of a folder of the workspace that is a content project and not archived");
    }
    await folders.hold(unit, folder);
  }

  return {
    async list(filter) {
      const [{ items, ...rest }, statusCounts] = await Promise.all([list.page(filter), list.counts(filter)]);
      return { items: items.map(toContentTopic), ...rest, statusCounts };
    },

    create(call, workspaceId, request) {
      const partition = partitionOfId(workspaceId);
      const topicId = call.ids.next("top", partition);
      const { username } = principalOf(call);
      const { contentProjectId, estimatedIntent, ...given } = request;
      const fields: TopicFields = {
        ...given,
        estimatedIntent: toIntent(estimatedIntent),
        priorityScore: given.priorityScore ?? defaultPriority,
        priorityRationale: given.priorityRationale ?? `Created by ${username}`,
      };
      const toAnswer = ({ id, state, context: { number, slug, createdAtMs } }: TopicRecord): CreatedTopic => ({
        workspaceId,
        response: { topicId: id, shortId: toShortId(number), slug, status: statusOf({ state }), createdAt: createdAtMs / 1000 },
      });
      return creates.run(workspaceId, () =>
        actors.commitUnit({ operation: "topic.create", partition, committer: call }, async (unit) => {
          // If an earlier attempt of this request committed before it was cut off, return the topic that it created.
          const made = await storage.records.get(topicRecord, topicId);
          if (made !== undefined) return toAnswer(made.value);
          const workspace = await storage.records.get(workspaceRecord, workspaceId);
          if (workspace === undefined) throw notFound();
          const { number, write } = await withNextCounter(storage, workspace.value, "brief");
          unit.record(write);
          if (contentProjectId !== undefined) await requireProject(unit, workspaceId, contentProjectId);
          const input: Omit<TopicInput, "nowMs"> = {
            workspaceId,
            number,
            slug: toSlug(fields.title, `topic-${number}`),
            ownerId: username,
            fields,
            ...(contentProjectId === undefined ? {} : { contentProjectId }),
          };
          return toAnswer(unit.create(topicKind, topicId, input));
        }),
      );
    },

    async get(named) {
      const { value, revision } = await require(named);
      return { topic: toContentTopic(value), revision };
    },

    update: (call, named, request) =>
      actors.commitUnit({ operation: "topic.update", partition: partitionOfId(named.workspaceId), committer: call }, async (unit) => {
        const topic = await require(named, unit);
        requireMatch(call, topic.revision);
        const { fields } = topic.value.context;
        const { estimatedIntent, wordCountRange, ...given } = request;
        const wanted = {
          ...given,
          ...(estimatedIntent === undefined ? {} : { estimatedIntent: toIntent(estimatedIntent) }),
          ...(wordCountRange === undefined || wordCountRange === null ? {} : { wordCountRange }),
        };
        const changed = Object.entries(wanted).filter(
          ([name, value]) => value !== undefined && !isDeepStrictEqual(value, fields[name as keyof TopicFields]),
        );
        const changes: Partial<TopicFields> = Object.fromEntries(changed);
        const removed = wordCountRange === null && fields.wordCountRange !== undefined ? (["wordCountRange"] as const) : [];
        const { id } = topic.value;
        const event = { type: "topic.update", changes, removed, editorial: true, by: principalOf(call).username } as const;
        if (changed.length + removed.length > 0) {
          await unit.send(topicKind, id, event);
          return { message: "The topic was changed.", topicId: id };
        }
        // An archived topic refuses every update, even one that would change nothing.
        const refusal = actors.refusal(topicKind, topic.value, event);
        if (refusal !== undefined) throw refusal;
        return { message: "The topic already has these values.", topicId: id };
      }),

    restore: (call, named) =>
      actors.commitUnit({ operation: "topic.restore", partition: partitionOfId(named.workspaceId), committer: call }, async (unit) => {
        const { id } = (await require(named, unit)).value;
        const restored = await unit.send(topicKind, id, { type: "topic.restore", by: principalOf(call).username });
        return { message: `The topic was restored; its status is ${statusOf(restored)} again.`, topicId: id };
      }),

    ensure: articles.ensure,
    read: articles.read,

    async audit(named, filter) {
      return audit.ofTopic((await require(named)).value.id, filter);
    },

    async workspaceAudit(workspaceId, { topicId, ...filter }) {
      if (topicId === undefined) return audit.ofWorkspace(workspaceId, filter);
      const topic = await find(workspaceId, topicId);
      return topic === undefined ? { items: [] } : audit.ofTopic(topic.value.id, filter);
    },
  };
}
