/**
 * Lets the search find articles by their title and by the text of their last commit or checkpoint.
 *
 * Live text is not searched: it may be half a sentence, and its checkpoint follows within seconds of a pause.
 */
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { SearchItem, SearchSource, SearchTexts, StoredText } from "../search/port.ts";
import { type ArticleRecord, articleRecord, type CommitFileRecord, commitRecord } from "./records.ts";

export function createArticleSearchSource({ storage }: { readonly storage: Pick<Storage, "records" | "blobs"> }): SearchSource {
  async function readFile(articleId: string, { blob }: CommitFileRecord): Promise<readonly StoredText[]> {
    const deflated = await storage.blobs.get(partitionOfId(articleId), blob);
    // The blob of a commit that was deleted meanwhile is gone. The deletion is a change of its own.
    return deflated === undefined ? [] : [{ deflated }];
  }

  async function textsOf({ articleId, lastCommit }: ArticleRecord): Promise<SearchTexts> {
    const commit = lastCommit === undefined ? undefined : await storage.records.get(commitRecord, lastCommit.commitId);
    const files = commit?.value.files ?? [];
    const read = async (wanted: (file: CommitFileRecord) => boolean) =>
      (await Promise.all(files.filter(wanted).map((file) => readFile(articleId, file)))).flat();
    return { body: await read(({ file }) => file === "content.md"), extra: await read(({ file }) => file !== "content.md") };
  }

  function toItem(article: ArticleRecord): SearchItem {
    const { articleId, workspaceId, title, updatedAtMs, topicId, folderId } = article;
    return { id: articleId, workspaceId, title, updatedAtMs, articleId, topicId, folderId, texts: () => textsOf(article) };
  }

  return {
    name: "articles",
    kind: "article",
    record: articleRecord,
    scopes: [],
    async read(articleIds) {
      const found = await storage.records.getMany(articleRecord, articleIds);
      return found.map((stored) => (stored === undefined || stored.value.deletedAtMs !== undefined ? undefined : toItem(stored.value)));
    },
  };
}
