/** FolderArticles moves the articles of a folder to the trash when the folder is deleted with its contents. */
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { FolderContents } from "../folders/port.ts";
import { articleCount, articleLists, articleRecord } from "./records.ts";
import type { Trash } from "./trash.ts";

export interface FolderArticlesOptions {
  readonly storage: Pick<Storage, "records" | "index" | "counts">;
  readonly trash: Pick<Trash, "move">;
}

export function createFolderArticles({ storage, trash }: FolderArticlesOptions): FolderContents {
  return {
    name: "articles",

    async count({ workspaceId, folderId }) {
      const [count = 0] = await storage.counts.get(partitionOfId(workspaceId), [articleCount(folderId)]);
      return count;
    },

    async remove(unit, { folderId }, most, by) {
      const rows = await storage.index.scan({ partition: unit.partition, prefix: articleLists.inFolder(folderId), limit: most });
      if (rows.length === 0) return 0;
      const articles = await storage.records.getMany(
        articleRecord,
        rows.map(({ target }) => target),
      );
      for (const article of articles) {
        // Another request may have moved the article, or put it into the trash, after the list was read.
        if (article === undefined || article.value.deletedAtMs !== undefined || article.value.folderId !== folderId) continue;
        await trash.move(unit, article, by);
      }
      return rows.length;
    },
  };
}
