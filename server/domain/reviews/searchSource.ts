/**
 * Lets the search find reviews by their texts and their replies.
 *
 * A review is found where its article is: in the folder of the article, and not while the article is in the trash.
 * Therefore the reviews of an article are indexed again when it is moved, deleted or restored.
 */
import { ReviewStatus } from "../../../api/schema/review.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { IndexKey, Storage } from "../../platform/storage/port.ts";
import { type ArticleRecord, articleRecord } from "../articles/records.ts";
import type { SearchDependency, SearchItem, SearchSource } from "../search/port.ts";
import { type ReviewRecord, reviewLists, reviewRecord, statusOf } from "./records.ts";

const pageSize = 500;

/** A change of the article's place, as the search knows it. */
export const reviewPlace: SearchDependency<ArticleRecord> = {
  name: "review.place",
  record: articleRecord,
  isAffected: (before, after) =>
    before.folderId !== after.folderId || (before.deletedAtMs === undefined) !== (after.deletedAtMs === undefined),
};

function toItem(review: ReviewRecord, { title, folderId, topicId }: ArticleRecord): SearchItem {
  const { articleId, workspaceId, body, replies, updatedAtMs } = review.context;
  return {
    id: review.id,
    workspaceId,
    title,
    hasForeignTitle: true,
    updatedAtMs,
    articleId,
    topicId,
    folderId,
    status: statusOf(review),
    texts: async () => ({ body: [body, ...replies.map((reply) => reply.body)], extra: [] }),
  };
}

export function createReviewSearchSource({ storage }: { readonly storage: Pick<Storage, "records" | "index"> }): SearchSource {
  return {
    name: "reviews",
    kind: "review",
    record: reviewRecord,
    scopes: ["reviews:read"],
    statuses: { all: ReviewStatus.options, searched: ReviewStatus.options },
    dependency: {
      on: reviewPlace,
      async keysOf(articleId) {
        const keys: string[] = [];
        for (let after: IndexKey | undefined; ; ) {
          const scan = { partition: partitionOfId(articleId), prefix: reviewLists.ofArticle(articleId), limit: pageSize };
          const rows = await storage.index.scan(after === undefined ? scan : { ...scan, after });
          keys.push(...rows.map(({ target }) => target));
          after = rows.at(-1)?.key;
          if (rows.length < pageSize) return keys;
        }
      },
    },
    async read(reviewIds) {
      const reviews = (await storage.records.getMany(reviewRecord, reviewIds)).map((stored) => stored?.value);
      const articleIds = [...new Set(reviews.flatMap((review) => (review === undefined ? [] : [review.context.articleId])))];
      const articles = await storage.records.getMany(articleRecord, articleIds);
      const present = new Map(
        articles.flatMap((stored) =>
          stored === undefined || stored.value.deletedAtMs !== undefined ? [] : [[stored.value.articleId, stored.value] as const],
        ),
      );
      return reviews.map((review) => {
        const article = review === undefined ? undefined : present.get(review.context.articleId);
        return review === undefined || article === undefined ? undefined : toItem(review, article);
      });
    },
  };
}
