/**
 * Serves the requests on reviews: create, read, edit, resolve, reject and delete.
 *
 * The machine decides every change of status. This module collects the data of a change (the place of the anchor, the
 * mentioned accounts) before the commit, and checks in the commit who may make it. suggestions.ts accepts suggestions.
 */

import type { Limits } from "../../../api/limits.ts";
import { AppError, notFound } from "../../../api/schema/error.ts";
import type { CreateReviewRequest, UpdateReviewRequest } from "../../../api/schema/review.ts";
import type { ReviewInput, ReviewText } from "../../../machines/reviewContext.ts";
import type { ActorRuntime, UnitOfWork } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { ArticleWriter, DocumentWriting } from "../articles/port.ts";
import { articleRecord } from "../articles/records.ts";
import { authorOf } from "../call/author.ts";
import type { Call } from "../call/call.ts";
import { requireMatch } from "../call/precondition.ts";
import { accessOf, principalOf } from "../call/principal.ts";
import { createRoleCheck } from "../identity/workspaces/access.ts";
import type { Anchors } from "./anchors.ts";
import { findReview, placeReview, type ReviewView, readReview, toEventBase, toView } from "./findReview.ts";
import type { Mentions } from "./mentions.ts";
import type { ReviewListeners } from "./port.ts";
import { type ReviewRecord, reviewCount, statusOf } from "./records.ts";
import { checkBounds, checkCreateRequest, checkReplacement, requireAuthorOrAdmin } from "./reviewBounds.ts";
import { reviewKind } from "./reviewKind.ts";

export interface Reviews {
  create(articleId: string, request: CreateReviewRequest, call: Call): Promise<ReviewView>;
  get(reviewId: string): Promise<ReviewView>;
  update(reviewId: string, request: UpdateReviewRequest, call: Call): Promise<ReviewView>;
  reject(reviewId: string, call: Call): Promise<ReviewView>;
  delete(reviewId: string, call: Call): Promise<void>;
}

export interface ReviewsOptions {
  readonly storage: Pick<Storage, "records" | "counts" | "now">;
  readonly actors: Pick<ActorRuntime, "commitUnit">;
  readonly anchors: Pick<Anchors, "create" | "place">;
  readonly mentions: Mentions;
  readonly articles: Pick<ArticleWriter, "hold">;
  readonly writing: Pick<DocumentWriting, "toAcceptable">;
  readonly listeners: Pick<ReviewListeners, "reviewCreated" | "reviewResolved">;
  readonly limits: Limits;
  /** Without a trailing slash. */
  readonly baseUrl: string;
}

export function createReviews(options: ReviewsOptions): Reviews {
  const { storage, actors, anchors, mentions, articles, writing, listeners, limits, baseUrl } = options;
  const authorize = createRoleCheck(storage, "write");

  /**
   * Throws `limit_reached`. The unit holds the article, so concurrent creations exclude each other and the number is exact.
   * The article must be read before the number.
   */
  async function takePlace(unit: UnitOfWork, articleId: string): Promise<void> {
    const article = await storage.records.get(articleRecord, articleId);
    if (article === undefined || article.value.deletedAtMs !== undefined) throw notFound();
    articles.hold(unit, article);
    const [count = 0] = await storage.counts.get(unit.partition, [reviewCount(articleId)]);
    const most = limits["review.perArticle"];
    if (count < most) return;
    throw new AppError(
      "limit_reached",
      `The article has ${count} reviews; at most ${most} are allowed (review.perArticle). Delete one first.`,
    );
  }

  async function noteEnd(unit: UnitOfWork, record: ReviewRecord, call: Call): Promise<void> {
    const status = statusOf(record);
    if (status === "open") return;
    await listeners.reviewResolved(unit, { ...toEventBase(record, call, storage.now(), baseUrl), status });
  }

  async function changeStatus(unit: UnitOfWork, before: ReviewRecord, status: "open" | "resolved", call: Call): Promise<void> {
    if (statusOf(before) === status) return;
    const type = status === "open" ? "review.reopen" : "review.resolve";
    await noteEnd(unit, await unit.send(reviewKind, before.id, { type, by: principalOf(call).username }), call);
  }

  async function changeText(unit: UnitOfWork, before: ReviewRecord, text: ReviewText, call: Call): Promise<void> {
    if (text.body === before.context.body) return;
    await requireAuthorOrAdmin(storage, call, before.context, "change the text of a review");
    checkBounds(await unit.send(reviewKind, before.id, { type: "review.edit", text }), limits);
  }

  return {
    async create(articleId, request, call) {
      checkCreateRequest(request, limits, writing);
      const { kind = "comment", file = "content.md", replacement } = request;
      const { workspaceId, partition } = accessOf(call);
      const reviewId = call.ids.next("rev", partition);
      const anchor = request.anchor === undefined ? null : await anchors.create(articleId, file, request.anchor);
      checkReplacement(anchor?.quote, replacement);
      const text = await mentions.toText(workspaceId, request.body);
      const input: Omit<ReviewInput, "nowMs"> = {
        articleId,
        workspaceId,
        kind,
        file,
        anchor,
        author: authorOf(call),
        ...text,
        ...(replacement === undefined ? {} : { replacement }),
      };
      const place = { revision: anchor?.revision ?? 0, anchor };
      return actors.commitUnit({ operation: "review.create", partition, committer: call }, async (unit) => {
        // If an earlier attempt of this request committed before it was cut off, return the review that it created.
        const made = await unit.read(reviewKind, reviewId);
        if (made !== undefined)
          return toView(made.value, { revision: made.value.context.anchor?.revision ?? 0, anchor: made.value.context.anchor });
        await takePlace(unit, articleId);
        await authorize(call, workspaceId);
        const record = unit.create(reviewKind, reviewId, input);
        checkBounds(record, limits);
        await listeners.reviewCreated(unit, { ...toEventBase(record, call, record.context.createdAtMs, baseUrl), ...text });
        return toView(record, place);
      });
    },

    async get(reviewId) {
      const record = await findReview(storage, reviewId);
      return toView(record, await placeReview(anchors, record));
    },

    async update(reviewId, { body, status }, call) {
      const found = await findReview(storage, reviewId);
      const { workspaceId } = found.context;
      // Missing rights are refused before the text and the entity tag are looked at.
      await authorize(call, workspaceId);
      if (body !== undefined && body !== found.context.body) {
        await requireAuthorOrAdmin(storage, call, found.context, "change the text of a review");
      }
      const text = body === undefined ? undefined : await mentions.toText(workspaceId, body);
      const place = await placeReview(anchors, found);
      const partition = partitionOfId(reviewId);
      return actors.commitUnit({ operation: "review.update", partition, committer: call }, async (unit) => {
        const before = (await readReview(unit, reviewId)).value;
        requireMatch(call, before.context.metaRevision, "either");
        await authorize(call, workspaceId);
        if (text !== undefined) await changeText(unit, before, text, call);
        if (status !== undefined) await changeStatus(unit, before, status, call);
        return toView((await readReview(unit, reviewId)).value, place);
      });
    },

    async reject(reviewId, call) {
      const found = await findReview(storage, reviewId);
      const place = await placeReview(anchors, found);
      const partition = partitionOfId(reviewId);
      return actors.commitUnit({ operation: "review.reject", partition, committer: call }, async (unit) => {
        await authorize(call, found.context.workspaceId);
        const record = await unit.send(reviewKind, reviewId, { type: "review.reject", by: principalOf(call).username });
        await noteEnd(unit, record, call);
        return toView(record, place);
      });
    },

    delete: (reviewId, call) =>
      actors.commitUnit({ operation: "review.delete", partition: partitionOfId(reviewId), committer: call }, async (unit) => {
        const { context } = (await readReview(unit, reviewId)).value;
        await authorize(call, context.workspaceId);
        await requireAuthorOrAdmin(storage, call, context, "delete a review");
        requireMatch(call, context.metaRevision, "either");
        await unit.send(reviewKind, reviewId, { type: "review.delete", by: principalOf(call).username });
      }),
  };
}
