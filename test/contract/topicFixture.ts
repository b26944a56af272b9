/** Creates the topics as a server has them, together with the articles, on a store with a manual clock. */
import type { Limits } from "../../api/limits.ts";
import { type ContentTopic, type TopicStatus, topicStatuses } from "../../api/schema/topic.ts";
import type { WorkspaceCreateTopicRequest } from "../../api/schema/topicOperations.ts";
import type { TopicEvent } from "../../machines/topic.ts";
import type { ArticleUpdated } from "../../server/domain/articles/port.ts";
import { type FolderRecord, folderRecord } from "../../server/domain/folders/records.ts";
import { createTopicTransitions } from "../../server/domain/runs/decisions/topicTransitions.ts";
import { defineRunKind } from "../../server/domain/runs/engine/runKind.ts";
import { createFindActiveRun } from "../../server/domain/runs/model/activeRun.ts";
import { topicListeners } from "../../server/domain/topics/listeners.ts";
import { type TopicRecord, topicRecord } from "../../server/domain/topics/records.ts";
import { createTopicService } from "../../server/domain/topics/service.ts";
import type { Timeless } from "../../server/platform/actors/port.ts";
import { createIds } from "../../server/platform/storage/ids.ts";
import type { Partition, Storage } from "../../server/platform/storage/port.ts";
import { composeParts } from "../support/composeParts.ts";
import { createManualTime, type ManualTime } from "../support/manualTime.ts";
import type { OpenStorage } from "../support/storages.ts";
import { addWorkspace, type CallOptions, composeArticles, createCall } from "./articleFixture.ts";

export const partition: Partition = 5;

export interface TopicNodeOptions {
  readonly limits?: Partial<Limits>;
}

export function createTopicNode(storage: Storage, time: Pick<ManualTime, "now" | "after">, options: TopicNodeOptions = {}) {
  const parts = composeParts(storage, { after: time.after, limits: options.limits });
  const { limits, actors } = parts;
  const webhooks: ArticleUpdated["data"][] = [];
  const node = composeArticles(parts, {
    listeners: {
      articleUpdated: async (unit, { data }) => unit.afterCommit(() => webhooks.push(data)),
      ...topicListeners,
    },
  });
  const service = createTopicService({ ...parts, articles: node.writer });
  parts.install([service.manifest]);

  const call = (workspaceId: string, more: CallOptions = {}) => createCall(storage, workspaceId, partition, { limits, ...more });
  return {
    ...service,
    readTransitions: createTopicTransitions({
      storage,
      topics: service.port,
      findActiveRun: createFindActiveRun({ storage, kind: defineRunKind({ keepEventsMs: limits["keep.events"] }) }),
    }),
    node,
    actors,
    webhooks,
    call,
    async create(workspaceId: string, more: Partial<WorkspaceCreateTopicRequest> = {}, options: CallOptions = {}): Promise<string> {
      const request = { title: "Kites in high wind", targetAudience: "builders", ...more };
      return (await service.topics.create(call(workspaceId, options), workspaceId, request)).response.topicId;
    },
    async get(workspaceId: string, topicId: string) {
      return (await service.topics.get({ workspaceId, topicId })).topic;
    },
    /** Sends an event to the topic's machine in its own commit. */
    async send(workspaceId: string, topicId: string, event: Timeless<TopicEvent>): Promise<void> {
      const found = await service.port.find(workspaceId, topicId);
      if (found === undefined) throw new Error(`there is no topic ${topicId}`);
      await actors.commitUnit({ operation: "test", partition, committer: storage }, (unit) =>
        service.port.send(unit, found.value.id, event),
      );
    },
    /** Returns the event types of a topic, oldest first. */
    async audit(workspaceId: string, topicId: string): Promise<readonly string[]> {
      const { items } = await service.topics.audit({ workspaceId, topicId }, { limit: 100 });
      return items.map(({ eventType }) => eventType).reverse();
    },
  };
}

export type TopicNode = ReturnType<typeof createTopicNode>;

/** Opens a store with a manual clock, a node on it, and a workspace. `close` drains the node first. */
export async function openTopics(openStorage: OpenStorage) {
  const time = createManualTime();
  const opened = await openStorage(time);
  const { storage } = opened;
  const node = createTopicNode(storage, time);
  const workspaceId = await addWorkspace(storage, partition);
  return {
    time,
    storage,
    node,
    workspaceId,
    update: (topicId: string, body: object, options: CallOptions = {}) =>
      node.topics.update(node.call(workspaceId, options), { workspaceId, topicId }, body as never),
    async close(): Promise<void> {
      await node.node.pump.drain(AbortSignal.timeout(1000));
      await node.node.close();
      await opened.close();
    },
  };
}

export type OpenTopics = Awaited<ReturnType<typeof openTopics>>;

export async function addFolder(storage: Storage, workspaceId: string, more: Partial<FolderRecord> = {}): Promise<string> {
  const folderId = createIds(storage).next("fld", partition);
  const value: FolderRecord = {
    folderId,
    workspaceId,
    parentFolderId: null,
    name: `Project ${folderId}`,
    slug: "project",
    createdAtMs: 1,
    updatedAtMs: 1,
    contentProject: { requireOutlineApproval: true, requireDraftApproval: false },
    ...more,
  };
  const result = await storage.commit({ partition, records: [{ op: "put", type: folderRecord, value, replacing: null }] });
  if (!result.ok) throw new Error("no folder");
  return folderId;
}

export interface ManyTopics {
  readonly count: number;
  /** Every other topic is in this content project. */
  readonly contentProjectId: string;
  readonly toTitle?: (at: number) => string;
}

/** Adds many topics as records: in every status, two thirds of them with a date. */
export async function addTopics(node: TopicNode, storage: Storage, workspaceId: string, many: ManyTopics): Promise<ContentTopic[]> {
  const { count, contentProjectId, toTitle = (at) => `Topic ${at}` } = many;
  const seed = (await node.port.find(workspaceId, await node.create(workspaceId, { contentProjectId })))?.value;
  if (seed === undefined) throw new Error("no topic");
  const { contentProjectId: _project, ...context } = seed.context;
  const startMs = storage.now();
  const records = Array.from({ length: count - 1 }, (_, at): TopicRecord => {
    const status = topicStatuses[at % 5] as TopicStatus;
    const [month, day] = [1 + (at % 12), 1 + (at % 28)].map((part) => String(part).padStart(2, "0"));
    return {
      ...seed,
      id: `${seed.id.slice(0, -6)}${String(at).padStart(6, "0")}`,
      state: status,
      context: {
        ...context,
        ...(at % 2 === 0 ? { contentProjectId } : {}),
        number: at + 2,
        createdAtMs: startMs + Math.floor(at / 3),
        updatedAtMs: startMs + ((at * 7919) % 1009),
        fields: {
          ...context.fields,
          title: toTitle(at),
          priorityScore: (at * 31) % 101,
          ...(at % 3 === 0 ? {} : { scheduledDate: `2026-${month}-${day}` }),
        },
        ...(status === "archived" ? { archive: { atMs: startMs, by: "ada", fromStatus: "idea", reason: "manual" } } : {}),
      },
    };
  });
  for (let at = 0; at < records.length; at += 500) {
    const writes = records.slice(at, at + 500).map((value) => ({ op: "put", type: topicRecord, value, replacing: null }) as const);
    if (!(await storage.commit({ partition, records: writes })).ok) throw new Error("a topic was not stored");
  }
  return [seed, ...records].map(node.port.view);
}

/** Returns the same store and counts the index rows that scans return. */
export function countRows(storage: Storage): { readonly storage: Storage; take(): number } {
  let rows = 0;
  return {
    storage: {
      ...storage,
      index: {
        async scan(options) {
          const found = await storage.index.scan(options);
          rows += found.length;
          return found;
        },
      },
    },
    /** Returns the count since the last call. */
    take() {
      const counted = rows;
      rows = 0;
      return counted;
    },
  };
}
