/**
 * Lists the reviews of an article and of a workspace.
 *
 * The list of an article finds the places of all anchors of a page in one pass over the text. The list of a workspace would
 * have to open a document for each article, so it shows the anchors as they were last stored.
 */
import type { ArticleFile } from "../../../api/schema/article.ts";
import { type Review, ReviewStatus } from "../../../api/schema/review.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage } from "../../platform/storage/port.ts";
import { articleRecord } from "../articles/records.ts";
import type { Call } from "../call/call.ts";
import type { Page, PageQuery, Pager } from "../call/paging.ts";
import { accessOf, principalOf } from "../call/principal.ts";
import type { Anchors, FileAnchor } from "./anchors.ts";
import { isFollowed } from "./findReview.ts";
import { mentionedIn, type ReviewRecord, reviewLists, reviewRecord, statusOf, toReview } from "./records.ts";

interface ReviewFilter extends PageQuery {
  readonly status?: readonly ReviewStatus[] | undefined;
}

export interface ArticleReviewFilter extends ReviewFilter {
  readonly file?: ArticleFile | undefined;
  /** Username. */
  readonly mentions?: string | undefined;
}

export interface WorkspaceReviewFilter extends ReviewFilter {
  readonly mentionsMe?: boolean | undefined;
}

export interface ReviewList {
  ofArticle(articleId: string, filter: ArticleReviewFilter, call: Call): Promise<Page<Review>>;
  ofWorkspace(workspaceId: string, filter: WorkspaceReviewFilter, call: Call): Promise<Page<Review>>;
}

export interface ReviewListOptions {
  readonly storage: Pick<Storage, "records">;
  readonly pager: Pager;
  readonly anchors: Pick<Anchors, "place">;
}

export function createReviewList({ storage, pager, anchors }: ReviewListOptions): ReviewList {
  async function load(reviewIds: readonly string[]): Promise<readonly (ReviewRecord | undefined)[]> {
    return (await storage.records.getMany(reviewRecord, reviewIds)).map((stored) => stored?.value);
  }

  /** Loads reviews without those of articles in the trash. */
  async function loadReachable(reviewIds: readonly string[]): Promise<readonly (ReviewRecord | undefined)[]> {
    const reviews = await load(reviewIds);
    const articleIds = [...new Set(reviews.flatMap((review) => (review === undefined ? [] : [review.context.articleId])))];
    const articles = await storage.records.getMany(articleRecord, articleIds);
    const reachable = new Set(
      articles.flatMap((stored) => (stored === undefined || stored.value.deletedAtMs !== undefined ? [] : [stored.value.articleId])),
    );
    return reviews.map((review) => (review !== undefined && reachable.has(review.context.articleId) ? review : undefined));
  }

  return {
    async ofArticle(articleId, { status, file, mentions, limit, nextToken }, call) {
      const { items, ...rest } = await pager.page<ReviewRecord>({
        scope: `reviews?${JSON.stringify([status ?? null, file ?? null, mentions ?? null])}`,
        partition: partitionOfId(articleId),
        prefix: reviewLists.ofArticle(articleId),
        reverse: true,
        limit,
        nextToken,
        load,
        keep: (review) =>
          (status === undefined || status.includes(statusOf(review))) &&
          (file === undefined || review.context.file === file) &&
          (mentions === undefined || mentionedIn(review.context).has(mentions)),
      });
      const followed = items.filter(isFollowed);
      const wanted = followed.map(({ context }) => ({ file: context.file, anchor: context.anchor }) as FileAnchor);
      const placed = await anchors.place(articleId, accessOf(call).workspaceId, wanted);
      const live = new Map(followed.map(({ id }, at) => [id, placed.anchors[at]]));
      return { items: items.map((review) => toReview(review, live.get(review.id) ?? review.context.anchor)), ...rest };
    },

    async ofWorkspace(workspaceId, { status, mentionsMe = false, limit, nextToken }, call) {
      const { username } = principalOf(call);
      const statuses = [...new Set(status ?? ReviewStatus.options)];
      const lists = statuses.map((each) =>
        mentionsMe ? reviewLists.mentioning(workspaceId, username, each) : reviewLists.ofWorkspace(workspaceId, each),
      );
      const { items, ...rest } = await pager.page<ReviewRecord>({
        scope: "workspace reviews",
        partition: partitionOfId(workspaceId),
        prefix: { groups: [lists] },
        reverse: true,
        limit,
        nextToken,
        load: loadReachable,
      });
      return { items: items.map((review) => toReview(review, review.context.anchor)), ...rest };
    },
  };
}
