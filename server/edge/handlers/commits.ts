/**
 * `createCommitHandlers` connects the operations of `api/contract/commits.ts` to their services.
 *
 * `serve` calls the service; `reply` turns its result into status, headers and body. Rules of the domain do not belong here.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import type { ArticleDiff } from "../../../api/schema/article.ts";
import type { CommitReply, FoundCommit } from "../../domain/articles/commits.ts";
import { type CommitRecord, toCommit } from "../../domain/articles/records.ts";
import type { ArticleService } from "../../domain/articles/service.ts";
import type { Handlers } from "../../domain/call/call.ts";
import type { Page } from "../../domain/call/paging.ts";
import { recordEtag } from "../../domain/call/precondition.ts";

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
      reply: ({ commit, recordRevision }: FoundCommit) => ({
        status: 200,
        headers: { etag: recordEtag(recordRevision) },
        body: toCommit(commit),
      }),
    },
    diff: {
      serve: ({ params, query }, call) => content.diff(params.articleId, query, call),
      reply: (body: ArticleDiff) => ({ status: 200, body }),
    },
  };
}
