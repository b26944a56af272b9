/**
 * Builds the articles domain: the document store, the rooms above it, and the services of articles above the rooms.
 *
 * Other domains add their changes to the commits of articles with `listeners` and `armAtEdit`.
 */
import type { Limits } from "../../../api/limits.ts";
import type { Clock, UpdateLog } from "../../../realtime/ports.ts";
import type { OpenRoomsOptions } from "../../../realtime/room/openRooms.ts";
import { createRooms, type Rooms } from "../../../realtime/room/rooms.ts";
import type { ActorRuntime } from "../../platform/actors/port.ts";
import type { Manifest } from "../../platform/composition/manifest.ts";
import type { IdSource } from "../../platform/storage/ids.ts";
import type { Partition, Storage } from "../../platform/storage/port.ts";
import { joinListeners } from "../call/joinListeners.ts";
import type { Pager } from "../call/paging.ts";
import type { FolderContents } from "../folders/port.ts";
import type { SearchSource } from "../search/port.ts";
import { type ArticleActivity, createArticleActivity } from "./articleActivity.ts";
import { createArticleCreation } from "./articleCreation.ts";
import { createArticleList } from "./articleList.ts";
import { type Articles, createArticles } from "./articles.ts";
import { type ArticleTexts, createArticleTexts } from "./articleTexts.ts";
import { createArticleWriter } from "./articleWriter.ts";
import { createAttributions } from "./attributions.ts";
import { type Blame, createBlame } from "./blame.ts";
import { createCheckpointWorkers } from "./checkpoint.ts";
import { type Commits, createCommits } from "./commits.ts";
import { createCommitWriter } from "./commitWriter.ts";
import { type ArticleContents, createContents } from "./content.ts";
import { createDocumentReader, type DocumentReader } from "./documentReader.ts";
import { createDocumentWriting } from "./documentWriting.ts";
import { createEdits, type Edits } from "./edits.ts";
import { textsOfDocument } from "./fileTexts.ts";
import { createFolderArticles } from "./folderArticles.ts";
import { createHistory, type History } from "./history.ts";
import type {
  ArmAtEdit,
  ArticleEvents,
  ArticleFolders,
  ArticleListeners,
  ArticleWriter,
  Documents,
  DocumentWriting,
  FillTemplate,
  FindTopicId,
} from "./port.ts";
import { createRestore, type Restore } from "./restore.ts";
import { createArticleSearchSource } from "./searchSource.ts";
import { createTrash } from "./trash.ts";
import { createUpdateLog } from "./updateLog.ts";

export type { BlameReply } from "./blame.ts";

export interface DocumentStoreOptions {
  readonly storage: Storage;
  /** Written with each batch, so that a node can skip the batches it wrote itself. */
  readonly nodeId: string;
  readonly limits: Limits;
  readonly checkpointQuietMs: number;
  readonly armAtEdit: ArmAtEdit;
}

export interface DocumentStore {
  readonly updateLog: UpdateLog;
  readonly reader: DocumentReader;
  readonly history: History;
  /** The service closes these worker threads when it is closed. */
  readonly texts: ArticleTexts;
}

export function createDocumentStore({ storage, nodeId, limits, checkpointQuietMs, armAtEdit }: DocumentStoreOptions): DocumentStore {
  const reader = createDocumentReader(storage);
  const updateLog = createUpdateLog({ storage, reader, nodeId, limits, checkpointQuietMs, armAtEdit });
  const texts = createArticleTexts(limits);
  return { reader, updateLog, texts, history: createHistory({ storage, reader, texts, limits }) };
}

export interface ArticleServiceOptions extends DocumentStoreOptions, Pick<OpenRoomsOptions, "broadcast" | "metrics" | "log" | "idleMs"> {
  readonly actors: Pick<ActorRuntime, "commitUnit">;
  readonly clock: Clock;
  /** Called in this order. Their changes join the commit of the event. */
  readonly listeners: readonly Partial<ArticleListeners>[];
  readonly articleEvents: ArticleEvents;
  readonly findTopicId: FindTopicId;
  readonly folders: ArticleFolders;
  readonly fillTemplate: FillTemplate;
  readonly pager: Pager;
  readonly ids: IdSource;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly checkpointMaxMs: number;
  /** `DuePump.wake`. */
  readonly wake: (partition: Partition, dueAtMs: number) => void;
}

export interface ArticleService {
  /** For the collaboration sockets and runs. */
  readonly rooms: Rooms;
  readonly articles: Articles;
  readonly content: ArticleContents;
  readonly edits: Edits;
  readonly commits: Commits;
  readonly blame: Blame;
  readonly restore: Restore;
  /** For the streams of articles. */
  readonly activity: ArticleActivity;
  /** For publishing. */
  readonly documents: Documents;
  /** For topics and runs. */
  readonly writer: ArticleWriter;
  /** For runs. */
  readonly writing: DocumentWriting;
  /** For folders. */
  readonly folderArticles: FolderContents;
  /** For the search. */
  readonly searchSource: SearchSource;
  readonly manifest: Manifest;
}

const listenedEvents = {
  articleUpdated: true,
  articleCommitted: true,
  articleDeleted: true,
  articlePurged: true,
  articleRemoved: true,
} as const;

export function createArticleService(options: ArticleServiceOptions): ArticleService {
  const { storage, actors, articleEvents, clock, findTopicId, folders, fillTemplate, pager, ids, baseUrl, wake, limits } = options;
  const { nodeId, checkpointQuietMs, checkpointMaxMs } = options;
  const { updateLog, reader, history, texts } = createDocumentStore(options);
  const rooms = createRooms({ ...options, updateLog, bus: toRoomBus(storage.bus) });
  const listeners = joinListeners<ArticleListeners>(listenedEvents, options.listeners);
  const attributions = createAttributions({ storage, reader, texts });
  const commitWriter = createCommitWriter({ storage, actors, rooms, attributions, history, listeners, articleEvents, texts, baseUrl });
  const commits = createCommits({ storage, commitWriter, pager });
  const trash = createTrash({ storage, actors, listeners, articleEvents, keepTrashMs: limits["keep.trash"], wake });
  const content = createContents({ rooms, history, texts });
  const documents: Documents = {
    read: (articleId) => rooms.read(articleId, (document, revision) => ({ revision, texts: textsOfDocument(document) })),
    readAt: (articleId, revision) => history.textsAt(articleId, revision),
    commitIdAt: async (articleId, revision) => (await history.commitAt(articleId, revision))?.commitId,
    diffFrom: content.diffFrom,
  };
  return {
    rooms,
    articles: createArticles({
      ...{ storage, actors, reader, trash, folders, checkpointQuietMs },
      creation: createArticleCreation({
        ...{ storage, actors, reader, documents, texts, folders, fillTemplate, nodeId, checkpointQuietMs },
      }),
      list: createArticleList({ storage, reader, findTopicId, pager, limits }),
    }),
    content,
    edits: createEdits({ rooms, reader, history, commits, texts }),
    commits,
    activity: createArticleActivity({ rooms, clock, texts }),
    documents,
    blame: createBlame({ storage, history, texts, pager, maxSpans: limits["blame.spans"] }),
    restore: createRestore({ rooms, history, commits, texts }),
    writing: createDocumentWriting({ texts, limits }),
    writer: createArticleWriter({ storage, commitWriter, history }),
    folderArticles: createFolderArticles({ storage, trash }),
    searchSource: createArticleSearchSource({ storage }),
    manifest: {
      name: "articles",
      workers: {
        ...createCheckpointWorkers({ storage, reader, commitWriter, ids, checkpointQuietMs, checkpointMaxMs, wake }),
        ...trash.workers,
      },
      close: () => texts.close(),
    },
  };
}

/** Each article has its own topic on the bus of the store. */
function toRoomBus(bus: Storage["bus"]): OpenRoomsOptions["bus"] {
  const topicOf = (articleId: string) => `room/${articleId}`;
  return {
    publish: (articleId, message) => bus.publish(topicOf(articleId), message),
    subscribe: (articleId, listener) => bus.subscribe(topicOf(articleId), listener),
  };
}
