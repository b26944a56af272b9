/** Gives the tests of folders a server on a store in memory, and short ways to make, change and fill folders. */
import { afterEach, beforeEach, expect } from "vitest";
import { articleRecord } from "../../server/domain/articles/records.ts";
import { createFolders } from "../../server/domain/folders/service.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import { workspaceId } from "../support/operationServer.ts";
import { untilReturns } from "../support/untilReturns.ts";
import { createCall } from "./articleFixture.ts";
import { createRunRig, type RunRig } from "./runRig.ts";

const partition = partitionOfId(workspaceId);

/** Call it at the top of a test file. The getters have the values of the running test. */
export function useFolders() {
  let storage: Storage;
  let rig: RunRig;
  beforeEach(async () => {
    storage = createMemoryStorage();
    rig = await createRunRig({ storage, limits: { "folder.depth": 4, "folder.perWorkspace": 12, "job.records": 12 } });
  });
  afterEach(() => rig.close());

  const create = async (name: string, more: object = {}): Promise<string> =>
    (await rig.expect(201, "POST", "/folders", { workspaceId, name, ...more })).folderId;
  const patch = (status: number, folderId: string, body: object) => rig.expect(status, "PATCH", `/folders/${folderId}`, body);
  const get = (folderId: string) => rig.expect(200, "GET", `/folders/${folderId}`);

  /** Returns the names of the listed folders in alphabetical order, because two may be created at the same time. */
  async function list(query: string): Promise<readonly string[]> {
    const { folders } = await rig.expect(200, "GET", `/folders?workspaceId=${workspaceId}${query}`);
    const times = folders.map(({ createdAt }: { createdAt: number }) => createdAt);
    expect(times).toEqual(times.toSorted((a: number, b: number) => b - a));
    return folders.map(({ name }: { name: string }) => name).toSorted();
  }

  async function untilEnded(jobId: string) {
    return untilReturns(async () => {
      const job = await rig.expect(200, "GET", `/jobs/${jobId}`);
      if (job.finishedAt === undefined) throw new Error(`the job is ${JSON.stringify(job)}`);
      return job;
    }, 20_000);
  }

  /** Creates an article and puts it into the folder, as a request that moves it does. */
  async function addArticle(folderId: string, title = "Kites"): Promise<string> {
    const { article } = await rig.node.articles.create({ workspaceId, title }, createCall(storage, workspaceId, partition));
    await moveArticle(article.articleId, folderId);
    return article.articleId;
  }

  async function moveArticle(articleId: string, folderId: string, node: RunRig = rig): Promise<void> {
    const folders = createFolders({ storage });
    await node.actors.commitUnit({ operation: "test", partition, committer: storage }, async (unit) => {
      const stored = await storage.records.get(articleRecord, articleId);
      if (stored === undefined) throw new Error("no article");
      await folders.requireOpen(unit, workspaceId, folderId);
      unit.record({ op: "put", type: articleRecord, value: { ...stored.value, folderId }, replacing: stored });
    });
  }

  const articleOf = async (articleId: string) => (await storage.records.get(articleRecord, articleId))?.value;

  return {
    get storage() {
      return storage;
    },
    get rig() {
      return rig;
    },
    create,
    patch,
    get,
    list,
    untilEnded,
    addArticle,
    moveArticle,
    articleOf,
  };
}
