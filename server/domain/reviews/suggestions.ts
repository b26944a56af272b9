/**
 * Accepts suggestions: replaces the quote in the live document by the replacement.
 *
 * The edit, the new state of the review, the kept answer and the row of the commit that follows are one storage commit.
 * A crash therefore leaves either an open suggestion and the old text, or an accepted suggestion and the new text, and a
 * repeated request never writes twice. The edit has the author of the suggestion. Text that others type meanwhile is merged
 * as with every edit.
 */
import type * as Y from "yjs";
import type { Author } from "../../../api/schema/article.ts";
import { AppError } from "../../../api/schema/error.ts";
import type { TextAnchor } from "../../../machines/reviewContext.ts";
import type { Rooms } from "../../../realtime/room/rooms.ts";
import type { ActorRuntime } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Batch, Storage } from "../../platform/storage/port.ts";
import { JoinedCommit } from "../articles/port.ts";
import type { Call } from "../call/call.ts";
import { principalOf } from "../call/principal.ts";
import { createRoleCheck } from "../identity/workspaces/access.ts";
import type { AcceptCommit, AcceptCommits } from "./acceptCommits.ts";
import { placeIn } from "./anchors.ts";
import { findReview, type ReviewView, toEventBase, toView } from "./findReview.ts";
import type { ReviewListeners } from "./port.ts";
import { reviewKind } from "./reviewKind.ts";

export interface Suggestions {
  /** Throws `invalid_transition` and `anchor_orphaned`. */
  accept(reviewId: string, call: Call): Promise<ReviewView>;
}

export interface SuggestionsOptions {
  readonly storage: Pick<Storage, "records" | "now">;
  readonly actors: Pick<ActorRuntime, "openUnit" | "refusal">;
  readonly rooms: Pick<Rooms, "edit">;
  readonly commits: Pick<AcceptCommits, "schedule" | "complete">;
  readonly listeners: Pick<ReviewListeners, "reviewResolved">;
  /** Without a trailing slash. */
  readonly baseUrl: string;
}

/** Replaces the quote. Characters that both texts have at their edges are not rewritten, so that cursors at them stay valid. */
function replaceQuote(text: Y.Text, { quote, start }: TextAnchor, replacement: string): void {
  const most = Math.min(quote.length, replacement.length);
  let before = 0;
  while (before < most && quote.charCodeAt(before) === replacement.charCodeAt(before)) before += 1;
  if (isHighSurrogate(quote, before - 1)) before -= 1;
  let after = 0;
  while (after < most - before && quote.charCodeAt(quote.length - 1 - after) === replacement.charCodeAt(replacement.length - 1 - after)) {
    after += 1;
  }
  if (isHighSurrogate(quote, quote.length - after - 1) || isHighSurrogate(replacement, replacement.length - after - 1)) after -= 1;
  const insert = replacement.slice(before, replacement.length - after);
  const remove = quote.length - after - before;
  text.applyDelta([
    ...(start + before > 0 ? [{ retain: start + before }] : []),
    ...(insert === "" ? [] : [{ insert }]),
    ...(remove === 0 ? [] : [{ delete: remove }]),
  ]);
}

function isHighSurrogate(text: string, at: number): boolean {
  const code = at < 0 ? 0 : text.charCodeAt(at);
  return code >= 0xd800 && code <= 0xdbff;
}

/** The writes of both batches. The log entries of the edit come first, because the position of the first one is read. */
function join(append: Batch, own: Batch): Batch {
  return {
    partition: append.partition,
    records: [...(append.records ?? []), ...(own.records ?? [])],
    logs: [...(append.logs ?? []), ...(own.logs ?? [])],
    due: [...(append.due ?? []), ...(own.due ?? [])],
    require: [...(append.require ?? []), ...(own.require ?? [])],
  };
}

export function createSuggestions({ storage, actors, rooms, commits, listeners, baseUrl }: SuggestionsOptions): Suggestions {
  const authorize = createRoleCheck(storage, "write");

  return {
    async accept(reviewId, call) {
      const found = await findReview(storage, reviewId);
      const { articleId, workspaceId, file, anchor, replacement } = found.context;
      // Blame must name the author of the words. The review and the commit name the account that accepted them.
      const author: Author = { username: found.context.author.username, kind: found.context.author.kind };
      const by = principalOf(call).username;
      const refusal = actors.refusal(reviewKind, found, { type: "review.accept", by });
      if (refusal !== undefined) throw refusal;
      if (anchor === null || replacement === undefined) throw new Error(`the suggestion ${reviewId} has no anchor or no replacement`);
      const partition = partitionOfId(articleId);
      const order: AcceptCommit = {
        articleId,
        commitId: call.ids.next("cmt", partition),
        message: `Accept suggestion of ${author.username}`,
        committer: by,
        ...(call.traceparent === undefined ? {} : { traceparent: call.traceparent }),
      };
      let place = anchor;
      let view: ReviewView | undefined;

      const replace = (document: Y.Doc, revision: number) => {
        place = placeIn(document, file, revision, anchor);
        if (place.state === "orphaned") {
          throw new AppError(
            "anchor_orphaned",
            "The quoted text is no longer in the file, or its place is ambiguous. Nothing was changed.",
          );
        }
        replaceQuote(document.getText(file), place, replacement);
      };

      const joined = new JoinedCommit(async (append) => {
        const unit = actors.openUnit(partition);
        await authorize(call, workspaceId);
        const ended: TextAnchor = { ...place, state: "orphaned" };
        const record = await unit.send(reviewKind, reviewId, { type: "review.accept", by, anchor: ended });
        await listeners.reviewResolved(unit, { ...toEventBase(record, call, storage.now(), baseUrl), status: "accepted" });
        commits.schedule(unit, order);
        const accepted = toView(record, { revision: ended.revision, anchor: ended });
        view = accepted;
        return unit.commit((own) => call.commit(join(append, own), accepted));
      });

      await rooms.edit(articleId, author, undefined, replace, false, joined);
      if (view === undefined) throw new Error(`accepting the suggestion ${reviewId} changed nothing`);
      await commits.complete(order);
      return view;
    },
  };
}
