/**
 * ReviewCopies duplicates an article together with its reviews.
 *
 * The first reviews are created in the commit of the new article, as many as fit into one piece of a job. A job copies the
 * rest. A copied review keeps its author, texts, replies, mentions, times and state. Copying is no event: it sends no
 * webhook and adds nothing to the stream of the new article, because nobody wrote a comment.
 */
import type { Limits } from "../../../api/limits.ts";
import type { ReplyContext, TextAnchor } from "../../../machines/reviewContext.ts";
import type { Rooms } from "../../../realtime/room/rooms.ts";
import type { UnitOfWork } from "../../platform/actors/port.ts";
import { type IdSource, partitionOfId } from "../../platform/storage/ids.ts";
import type { IndexKey, Storage } from "../../platform/storage/port.ts";
import type { ArticleReply, DuplicateArticle, DuplicateRequest } from "../articles/port.ts";
import { articleRecord } from "../articles/records.ts";
import type { Call } from "../call/call.ts";
import { principalOf, requireScopes } from "../call/principal.ts";
import type { JobWork, StartJob } from "../jobs/port.ts";
import { toCopiedAnchors } from "./anchorCopies.ts";
import type { Anchors, FileAnchor, LiveAnchors } from "./anchors.ts";
import { isFollowed } from "./findReview.ts";
import { type ReviewRecord, reviewCount, reviewLists, reviewRecord } from "./records.ts";

export interface CopyRequest extends DuplicateRequest {
  readonly includeReviews?: boolean | undefined;
}

export interface CopiedArticle extends ArticleReply {
  /** The job that copies the reviews that were too many for one commit. */
  readonly jobId?: string;
}

export interface CopyState extends Readonly<Record<string, unknown>> {
  readonly sourceId: string;
  readonly copyId: string;
  /** Key of the last review that was copied. */
  readonly after: IndexKey;
  /** Reviews that were created later are not copied. */
  readonly untilMs: number;
  /** Number of reviews that the copy has. */
  readonly reviews: number;
}

export interface ReviewCopies {
  /** Duplicates an article; with `includeReviews` also its reviews, which needs the scope to write reviews. */
  duplicate(articleId: string, request: CopyRequest, call: Call): Promise<CopiedArticle>;
  readonly work: JobWork<CopyState>;
}

export interface ReviewCopiesOptions {
  readonly storage: Pick<Storage, "records" | "index" | "counts">;
  readonly rooms: Pick<Rooms, "read">;
  readonly anchors: Pick<Anchors, "place">;
  readonly duplicateArticle: DuplicateArticle;
  readonly startJob: StartJob;
  readonly ids: IdSource;
  readonly limits: Pick<Limits, "job.records">;
}

/** Characters of the reviews of one commit, as JSON. One review always fits, because it has at most `review.bytes`. */
const maxCharacters = 4 * 1024 * 1024;

/** Reviews of the source, with their anchors in its live text. */
interface SourcePage {
  readonly reviews: readonly ReviewRecord[];
  /** The anchors of those reviews that `isFollowed` selects. */
  readonly live: LiveAnchors;
  /** Key of the last review; undefined if no more are left. */
  readonly after: IndexKey | undefined;
}

const toFileAnchor = ({ context }: ReviewRecord) => ({ file: context.file, anchor: context.anchor }) as FileAnchor;

/** A copy of the review with new ids. A place that the copy cannot have stays as a last place, which is orphaned. */
function toCopy(review: ReviewRecord, copyId: string, anchor: TextAnchor | undefined, revision: number, newId: NewId): ReviewRecord {
  const { context } = review;
  const last = context.anchor === null ? null : ({ ...context.anchor, revision, state: "orphaned" } as const);
  const replies = context.replies.map((reply): ReplyContext => ({ ...reply, replyId: newId("rpl") }));
  return { ...review, id: newId("rev"), context: { ...context, articleId: copyId, anchor: anchor ?? last, replies } };
}

type NewId = (prefix: "rev" | "rpl") => string;

export function createReviewCopies(options: ReviewCopiesOptions): ReviewCopies {
  const { storage, rooms, anchors, duplicateArticle, startJob, ids, limits } = options;
  /** The progress of the job is one more record. */
  const reviewsAtOnce = Math.max(1, limits["job.records"] - 1);

  async function readReviews(sourceId: string, untilMs: number, after?: IndexKey): Promise<Omit<SourcePage, "live">> {
    const scan = { partition: partitionOfId(sourceId), prefix: reviewLists.ofArticle(sourceId), limit: reviewsAtOnce + 1 };
    const found = await storage.index.scan(after === undefined ? scan : { ...scan, after });
    const rows = found.slice(0, reviewsAtOnce);
    const records = await storage.records.getMany(
      reviewRecord,
      rows.map(({ target }) => target),
    );
    const reviews: ReviewRecord[] = [];
    let characters = 0;
    for (const [at, stored] of records.entries()) {
      if (stored === undefined) continue;
      if (stored.value.context.createdAtMs > untilMs) return { reviews, after: undefined };
      characters += JSON.stringify(stored.value).length;
      if (characters > maxCharacters && reviews.length > 0) return { reviews, after: rows[at - 1]?.key };
      reviews.push(stored.value);
    }
    return { reviews, after: found.length > rows.length ? rows.at(-1)?.key : undefined };
  }

  async function readPage(sourceId: string, workspaceId: string, untilMs: number, from?: IndexKey): Promise<SourcePage> {
    const { reviews, after } = await readReviews(sourceId, untilMs, from);
    return { reviews, after, live: await anchors.place(sourceId, workspaceId, reviews.filter(isFollowed).map(toFileAnchor)) };
  }

  /** Adds the copies to the unit. `placed` are the anchors of the copy. */
  function write(
    unit: UnitOfWork,
    copyId: string,
    { reviews }: SourcePage,
    placed: readonly TextAnchor[],
    revision: number,
    from: IdSource,
  ) {
    const anchorOf = new Map(reviews.filter(isFollowed).map(({ id }, at) => [id, placed[at]]));
    const newId: NewId = (prefix) => from.next(prefix, unit.partition);
    for (const review of reviews) {
      const value = toCopy(review, copyId, anchorOf.get(review.id), revision, newId);
      unit.record({ op: "put", type: reviewRecord, value, replacing: null });
    }
  }

  const work: JobWork<CopyState> = {
    kind: "article.copyReviews",
    async step(unit, { workspaceId, state }) {
      const { sourceId, copyId } = state;
      const copy = await storage.records.get(articleRecord, copyId);
      const isLeft = copy !== undefined && (await storage.records.get(articleRecord, sourceId)) !== undefined;
      if (!isLeft) return { kind: "end", result: { reviews: state.reviews }, done: 0 };
      // If the copy is deleted for good meanwhile, the piece is decided again.
      unit.require({ kind: "revision", type: articleRecord, key: copyId, revision: copy.revision });
      const page = await readPage(sourceId, workspaceId, state.untilMs, state.after);
      const wanted = page.reviews.filter(isFollowed).map(toFileAnchor);
      await rooms.read(copyId, (document, revision) =>
        write(unit, copyId, page, toCopiedAnchors(wanted, page.live, document, revision), revision, ids),
      );
      const done = page.reviews.length;
      const reviews = state.reviews + done;
      if (page.after === undefined) return { kind: "end", result: { reviews }, done };
      return { kind: "next", state: { ...state, after: page.after, reviews }, done };
    },
  };

  return {
    work,

    async duplicate(articleId, { includeReviews = false, ...request }, call) {
      if (!includeReviews) return duplicateArticle(articleId, request, call);
      requireScopes(call, ["reviews:write", "articles:write"]);
      const untilMs = call.nowMs;
      let jobId: string | undefined;
      const reply = await duplicateArticle(articleId, request, call, async (unit, { workspaceId, copyId, document, revision }) => {
        const page = await readPage(articleId, workspaceId, untilMs);
        const wanted = page.reviews.filter(isFollowed).map(toFileAnchor);
        write(unit, copyId, page, toCopiedAnchors(wanted, page.live, document, revision), revision, call.ids);
        const { after } = page;
        jobId = after === undefined ? undefined : call.ids.next("job", unit.partition);
        if (after === undefined || jobId === undefined) return;
        const [count = 0] = await storage.counts.get(unit.partition, [reviewCount(articleId)]);
        const { length } = page.reviews;
        const state: CopyState = { sourceId: articleId, copyId, after, untilMs, reviews: length };
        startJob(unit, work, { jobId, workspaceId, by: principalOf(call).username, of: Math.max(1, count - length), state });
      });
      return jobId === undefined ? reply : { ...reply, jobId };
    },
  };
}
