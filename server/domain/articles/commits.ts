/**
 * Commits creates explicit commits, renames the last commit, and lists an article's commits.
 *
 * This module chooses the answer of the call; commitWriter.ts writes the commit itself.
 */
import type { CommitKind } from "../../../api/schema/article.ts";
import { AppError, notFound } from "../../../api/schema/error.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { Storage, Stored } from "../../platform/storage/port.ts";
import { conflict, retryOnConflict } from "../../platform/storage/retryOnConflict.ts";
import { authorOf } from "../call/author.ts";
import type { Call } from "../call/call.ts";
import type { Page, PageQuery, Pager } from "../call/paging.ts";
import type { CommitWriter } from "./commitWriter.ts";
import { type ArticleRecord, articleRecord, type CommitRecord, commitRecord, commitsOf } from "./records.ts";

export interface CommitRequest {
  readonly message?: string | undefined;
  readonly name?: string | undefined;
  readonly kind?: "commit" | "checkpoint" | "restore" | undefined;
}

export interface CommitReply {
  readonly commit: CommitRecord;
  /** False when no file changed; `commit` is then the last commit. */
  readonly created: boolean;
}

export interface FoundCommit {
  readonly commit: CommitRecord;
  /** Revision of the commit's record. It rises when the commit is named. */
  readonly recordRevision: number;
}

export interface CommitFilter extends PageQuery {
  readonly author?: string | undefined;
  readonly kind?: CommitKind | undefined;
}

export interface Commits {
  /**
   * Commits the live text. `answer` maps the reply to the value that the call answers with; default: the reply itself. When no
   * file changed since the last commit, `name` becomes the name of that commit and replaces an existing name (CO11, CO12).
   */
  create(articleId: string, request: CommitRequest, call: Call, answer?: (reply: CommitReply) => unknown): Promise<CommitReply>;
  list(articleId: string, filter: CommitFilter): Promise<Page<CommitRecord>>;
  get(articleId: string, commitId: string): Promise<FoundCommit>;
}

export interface CommitsOptions {
  readonly storage: Pick<Storage, "records">;
  readonly commitWriter: Pick<CommitWriter, "write">;
  readonly pager: Pager;
}

export function createCommits({ storage, commitWriter, pager }: CommitsOptions): Commits {
  /** Stores the new name only if the commit is still the article's last. No event is sent, because the text is unchanged. */
  async function rename(
    article: Stored<ArticleRecord>,
    commit: CommitRecord,
    call: Call,
    answer: (reply: CommitReply) => unknown,
  ): Promise<CommitReply | typeof conflict> {
    const replacing = await storage.records.get(commitRecord, commit.commitId);
    if (replacing === undefined) return conflict;
    const reply = { commit, created: false };
    const result = await call.commit(
      {
        partition: partitionOfId(commit.commitId),
        records: [{ op: "put", type: commitRecord, value: commit, replacing }],
        require: [{ kind: "revision", type: articleRecord, key: commit.articleId, revision: article.revision }],
      },
      answer(reply),
    );
    return result.ok ? reply : conflict;
  }

  return {
    async create(articleId, { message = "", name, kind = "commit" }, call, answer = (reply) => reply) {
      const commitId = call.ids.next("cmt", partitionOfId(articleId));
      return retryOnConflict("commit.create", async () => {
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
          case "unchanged": {
            if (outcome.last === undefined) throw new Error("an article without a commit can always be committed");
            // A retry of the request that made the commit answers `created: true` again.
            const reply = { commit: outcome.last, created: outcome.last.commitId === commitId };
            return name === undefined || name === outcome.last.name
              ? reply
              : rename(outcome.article, { ...outcome.last, name }, call, answer);
          }
          case "deleted":
            throw notFound();
          case "behind":
            throw new AppError("unavailable", "This node has not yet read the newest edits of the article; retry shortly.", {
              retryAfter: 1,
            });
          case "lost":
            throw new Error("a commit without due rows cannot lose one");
        }
      });
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
      return { commit: stored.value, recordRevision: stored.revision };
    },
  };
}
