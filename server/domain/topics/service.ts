/** The topic service builds and connects the modules of topics for handlers and runs. */
import type { Limits } from "../../../api/limits.ts";
import type { ActorRuntime } from "../../platform/actors/port.ts";
import { provide } from "../../platform/actors/provide.ts";
import type { Manifest } from "../../platform/composition/manifest.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { ArticleWriter } from "../articles/port.ts";
import type { Pager } from "../call/paging.ts";
import { createFolders, type Folders } from "../folders/service.ts";
import type { SearchSource } from "../search/port.ts";
import { createAuditEvents } from "./auditEvents.ts";
import { createFindTopic } from "./findTopic.ts";
import type { Topics } from "./port.ts";
import { seoBriefRecord } from "./records.ts";
import { createTopicSearchSource } from "./searchSource.ts";
import { projectBrief } from "./seoBrief.ts";
import { createTopicArticles } from "./topicArticle.ts";
import { topicKind } from "./topicKind.ts";
import { createTopicList } from "./topicList.ts";
import { createTopicRequests, type TopicRequests } from "./topics.ts";
import { toContentTopic } from "./topicView.ts";

export interface TopicServiceOptions {
  readonly storage: Pick<Storage, "records" | "index" | "counts">;
  readonly actors: ActorRuntime;
  readonly articles: ArticleWriter;
  readonly pager: Pager;
  readonly limits: Limits;
}

export interface TopicService {
  /** Used by the handlers. */
  readonly topics: TopicRequests;
  /** Used by the runs. */
  readonly port: Topics;
  readonly folders: Folders;
  /** For the search. */
  readonly searchSource: SearchSource;
  readonly manifest: Manifest;
}

export function createTopicService({ storage, actors, articles, pager, limits }: TopicServiceOptions): TopicService {
  const find = createFindTopic({ storage });
  const folders = createFolders({ storage });
  return {
    topics: createTopicRequests({
      storage,
      actors,
      find,
      folders,
      list: createTopicList({ storage, pager, limits }),
      audit: createAuditEvents({ storage, pager }),
      articles: createTopicArticles({ storage, actors, find, articles }),
    }),
    port: {
      find,
      view: toContentTopic,
      send: (unit, topicId, event) => unit.send(topicKind, topicId, event),
      refusal: (topic, event) => actors.refusal(topicKind, topic, event),
      allowed: (topic) => actors.allowed(topicKind, topic).allowed,
      async contentProject({ context: { workspaceId, contentProjectId } }) {
        return contentProjectId === undefined ? undefined : folders.contentProject(workspaceId, contentProjectId);
      },
      brief: (topicId) => storage.records.get(seoBriefRecord, topicId),
      projectBrief,
      writeBrief: (unit, value, replacing) => unit.record({ op: "put", type: seoBriefRecord, value, replacing }),
    },
    folders,
    searchSource: createTopicSearchSource({ storage }),
    manifest: { name: "topics", actorKinds: [provide(topicKind, {})] },
  };
}
