/** Builds the reviews domain: its requests, its listeners on commits of articles, and the workers of its due rows. */
import type { Logger } from "pino";
import type { Limits } from "../../../api/limits.ts";
import type { Rooms } from "../../../realtime/room/rooms.ts";
import type { ActorRuntime } from "../../platform/actors/port.ts";
import { provide } from "../../platform/actors/provide.ts";
import type { Manifest } from "../../platform/composition/manifest.ts";
import type { IdSource } from "../../platform/storage/ids.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { ArticleListeners, ArticleWriter, Documents, DocumentWriting } from "../articles/port.ts";
import { joinListeners } from "../call/joinListeners.ts";
import type { Pager } from "../call/paging.ts";
import { createAcceptCommits } from "./acceptCommits.ts";
import { createAnchors } from "./anchors.ts";
import { createFollowListener, createFollowText, type FollowListenerOptions } from "./followText.ts";
import { createMentions } from "./mentions.ts";
import type { FindAccount, ReviewListeners } from "./port.ts";
import { createRemoval, createRemovalListener, type RemovalListenerOptions } from "./removal.ts";
import { createReplies, type Replies } from "./replies.ts";
import { reviewKind } from "./reviewKind.ts";
import { createReviewList, type ReviewList } from "./reviewList.ts";
import { createReviews, type Reviews } from "./reviews.ts";
import { createReviewTexts } from "./reviewTexts.ts";
import { createSuggestions, type Suggestions } from "./suggestions.ts";

export type { ReviewView } from "./findReview.ts";

export interface ReviewServiceOptions {
  readonly storage: Storage;
  readonly actors: ActorRuntime;
  readonly rooms: Pick<Rooms, "read" | "edit">;
  readonly documents: Documents;
  readonly articles: ArticleWriter;
  readonly writing: DocumentWriting;
  readonly findAccount: FindAccount;
  /** Called in this order. Their changes join the commit of the event. */
  readonly listeners: readonly Partial<ReviewListeners>[];
  readonly pager: Pager;
  readonly ids: IdSource;
  readonly limits: Limits;
  readonly leaseMs: number;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly log: Logger;
}

export interface ReviewService {
  readonly reviews: Reviews;
  readonly replies: Replies;
  readonly suggestions: Suggestions;
  readonly list: ReviewList;
  readonly manifest: Manifest;
}

/** Listeners that add changes of reviews to the commits of articles. They need only the platform, so they exist before the articles. */
export function createReviewListeners(
  options: FollowListenerOptions & RemovalListenerOptions,
): Pick<ArticleListeners, "articleUpdated" | "articlePurged"> {
  return { ...createFollowListener(options), ...createRemovalListener(options) };
}

export function createReviewService(options: ReviewServiceOptions): ReviewService {
  const { storage, limits } = options;
  const texts = createReviewTexts();
  const listeners = joinListeners<ReviewListeners>({ reviewCreated: true, reviewReplied: true, reviewResolved: true }, options.listeners);
  const anchors = createAnchors({ ...options, texts });
  const mentions = createMentions({ ...options, texts });
  const commits = createAcceptCommits(options);
  const parts = { ...options, limits, anchors, mentions, commits, listeners };
  return {
    reviews: createReviews(parts),
    replies: createReplies(parts),
    suggestions: createSuggestions(parts),
    list: createReviewList(parts),
    manifest: {
      name: "reviews",
      actorKinds: [provide(reviewKind, {})],
      workers: { ...commits.workers, ...createFollowText(parts), ...createRemoval(storage) },
      close: texts.close,
    },
  };
}
