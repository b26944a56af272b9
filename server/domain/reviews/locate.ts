/** Finds the workspace of a review, for access checks. */
import type { Storage } from "../../platform/storage/port.ts";
import { articleRecord } from "../articles/records.ts";
import type { Locate } from "../identity/workspaces/access.ts";
import { reviewRecord } from "./records.ts";

/** A review of an article in the trash is not found. */
export function createLocateReview({ storage }: { readonly storage: Pick<Storage, "records"> }): Locate {
  return async (reviewId) => {
    const review = await storage.records.get(reviewRecord, reviewId);
    const article = review === undefined ? undefined : await storage.records.get(articleRecord, review.value.context.articleId);
    if (article === undefined || article.value.deletedAtMs !== undefined) return undefined;
    return { workspaceId: article.value.workspaceId };
  };
}
