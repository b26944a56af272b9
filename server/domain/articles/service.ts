/**
 * Builds the articles service for the rooms, publishing, topics, runs, the handlers and the due pump.
 *
 * Construction takes two steps, because the rooms come between them: the rooms need the update log of the document
 * store, and edits need the rooms.
 */
import type { Limits } from "../../../api/limits.ts";
import type { UpdateLog } from "../../../realtime/ports.ts";
import type { Rooms } from "../../../realtime/room/rooms.ts";
import type { DueWorker } from "../../platform/actors/duePort.ts";
import type { ActorRuntime } from "../../platform/actors/port.ts";
import type { IdSource } from "../../platform/storage/ids.ts";
import type { Partition, Storage } from "../../platform/storage/port.ts";
import type { Pager } from "../call/paging.ts";
import type { AccessWatch } from "../identity/access/accessFacts.ts";
import { type Articles, createArticles } from "./articles.ts";
import { type ArticleTexts, createArticleTexts } from "./articleTexts.ts";
import { createArticleWriter } from "./articleWriter.ts";
import { createCheckpointWorkers } from "./checkpoint.ts";
import { type Commits, createCommits } from "./commits.ts";
import { createCommitWriter } from "./commitWriter.ts";
import { type ArticleContents, createContents } from "./content.ts";
import { createDocumentReader, type DocumentReader } from "./documentReader.ts";
import { createDocumentWriting } from "./documentWriting.ts";
import { createEdits, type Edits } from "./edits.ts";
import { textsOfDocument } from "./fileTexts.ts";
import { createHistory, type History } from "./history.ts";
import type { ArmAtEdit, ArticleListeners, ArticleWriter, Documents, DocumentWriting, FindTopicId } from "./port.ts";
import { createTrash } from "./trash.ts";
import { createUpdateLog } from "./updateLog.ts";

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

export interface ArticleServiceOptions extends Omit<DocumentStoreOptions, "armAtEdit"> {
  readonly documents: DocumentStore;
  readonly actors: Pick<ActorRuntime, "commitUnit">;
  readonly rooms: Pick<Rooms, "read" | "edit" | "applyUpdate">;
  readonly listeners: ArticleListeners;
  readonly access: Pick<AccessWatch, "announce">;
  readonly findTopicId: FindTopicId;
  readonly pager: Pager;
  readonly ids: IdSource;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly checkpointMaxMs: number;
  /** `DuePump.wake`. */
  readonly wake: (partition: Partition, dueAtMs: number) => void;
}

export interface ArticleService {
  readonly articles: Articles;
  readonly content: ArticleContents;
  readonly edits: Edits;
  readonly commits: Commits;
  /** For publishing. */
  readonly documents: Documents;
  /** For topics and runs. */
  readonly writer: ArticleWriter;
  /** For runs. */
  readonly writing: DocumentWriting;
  /** Kind of due row → its worker, for the due pump. */
  readonly workers: Readonly<Record<string, DueWorker>>;
  close(): Promise<void>;
}

export function createArticleService(options: ArticleServiceOptions): ArticleService {
  const { storage, actors, rooms, listeners, access, findTopicId, pager, ids, baseUrl, wake, limits } = options;
  const { nodeId, checkpointQuietMs, checkpointMaxMs } = options;
  const { reader, history, texts } = options.documents;
  const commitWriter = createCommitWriter({ storage, actors, rooms, reader, history, listeners, texts, baseUrl });
  const commits = createCommits({ storage, commitWriter, pager });
  const trash = createTrash({ storage, actors, listeners, access, keepTrashMs: limits["keep.trash"], wake });
  return {
    articles: createArticles({ storage, reader, trash, findTopicId, pager, texts, nodeId, checkpointQuietMs }),
    content: createContents({ rooms, history, texts }),
    edits: createEdits({ rooms, reader, history, commits, texts }),
    commits,
    documents: {
      read: (articleId) => rooms.read(articleId, (document, revision) => ({ revision, texts: textsOfDocument(document) })),
      readAt: (articleId, revision) => history.textsAt(articleId, revision),
    },
    writing: createDocumentWriting({ texts, limits }),
    writer: createArticleWriter({ storage, commitWriter, history }),
    workers: {
      ...createCheckpointWorkers({ storage, reader, commitWriter, ids, checkpointQuietMs, checkpointMaxMs, wake }),
      ...trash.workers,
    },
    close: () => texts.close(),
  };
}
