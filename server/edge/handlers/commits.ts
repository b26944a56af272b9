/**
 * `createCommitHandlers` connects the operations of `api/contract/commits.ts` to their services.
 *
 * The contract says how results become replies; `reply` is only
 * where it cannot. Rules of the domain do not belong here.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import type { CommitReply } from "../../domain/articles/commits.ts";
import { toCommit } from "../../domain/articles/records.ts";
import type { ArticleService } from "../../domain/articles/service.ts";
import { type Handlers, Versioned } from "../../domain/call/call.ts";

export function createCommitHandlers({ commits, content }: Pick<ArticleService, "commits" | "content">) {
  return {
    create: {
      serve: ({ params, body }, call) => commits.create(params.articleId, body, call),
      reply: ({ commit, created }: CommitReply) => ({
        status: created ? 201 : 200,
        headers: created ? { location: `/articles/${commit.articleId}/commits/${commit.commitId}` } : {},
        body: toCommit(commit),
      }),
    },
    list: async ({ params, query }) => {
      const { items, ...rest } = await commits.list(params.articleId, query);
      return { items: items.map(toCommit), ...rest };
    },
    get: async ({ params }) => {
      const { commit, recordRevision } = await commits.get(params.articleId, params.commitId);
      return new Versioned(toCommit(commit), recordRevision);
    },
    diff: ({ params, query }, call) => content.diff(params.articleId, query, call),
  } satisfies Handlers<AppContract>["commits"];
}
