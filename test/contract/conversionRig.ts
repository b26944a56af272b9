/** Gives the tests of conversions a node on a store with a manual clock, a workspace, and short ways to convert. */
import { afterEach, beforeEach } from "vitest";
import type { RequestedConversion } from "../../server/domain/conversions/createConversion.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import type { Partition, Storage } from "../../server/platform/storage/port.ts";
import { createManualTime, type ManualTime } from "../support/manualTime.ts";
import type { OpenStorage } from "../support/storages.ts";
import { addWorkspace, type CallOptions, createCall } from "./articleFixture.ts";
import { type ConversionNode, type ConversionNodeOptions, createConversionNode } from "./conversionFixture.ts";

/** The account of the calls. */
export const accountId = "usr_0000000000000000000000000A";
export const accountPartition = partitionOfId(accountId);

/** Call it in `describe`. The getters have the values of the running test. */
export function useConversions(openStorage: OpenStorage, nodeOptions: ConversionNodeOptions = {}) {
  let time: ManualTime;
  let storage: Storage;
  let close: () => Promise<void>;
  let nodes: ConversionNode[];
  let node: ConversionNode;
  let workspaceId: string;
  let partition: Partition;

  const createNode = (on = storage, options: ConversionNodeOptions = {}): ConversionNode => {
    const created = createConversionNode(on, time, { ...nodeOptions, ...options });
    nodes.push(created);
    return created;
  };
  const call = (options: CallOptions = {}) => createCall(storage, workspaceId, partition, { limits: node.limits, ...options });
  const request = (more: Partial<RequestedConversion> = {}): RequestedConversion => ({
    source: { content: "# Kites\n", format: "markdown" },
    to: "html",
    ...more,
  });
  const start = async (more?: Partial<RequestedConversion>, on = node, options?: CallOptions) =>
    (await on.conversions.create(request(more), call(options))).conversion.conversionId;
  const get = async (conversionId: string, on = node) => {
    const { conversion, writtenArticleId } = await on.conversions.get(conversionId, call());
    return { ...conversion, writtenArticleId };
  };
  /** Waits for the end of a conversion on the clock of the test. */
  const end = async (conversionId: string) => {
    await time.until(async () => (await get(conversionId)).finishedAt !== undefined);
    return get(conversionId);
  };

  beforeEach(async () => {
    time = createManualTime();
    ({ storage, close } = await openStorage(time));
    nodes = [];
    node = createNode();
    node.pump.start();
    workspaceId = await addWorkspace(storage);
    partition = partitionOfId(workspaceId);
  });
  afterEach(async () => {
    for (const each of nodes) {
      await each.pump.drain(AbortSignal.abort());
      await each.rooms.drain();
      await each.close();
    }
    await close();
  });

  return {
    get time() {
      return time;
    },
    get storage() {
      return storage;
    },
    get node() {
      return node;
    },
    get workspaceId() {
      return workspaceId;
    },
    get partition() {
      return partition;
    },
    createNode,
    call,
    request,
    start,
    get,
    end,
    convert: async (more?: Partial<RequestedConversion>, on = node) => end(await start(more, on)),
    textOf: async (conversionId: string, on = node) =>
      Buffer.from(await (await on.conversions.output(conversionId, call())).readWhole()).toString(),
    commitsOf: async (articleId: string, on = node) => (await on.commits.list(articleId, {})).items,
    live: async (articleId: string, on = node) => (await on.content.readText(articleId, "content.md", undefined)).text,
    newArticle: async (content: string) => (await node.articles.create({ workspaceId, title: "Kites", content }, call())).article.articleId,
    articles: async () => (await node.articles.list({ workspaceId })).items,
  };
}
