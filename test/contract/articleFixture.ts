/**
 * Creates the articles as a server has them: services, rooms, due pump and webhook seam on a store with a manual clock.
 * It makes calls in the way the wrapper makes them.
 */
import { afterEach, beforeEach } from "vitest";
import type { Role } from "../../api/contract/operation.ts";
import { defaultLimits, type Limits } from "../../api/limits.ts";
import type { ArticleFile } from "../../api/schema/article.ts";
import { createLocateArticle } from "../../server/domain/articles/locate.ts";
import type { ArmAtEdit, ArticleListeners, ArticleUpdated } from "../../server/domain/articles/port.ts";
import { createArticleService, createDocumentStore } from "../../server/domain/articles/service.ts";
import type { Call, Principal } from "../../server/domain/call/call.ts";
import { createTextRenderer } from "../../server/domain/conversions/textRenderer.ts";
import { createFolders } from "../../server/domain/folders/service.ts";
import { workspaceRecord } from "../../server/domain/identity/workspaces/records.ts";
import { createTemplateService } from "../../server/domain/templates/service.ts";
import { createRetention } from "../../server/edge/streams/retention.ts";
import { createIds, createSeededIds, type IdSource } from "../../server/platform/storage/ids.ts";
import type { Partition, Storage } from "../../server/platform/storage/port.ts";
import { composeParts, defaultLeaseMs, type TestParts } from "../support/composeParts.ts";
import { createManualTime, type ManualTime } from "../support/manualTime.ts";
import type { OpenStorage } from "../support/storages.ts";

const eventLog = "test.events";
/** Partition of the workspaces and their articles. */
export const articlePartition = 5;
export const quietMs = 30_000;
export const maxMs = 300_000;
/** Milliseconds for which an unused room stays open. */
export const idleMs = 30_000;

export interface ArticleNodeOptions {
  readonly limits?: Partial<Limits>;
  readonly nodeId?: string;
  readonly listeners?: Partial<ArticleListeners>;
  readonly armAtEdit?: ArmAtEdit;
  readonly quietMs?: number;
  readonly maxMs?: number;
  readonly leaseMs?: number;
}

export function createArticleNode(storage: Storage, time: Pick<ManualTime, "now" | "after">, options: ArticleNodeOptions = {}) {
  const { limits, nodeId, leaseMs = defaultLeaseMs } = options;
  return composeArticles(composeParts(storage, { after: time.after, limits, nodeId, leaseMs }), options);
}

/** The articles of a node whose parts exist; `options` about the parts are not read. */
export function composeArticles(parts: TestParts, options: ArticleNodeOptions = {}) {
  const { storage, limits, nodeId } = parts;
  const checkpointQuietMs = options.quietMs ?? quietMs;
  const armAtEdit = options.armAtEdit ?? (() => ({ due: [] }));
  const events: ArticleUpdated[] = [];
  const deleted: string[] = [];
  const listeners: ArticleListeners = {
    // The row stands for a delivery: it is there exactly when the commit is.
    articleUpdated: async (unit, event) => {
      unit.log({ op: "append", log: eventLog, entries: [Buffer.from(JSON.stringify(event.data))] });
      unit.afterCommit(() => events.push(event));
    },
    articleDeleted: async (_unit, { articleId }) => {
      deleted.push(articleId);
    },
    articleCommitted: async () => {},
    articlePurged: async () => {},
    articleRemoved: async () => {},
    ...options.listeners,
  };
  const service = createArticleService({
    ...parts,
    checkpointQuietMs,
    checkpointMaxMs: options.maxMs ?? maxMs,
    idleMs,
    armAtEdit,
    broadcast: { publish: () => undefined },
    findTopicId: async (_workspaceId, reference) => reference,
    folders: createFolders({ storage }),
    fillTemplate: createTemplateService(parts).fill,
    listeners: [listeners],
  });
  const textRenderer = createTextRenderer(parts);
  const { close } = parts.install([
    service.manifest,
    // The events of articles are trimmed, and removed with their article, by the worker of the streams.
    { name: "streams", workers: createRetention(parts) },
    { name: "textRenderer", close: textRenderer.close },
  ]);
  return {
    ...service,
    textRenderer,
    documentStore: createDocumentStore({ storage, nodeId, limits, checkpointQuietMs, armAtEdit }),
    locate: createLocateArticle({ storage }),
    pump: parts.pump,
    ids: parts.ids,
    events,
    deleted,
    limits,
    close,
  };
}

export type ArticleNode = ReturnType<typeof createArticleNode>;

export interface CallOptions {
  readonly username?: string;
  readonly role?: Role;
  readonly viaKey?: boolean;
  /** With an Idempotency-Key, every attempt has the same seed and time. */
  readonly attempt?: { readonly seed: string; readonly nowMs: number };
  readonly ifMatch?: readonly string[];
  readonly traceparent?: string;
  readonly limits?: Limits;
}

export function createCall(
  storage: Storage,
  workspaceId: string,
  partition: Partition,
  options: CallOptions = {},
): Call & { readonly values: unknown[] } {
  const { username = "ada", role = "write", viaKey = false, attempt, ifMatch, traceparent } = options;
  const values: unknown[] = [];
  const account = { accountId: "usr_0000000000000000000000000A", username };
  const principal: Principal = viaKey
    ? { kind: "key", ...account, operator: false, keyId: "key_0000000000000000000000000A" }
    : { kind: "session", ...account, operator: false, sessionId: "ses_0000000000000000000000000A" };
  const ids: IdSource = attempt === undefined ? createIds(storage) : createSeededIds(Buffer.from(attempt.seed.padEnd(16)), attempt.nowMs);
  return {
    requestId: "test",
    principal,
    access: { workspaceId, partition, role },
    nowMs: attempt?.nowMs ?? storage.now(),
    ids,
    isRepeatable: attempt !== undefined,
    limits: options.limits ?? defaultLimits,
    remoteAddress: "127.0.0.1",
    ...(ifMatch === undefined ? {} : { ifMatch }),
    ...(traceparent === undefined ? {} : { traceparent }),
    values,
    async commit(batch, value) {
      const result = await storage.commit(batch);
      if (result.ok) values.push(value);
      return result;
    },
  };
}

/** Creates a workspace for articles. */
export async function addWorkspace(storage: Storage, partition: Partition = articlePartition): Promise<string> {
  const workspaceId = createIds(storage).next("ws", partition);
  const result = await storage.commit({
    partition,
    records: [
      {
        op: "put",
        type: workspaceRecord,
        value: {
          workspaceId,
          name: "Desk",
          type: "team",
          owner: "usr_0000000000000000000000000A",
          members: [{ accountId: "usr_0000000000000000000000000A", username: "ada", role: "owner" }],
          createdAt: 1,
          updatedAt: 1,
        },
        replacing: null,
      },
    ],
  });
  if (!result.ok) throw new Error("no workspace");
  return workspaceId;
}

/** Opens a store with a workspace and its articles. `close` ends the due pump first. */
export async function openArticles(open: OpenStorage, options: ArticleNodeOptions = {}) {
  const time = createManualTime();
  const { storage, close } = await open(time);
  const node = createArticleNode(storage, time, options);
  const workspaceId = await addWorkspace(storage);
  return {
    time,
    storage,
    node,
    workspaceId,
    async close(): Promise<void> {
      await node.pump.drain(AbortSignal.timeout(1000));
      await close();
    },
  };
}

/** Call it in `describe`. Each test begins with an article of two lines. The getters have the values of the running test. */
export function useArticle(openStorage: OpenStorage) {
  let opened: Awaited<ReturnType<typeof openArticles>>;
  let articleId: string;

  const call = (options: CallOptions = {}) => createCall(opened.storage, opened.workspaceId, articlePartition, options);

  beforeEach(async () => {
    opened = await openArticles(openStorage);
    const { workspaceId, node } = opened;
    articleId = (await node.articles.create({ workspaceId, title: "Title", content: "one\ntwo\n" }, call())).article.articleId;
  });
  afterEach(() => opened.close());

  return {
    get time() {
      return opened.time;
    },
    get storage() {
      return opened.storage;
    },
    get node() {
      return opened.node;
    },
    get workspaceId() {
      return opened.workspaceId;
    },
    get articleId() {
      return articleId;
    },
    call,
    append: (content: string, options: CallOptions = {}, file: ArticleFile = "content.md") =>
      opened.node.edits.edit(articleId, { mode: "append", file, content }, call(options)),
    list: async (filter = {}) => (await opened.node.commits.list(articleId, filter)).items,
    article: async () => (await opened.node.articles.get(articleId)).article,
    events: () => eventsOf(opened.storage, articlePartition),
  };
}

/** Returns the durable events in the order of their commits. */
export async function eventsOf(storage: Storage, partition: Partition) {
  const read = await storage.log.read({ partition, log: eventLog, after: 0, limit: 100_000 });
  if (read.gap) throw new Error("events were trimmed");
  return read.entries.map(({ bytes }) => JSON.parse(Buffer.from(bytes).toString()) as ArticleUpdated["data"]);
}
