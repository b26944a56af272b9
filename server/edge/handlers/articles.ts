/**
 * `createArticleHandlers` connects the operations of `api/contract/articles.ts` to their services.
 *
 * The contract says how results become replies; `reply` is only
 * where it cannot. Rules of the domain do not belong here.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import type { ArticleActivity } from "../../domain/articles/articleActivity.ts";
import type { Articles } from "../../domain/articles/articles.ts";
import type { ArticleReply } from "../../domain/articles/port.ts";
import { toArticle } from "../../domain/articles/records.ts";
import type { CallReply, Handlers } from "../../domain/call/call.ts";
import { articleEtag } from "../../domain/call/precondition.ts";
import type { CopiedArticle, ReviewCopies } from "../../domain/reviews/reviewCopies.ts";

function toReply({ article, revision }: ArticleReply): CallReply {
  const etag = articleEtag(revision, article.lastCommit?.revision, article.metaRevision);
  return { status: 200, headers: { etag }, body: toArticle(article, revision) };
}

/** The reply of every operation that creates an article. */
export function toCreatedReply(value: ArticleReply): CallReply {
  const { headers, body } = toReply(value);
  return { status: 201, headers: { ...headers, location: `/articles/${value.article.articleId}` }, body };
}

function toCopyReply({ jobId, ...reply }: CopiedArticle): CallReply {
  const { headers, ...rest } = toCreatedReply(reply);
  return { ...rest, headers: { ...headers, ...(jobId === undefined ? {} : { "x-svc-job": jobId }) } };
}

export interface ArticleServices {
  readonly articles: Articles;
  readonly activity: ArticleActivity;
  readonly copies: Pick<ReviewCopies, "duplicate">;
}

export function createArticleHandlers({ articles, activity, copies }: ArticleServices) {
  return {
    create: { serve: ({ body }, call) => articles.create(body, call), reply: toCreatedReply },
    list: async ({ query }) => {
      const { items, ...rest } = await articles.list(query);
      return { items: items.map(({ article, revision }) => toArticle(article, revision)), ...rest };
    },
    get: { serve: ({ params }) => articles.get(params.articleId), reply: toReply },
    update: { serve: ({ params, body }, call) => articles.update(params.articleId, body, call), reply: toReply },
    delete: ({ params, query }, call) => articles.delete(params.articleId, query.permanent === true, call),
    undelete: { serve: ({ params }, call) => articles.undelete(params.articleId, call), reply: toReply },
    duplicate: { serve: ({ params, body }, call) => copies.duplicate(params.articleId, body, call), reply: toCopyReply },
    presence: async ({ params }) => ({ clients: [...(await activity.clients(params.articleId))] }),
  } satisfies Handlers<AppContract>["articles"];
}
