/** Answers the operations of `api/contract/commits.ts`. */
import type { AppContract } from "../../api/contract/contract.ts";
import type { ArticleDiff } from "../../api/schema/article.ts";
import type { CommitReply } from "../articles/commits.ts";
import { type CommitRecord, toCommit } from "../articles/records.ts";
import type { ArticleService } from "../articles/service.ts";
import type { Handlers } from "../calls/call.ts";
import type { Page } from "../calls/paging.ts";
import { recordEtag } from "../calls/precondition.ts";

export function createCommitHandlers({ commits, content }: Pick<ArticleService, "commits" | "content">): Handlers<AppContract>["commits"] {
  return {
    create: {
      serve: ({ params, body }, call) => commits.create(params.articleId, body, call),
      reply: ({ commit, created }: CommitReply) => ({
        status: created ? 201 : 200,
        headers: created ? { location: `/articles/${commit.articleId}/commits/${commit.commitId}` } : {},
        body: toCommit(commit),
      }),
    },
    list: {
      serve: ({ params, query }) => commits.list(params.articleId, query),
      reply: ({ items, nextToken }: Page<CommitRecord>) => ({
        status: 200,
        body: { commits: items.map(toCommit), ...(nextToken === undefined ? {} : { nextToken }) },
      }),
    },
    get: {
      serve: ({ params }) => commits.get(params.articleId, params.commitId),
      // A commit is never changed: its record has one revision.
      reply: (commit: CommitRecord) => ({ status: 200, headers: { etag: recordEtag(1) }, body: toCommit(commit) }),
    },
    diff: {
      serve: ({ params, query }, call) => content.diff(params.articleId, query, call),
      reply: (body: ArticleDiff) => ({ status: 200, body }),
    },
  };
}
