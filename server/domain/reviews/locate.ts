/** Finds the workspace of a review, for access checks. */
import type { Storage } from "../../platform/storage/port.ts";
import { articleRecord } from "../articles/records.ts";
import type { Locate } from "../identity/workspaces/access.ts";
import { reviewRecord } from "./records.ts";

/** A review of an article in the trash is found only with `deleted`. */
export function createLocateReview({ storage }: { readonly storage: Pick<Storage, "records"> }): Locate {
  return async (reviewId, { deleted }) => {
    const review = await storage.records.get(reviewRecord, reviewId);
    const article = review === undefined ? undefined : await storage.records.get(articleRecord, review.value.context.articleId);
    if (article === undefined) return undefined;
    const { articleId, workspaceId, deletedAtMs } = article.value;
    if (deletedAtMs === undefined) return { workspaceId };
    return deleted ? { workspaceId, trashedArticleId: articleId } : undefined;
  };
}
