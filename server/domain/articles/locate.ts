/** Finds the workspace of an article, for access checks. */
import type { Storage } from "../../platform/storage/port.ts";
import type { Locate } from "../identity/workspaces/access.ts";
import { articleRecord } from "./records.ts";

/** An article in the trash is found only with `deleted`. */
export function createLocateArticle({ storage }: { readonly storage: Pick<Storage, "records"> }): Locate {
  return async (articleId, { deleted }) => {
    const article = (await storage.records.get(articleRecord, articleId))?.value;
    if (article === undefined || (article.deletedAtMs !== undefined && !deleted)) return undefined;
    return { workspaceId: article.workspaceId, ...(article.deletedAtMs === undefined ? {} : { trashedArticleId: articleId }) };
  };
}
