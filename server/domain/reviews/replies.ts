/**
 * Serves the requests on the replies of a review: add, edit and delete. A reply is a part of its review's record, so the
 * entity tag of a reply names the revision of its review, and `If-Match` compares that revision (RV26).
 */

import type { Limits } from "../../../api/limits.ts";
import { AppError, notFound } from "../../../api/schema/error.ts";
import type { ReviewReply } from "../../../api/schema/review.ts";
import type { ReplyContext } from "../../../machines/reviewContext.ts";
import type { ActorRuntime } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage } from "../../platform/storage/port.ts";
import { authorOf } from "../call/author.ts";
import { type Call, Versioned } from "../call/call.ts";
import { requireMatch } from "../call/precondition.ts";
import { createRoleCheck } from "../identity/workspaces/access.ts";
import { findReview, readReview, toEventBase } from "./findReview.ts";
import type { Mentions } from "./mentions.ts";
import type { ReviewListeners } from "./port.ts";
import { type ReviewRecord, toReviewReply } from "./records.ts";
import { checkBounds, requireAuthor, requireAuthorOrAdmin } from "./reviewBounds.ts";
import { reviewKind } from "./reviewKind.ts";

export interface Replies {
  add(reviewId: string, body: string, call: Call): Promise<Versioned<ReviewReply>>;
  edit(reviewId: string, replyId: string, body: string, call: Call): Promise<Versioned<ReviewReply>>;
  delete(reviewId: string, replyId: string, call: Call): Promise<void>;
}

export interface RepliesOptions {
  readonly storage: Pick<Storage, "records" | "now">;
  readonly actors: Pick<ActorRuntime, "commitUnit">;
  readonly mentions: Mentions;
  readonly listeners: Pick<ReviewListeners, "reviewReplied">;
  readonly limits: Limits;
  /** Without a trailing slash. */
  readonly baseUrl: string;
}

function findReply({ context }: ReviewRecord, replyId: string): ReplyContext {
  const reply = context.replies.find((each) => each.replyId === replyId);
  if (reply === undefined) throw notFound();
  return reply;
}

function toVersioned({ id, context }: ReviewRecord, reply: ReplyContext): Versioned<ReviewReply> {
  return new Versioned(toReviewReply(id, reply), context.metaRevision);
}

function participantsOf({ context }: ReviewRecord): readonly string[] {
  return [...new Set([context, ...context.replies].map(({ author }) => author.username))];
}

export function createReplies({ storage, actors, mentions, listeners, limits, baseUrl }: RepliesOptions): Replies {
  const authorize = createRoleCheck(storage, "write");

  return {
    async add(reviewId, body, call) {
      const { workspaceId } = (await findReview(storage, reviewId)).context;
      const partition = partitionOfId(reviewId);
      const replyId = call.ids.next("rpl", partition);
      const text = await mentions.toText(workspaceId, body);
      return actors.commitUnit({ operation: "review.reply", partition, committer: call }, async (unit) => {
        const before = (await readReview(unit, reviewId)).value;
        const { replies } = before.context;
        // If an earlier attempt of this request committed before it was cut off, return the reply that it added.
        const made = replies.find((reply) => reply.replyId === replyId);
        if (made !== undefined) return toVersioned(before, made);
        await authorize(call, workspaceId);
        const most = limits["review.replies"];
        if (replies.length >= most) {
          const detail = `The review has ${replies.length} replies; at most ${most} are allowed (review.replies). Begin another review.`;
          throw new AppError("limit_reached", detail);
        }
        const after = await unit.send(reviewKind, reviewId, { type: "reply.add", reply: { replyId, author: authorOf(call), ...text } });
        checkBounds(after, limits);
        const reply = findReply(after, replyId);
        const base = toEventBase(after, call, reply.createdAtMs, baseUrl);
        await listeners.reviewReplied(unit, { ...base, ...text, replyId, participants: participantsOf(after) });
        return toVersioned(after, reply);
      });
    },

    async edit(reviewId, replyId, body, call) {
      const found = await findReview(storage, reviewId);
      const { workspaceId } = found.context;
      // Missing rights are refused before the text is looked at.
      await authorize(call, workspaceId);
      requireAuthor(call, findReply(found, replyId).author, "edit a reply");
      const text = await mentions.toText(workspaceId, body);
      const partition = partitionOfId(reviewId);
      return actors.commitUnit({ operation: "review.editReply", partition, committer: call }, async (unit) => {
        const record = (await readReview(unit, reviewId)).value;
        const before = findReply(record, replyId);
        await authorize(call, workspaceId);
        requireAuthor(call, before.author, "edit a reply");
        requireMatch(call, record.context.metaRevision, "either");
        if (before.body === body) return toVersioned(record, before);
        const after = await unit.send(reviewKind, reviewId, { type: "reply.edit", replyId, text });
        checkBounds(after, limits);
        return toVersioned(after, findReply(after, replyId));
      });
    },

    delete: (reviewId, replyId, call) =>
      actors.commitUnit({ operation: "review.deleteReply", partition: partitionOfId(reviewId), committer: call }, async (unit) => {
        const record = (await readReview(unit, reviewId)).value;
        const { author } = findReply(record, replyId);
        const { workspaceId } = record.context;
        await authorize(call, workspaceId);
        await requireAuthorOrAdmin(storage, call, { workspaceId, author }, "delete a reply");
        requireMatch(call, record.context.metaRevision, "either");
        await unit.send(reviewKind, reviewId, { type: "reply.delete", replyId });
      }),
  };
}
