/** Topics as one part: what the handlers, the runs, the articles and the actor runtime take from it. */
import type { Limits } from "../../api/limits.ts";
import type { ActorRuntime } from "../actors/port.ts";
import type { ArticleListeners, ArticleWriter } from "../articles/port.ts";
import type { Pager } from "../calls/paging.ts";
import { createFolders, type Folders } from "../folders/folders.ts";
import type { RecordWrite, Storage } from "../storage/port.ts";
import { createFindTopic } from "./findTopic.ts";
import type { Topics } from "./port.ts";
import { seoBriefRecord } from "./records.ts";
import { projectBrief } from "./seoBrief.ts";
import { createTopicArticles } from "./topicArticle.ts";
import { createTopicAudit } from "./topicAudit.ts";
import { type TopicKind, topicKind } from "./topicKind.ts";
import { createTopicList } from "./topicList.ts";
import { createTopicRequests, type TopicRequests } from "./topics.ts";
import { toContentTopic } from "./topicView.ts";
import { createTransitions } from "./transitions.ts";

export interface TopicServiceOptions {
  readonly storage: Pick<Storage, "records" | "index" | "counts">;
  readonly actors: ActorRuntime;
  readonly articles: ArticleWriter;
  readonly pager: Pager;
  readonly limits: Limits;
}

export interface TopicService extends Pick<ArticleListeners, "articleCommitted" | "articleRemoved"> {
  /** For the handlers. */
  readonly topics: TopicRequests;
  /** For the runs. */
  readonly port: Topics;
  readonly folders: Folders;
  /** For the actor runtime. */
  readonly actorKinds: readonly [TopicKind];
}

export function createTopicService({ storage, actors, articles, pager, limits }: TopicServiceOptions): TopicService {
  const find = createFindTopic({ storage });
  const folders = createFolders({ storage });
  const topicArticles = createTopicArticles({ storage, actors, find, articles });
  const { articleCommitted, articleRemoved } = topicArticles;
  return {
    topics: createTopicRequests({
      storage,
      actors,
      find,
      folders,
      list: createTopicList({ storage, pager, limits }),
      audit: createTopicAudit({ storage, pager }),
      articles: topicArticles,
      transitions: createTransitions({ storage, actors }),
    }),
    port: {
      find,
      view: toContentTopic,
      move: (previous, event) => actors.move(topicKind, previous, event),
      async contentProject({ context: { workspaceId, contentProjectId } }) {
        return contentProjectId === undefined ? undefined : folders.contentProject(workspaceId, contentProjectId);
      },
      brief: (topicId) => storage.records.get(seoBriefRecord, topicId),
      projectBrief,
      briefWrite: (brief, replacing) => ({ op: "put", type: seoBriefRecord, value: brief, replacing }) as RecordWrite,
    },
    folders,
    articleCommitted,
    articleRemoved,
    actorKinds: [topicKind],
  };
}
