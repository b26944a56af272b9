/** Finds a review for a request, with its anchor at its place in the live text, and describes its events. */
import { notFound } from "../../../api/schema/error.ts";
import type { Review } from "../../../api/schema/review.ts";
import type { TextAnchor } from "../../../machines/reviewContext.ts";
import type { UnitOfWork } from "../../platform/actors/port.ts";
import type { Storage, Stored } from "../../platform/storage/port.ts";
import { authorOf } from "../call/author.ts";
import type { Call } from "../call/call.ts";
import type { Anchors } from "./anchors.ts";
import type { ReviewEventBase } from "./port.ts";
import { type ReviewRecord, reviewRecord, statusOf, toReview } from "./records.ts";
import { reviewKind } from "./reviewKind.ts";

/** A review as the API shows it, with the two revisions of its entity tag. */
export interface ReviewView {
  readonly review: Review;
  /** Revision of the live text in which the anchor was placed; 0 if no text was read. */
  readonly revision: number;
  readonly metaRevision: number;
}

/** The anchor of a review in the live text, and the revision of that text. */
export interface LivePlace {
  readonly revision: number;
  readonly anchor: TextAnchor | null;
}

export function toView(record: ReviewRecord, { revision, anchor }: LivePlace): ReviewView {
  return { review: toReview(record, anchor), revision, metaRevision: record.context.metaRevision };
}

/** The text of an accepted suggestion is gone, so its anchor stays at the place where it was. */
export function isFollowed(record: ReviewRecord): boolean {
  return record.context.anchor !== null && statusOf(record) !== "accepted";
}

export async function placeReview(anchors: Pick<Anchors, "place">, record: ReviewRecord): Promise<LivePlace> {
  const { articleId, workspaceId, file, anchor } = record.context;
  if (anchor === null || !isFollowed(record)) return { revision: 0, anchor };
  const { revision, anchors: placed } = await anchors.place(articleId, workspaceId, [{ file, anchor }]);
  return { revision, anchor: placed[0] ?? anchor };
}

/** Throws `not_found`. */
export async function findReview(storage: Pick<Storage, "records">, reviewId: string): Promise<ReviewRecord> {
  const stored = await storage.records.get(reviewRecord, reviewId);
  if (stored === undefined) throw notFound();
  return stored.value;
}

/** The review as the unit leaves it. Throws `not_found`. */
export async function readReview(unit: UnitOfWork, reviewId: string): Promise<Stored<ReviewRecord>> {
  const stored = await unit.read(reviewKind, reviewId);
  if (stored === undefined) throw notFound();
  return stored;
}

/** Fields of every event of the review. `call` is the request that causes the event. */
export function toEventBase({ id, context }: ReviewRecord, call: Call, createdAtMs: number, baseUrl: string): ReviewEventBase {
  const { workspaceId, articleId, kind, file, anchor } = context;
  return {
    workspaceId,
    articleId,
    reviewId: id,
    kind,
    file,
    author: authorOf(call),
    createdAtMs,
    ids: call.ids,
    traceparent: call.traceparent,
    quote: anchor?.quote,
    url: `${baseUrl}/reviews/${id}`,
  };
}
