/**
 * Creates publishing as a server has it: articles, actors, due pump, links and pages on a store with a manual clock.
 * Pages are requested through their routes.
 */
import { afterEach, beforeEach } from "vitest";
import { AppError, errorRow } from "../../api/schema/error.ts";
import { createAccessWatch } from "../../server/domain/identity/access/accessFacts.ts";
import { createPublishingListeners } from "../../server/domain/publishing/listeners.ts";
import { createPublishing } from "../../server/domain/publishing/service.ts";
import { validateMarkdown } from "../../server/domain/runs/executors/articleRules.ts";
import { createNodeRateLimits } from "../../server/edge/calls/rateLimits.ts";
import { createPublicPageRoutes } from "../../server/edge/pages/publicPage.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { composeParts, defaultLeaseMs } from "../support/composeParts.ts";
import { createManualTime, type ManualTime } from "../support/manualTime.ts";
import { createPageRequests } from "../support/pageRequests.ts";
import type { OpenStorage } from "../support/storages.ts";
import { type ArticleNodeOptions, addWorkspace, type CallOptions, composeArticles, createCall } from "./articleFixture.ts";

export interface PageAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly code?: string;
}

export function createPublishingNode(storage: Storage, time: ManualTime, options: ArticleNodeOptions = {}) {
  const { limits, nodeId, leaseMs = defaultLeaseMs } = options;
  const parts = composeParts(storage, { after: time.after, limits, nodeId, leaseMs });
  const { armAtEdit, articleDeleted } = createPublishingListeners(parts);
  const node = composeArticles(parts, { ...options, armAtEdit, listeners: { articleDeleted } });
  const access = createAccessWatch(parts);
  /** `read`: reading fails. `late`: the result of a read is returned only after this promise. `unread`: the checks cannot be made. */
  const trouble: { read: boolean; late: Promise<void> | undefined; unread: { retryable: boolean } | undefined } = {
    read: false,
    late: undefined,
    unread: undefined,
  };
  /** The texts that the gate has checked. */
  const checked: string[] = [];
  const publishing = createPublishing({
    ...parts,
    access,
    documents: {
      async read(articleId) {
        if (trouble.read) throw new Error("the document cannot be read");
        const { late } = trouble;
        const found = await node.documents.read(articleId);
        await late;
        return found;
      },
      readAt: (articleId, revision) => node.documents.readAt(articleId, revision),
      commitIdAt: (articleId, revision) => node.documents.commitIdAt(articleId, revision),
      diffFrom: (articleId, older, format, owner) => node.documents.diffFrom(articleId, older, format, owner),
    },
    // The step runs the same function in a worker thread.
    async checkText(markdown) {
      checked.push(markdown);
      if (trouble.unread !== undefined) return { kind: "unread", reason: "The text was not read.", ...trouble.unread };
      return { kind: "read", value: validateMarkdown({ markdown, expected: {} }) };
    },
  });
  parts.install([publishing.manifest]);
  const pages = createPublicPageRoutes({
    pages: publishing.pages,
    pageLimits: createNodeRateLimits(parts, "rate.public"),
    baseUrl: parts.baseUrl,
  });
  const request = createPageRequests(pages);

  async function page(path: string, headers: Readonly<Record<string, string>> = {}): Promise<PageAnswer> {
    try {
      const { status, headers: given, body = "" } = await request(path, headers);
      return { status, headers: given, body: typeof body === "string" ? body : Buffer.from(body as Uint8Array).toString() };
    } catch (reason) {
      if (!(reason instanceof AppError)) throw reason;
      return { status: errorRow(reason.code).status, headers: reason.headers, body: reason.message, code: reason.code };
    }
  }

  return {
    ...node,
    actors: parts.actors,
    access,
    publishing,
    links: publishing.links,
    reportFindings: publishing.reportFindings,
    list: publishing.list,
    history: publishing.history,
    page,
    trouble,
    checked,
    closePages: pages.close,
  };
}

/** Opens a store with a workspace whose articles can be published. `close` ends the due pump and the pages first. */
export async function openPublishing(open: OpenStorage) {
  const time = createManualTime();
  const { storage, close } = await open(time);
  const node = createPublishingNode(storage, time);
  const workspaceId = await addWorkspace(storage);
  return {
    time,
    storage,
    node,
    workspaceId,
    async close(): Promise<void> {
      await node.pump.drain(AbortSignal.abort());
      await node.closePages();
      await close();
    },
  };
}

export type PublishingNode = ReturnType<typeof createPublishingNode>;

/** Call it in `describe`. Each test begins with an article without a link. The getters have the values of the running test. */
export function usePublishing(openStorage: OpenStorage) {
  let opened: Awaited<ReturnType<typeof openPublishing>>;
  let articleId: string;

  const call = (options: CallOptions = {}) => createCall(opened.storage, opened.workspaceId, partitionOfId(opened.workspaceId), options);
  const create = async (title: string, content?: string) =>
    (await opened.node.articles.create({ workspaceId: opened.workspaceId, title, content }, call())).article.articleId;

  beforeEach(async () => {
    opened = await openPublishing(openStorage);
    articleId = await create("Über den Wolken!", "First words.\n");
    opened.node.pump.start();
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
    create,
    append: (content: string, on = articleId) => opened.node.edits.edit(on, { mode: "append", content }, call()),
    markdown: async (slug: string) => (await opened.node.page(`/p/${slug}.md`)).body,
  };
}
