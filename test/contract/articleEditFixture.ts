/** Gives the tests of edits an article on a store with a manual clock, and short ways to edit, type and read. */
import { afterEach, beforeEach } from "vitest";
import * as Y from "yjs";
import type { EditRequest } from "../../api/schema/article.ts";
import { partitionOfId } from "../../server/platform/storage/ids.ts";
import { createManualTime, type ManualTime } from "../support/manualTime.ts";
import type { OpenedStorage, OpenStorage } from "../support/storages.ts";
import {
  type ArticleNode,
  type ArticleNodeOptions,
  addWorkspace,
  type CallOptions,
  createArticleNode,
  createCall,
} from "./articleFixture.ts";

/** Call it in `describe`. It returns a function that creates the article of a test. */
export function useEditedArticle(openStorage: OpenStorage) {
  let time: ManualTime;
  let opened: OpenedStorage;
  let node: ArticleNode;

  beforeEach(async () => {
    time = createManualTime();
    opened = await openStorage(time);
  });
  afterEach(async () => {
    await node.close();
    await opened.close();
  });

  return async (content: string, options: ArticleNodeOptions = {}) => {
    const { storage } = opened;
    node = createArticleNode(storage, time, options);
    const { rooms, edits, content: texts, documentStore, limits } = node;
    const workspaceId = await addWorkspace(storage);
    const call = (more: CallOptions = {}) => createCall(storage, workspaceId, partitionOfId(workspaceId), { limits, ...more });
    const { articleId } = (await node.articles.create({ workspaceId, title: "T", content }, call())).article;
    return {
      time,
      storage,
      node,
      workspaceId,
      articleId,
      call,
      edit: (request: EditRequest, more: CallOptions = {}) => edits.edit(articleId, request, call(more), { answersCall: true }),
      live: async (file: "content.md" | "outline.md" = "content.md") => (await texts.readText(articleId, file, undefined)).text,
      /** Types into the document while a request runs. */
      async type(at: number, insert: string, remove = 0): Promise<void> {
        await rooms.edit(articleId, { username: "bob", kind: "user" }, Math.floor(Math.random() * 2 ** 32), (document: Y.Doc) => {
          document.getText("content.md").delete(at, remove);
          document.getText("content.md").insert(at, insert);
        });
      },
      async keepState(): Promise<void> {
        const whole = (document: Y.Doc, revision: number) => [revision, Y.encodeStateAsUpdate(document)] as const;
        await documentStore.updateLog.saveState(articleId, ...(await rooms.read(articleId, whole)));
      },
    };
  };
}

export type EditedArticle = Awaited<ReturnType<ReturnType<typeof useEditedArticle>>>;
