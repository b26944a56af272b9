/**
 * Explicit commits and the list of an article's commits.
 *
 * It decides what a caller gets; how a commit is made durable stands in commitWriter.ts.
 */
import type { CommitKind } from "../../api/schema/article.ts";
import { AppError, notFound } from "../../api/schema/error.ts";
import type { Call } from "../calls/call.ts";
import type { Page, Pager } from "../calls/paging.ts";
import { partitionOfId } from "../ids.ts";
import type { Storage } from "../storage/port.ts";
import { authorOf } from "./author.ts";
import type { CommitWriter } from "./commitWriter.ts";
import { type CommitRecord, commitRecord, commitsOf } from "./records.ts";

export interface CommitRequest {
  readonly message?: string | undefined;
  readonly name?: string | undefined;
  readonly kind?: "commit" | "checkpoint" | undefined;
}

export interface CommitReply {
  readonly commit: CommitRecord;
  /** False: nothing changed, this is the last one. */
  readonly created: boolean;
}

export interface CommitFilter {
  readonly author?: string | undefined;
  readonly kind?: CommitKind | undefined;
  readonly limit?: number | undefined;
  readonly nextToken?: string | undefined;
}

export interface Commits {
  /** `answer` is what the call answers with once the commit stands; default: the reply itself. */
  create(articleId: string, request: CommitRequest, call: Call, answer?: (reply: CommitReply) => unknown): Promise<CommitReply>;
  list(articleId: string, filter: CommitFilter): Promise<Page<CommitRecord>>;
  get(articleId: string, commitId: string): Promise<CommitRecord>;
}

export interface CommitsOptions {
  readonly storage: Pick<Storage, "records">;
  readonly commitWriter: Pick<CommitWriter, "write">;
  readonly pager: Pager;
}

export function createCommits({ storage, commitWriter, pager }: CommitsOptions): Commits {
  return {
    async create(articleId, { message = "", name, kind = "commit" }, call, answer = (reply) => reply) {
      const commitId = call.ids.next("cmt", partitionOfId(articleId));
      const outcome = await commitWriter.write({
        articleId,
        commitId,
        kind,
        message,
        name,
        committer: authorOf(call).username,
        ids: call.ids,
        traceparent: call.traceparent,
        commit: (batch, commit) => call.commit(batch, answer({ commit, created: true })),
      });
      switch (outcome.kind) {
        case "committed":
          return { commit: outcome.commit, created: true };
        case "unchanged":
          if (outcome.last === undefined) throw new Error("an article without a commit can always be committed");
          // A repeat of the request that made it says so again.
          return { commit: outcome.last, created: outcome.last.commitId === commitId };
        case "deleted":
          throw notFound();
        case "behind":
          throw new AppError("unavailable", "This node has not yet read the newest edits of the article; retry shortly.", {
            retryAfter: 1,
          });
        case "lost":
          throw new Error("a commit without due rows cannot lose one");
      }
    },

    list(articleId, { author, kind, limit, nextToken }) {
      const username = author?.toLowerCase();
      return pager.page<CommitRecord>({
        scope: `commits?${JSON.stringify([username ?? null, kind ?? null])}`,
        partition: partitionOfId(articleId),
        prefix: commitsOf(articleId),
        reverse: true,
        limit,
        nextToken,
        load: async (keys) => (await storage.records.getMany(commitRecord, keys)).map((stored) => stored?.value),
        keep: (commit) =>
          (kind === undefined || commit.kind === kind) &&
          (username === undefined || commit.authors.some((other) => other.username === username)),
      });
    },

    async get(articleId, commitId) {
      if (partitionOfId(commitId) !== partitionOfId(articleId)) throw notFound();
      const stored = await storage.records.get(commitRecord, commitId);
      if (stored === undefined || stored.value.articleId !== articleId) throw notFound();
      return stored.value;
    },
  };
}
