/**
 * `createArticleHandlers` connects the operations of `api/contract/articles.ts` to their services.
 *
 * `serve` calls the service; `reply` turns its result into status, headers and body. Rules of the domain do not belong here.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import type { ArticleReply, Articles } from "../../domain/articles/articles.ts";
import { toArticle } from "../../domain/articles/records.ts";
import type { CallReply, Handlers } from "../../domain/call/call.ts";
import type { Page } from "../../domain/call/paging.ts";
import { liveEtag } from "../../domain/call/precondition.ts";

function toReply({ article, revision }: ArticleReply): CallReply {
  return { status: 200, headers: { etag: liveEtag(revision, article.metaRevision) }, body: toArticle(article, revision) };
}

export function createArticleHandlers(articles: Articles): Handlers<AppContract>["articles"] {
  return {
    create: {
      serve: ({ body }, call) => articles.create(body, call),
      reply: (value: ArticleReply) => {
        const { headers, body } = toReply(value);
        return { status: 201, headers: { ...headers, location: `/articles/${value.article.articleId}` }, body };
      },
    },
    list: {
      serve: ({ query }) => articles.list(query),
      reply: ({ items, nextToken }: Page<ArticleReply>) => ({
        status: 200,
        body: {
          articles: items.map(({ article, revision }) => toArticle(article, revision)),
          ...(nextToken === undefined ? {} : { nextToken }),
        },
      }),
    },
    get: { serve: ({ params }) => articles.get(params.articleId), reply: toReply },
    update: { serve: ({ params, body }, call) => articles.update(params.articleId, body, call), reply: toReply },
    delete: {
      serve: ({ params, query }, call) => articles.delete(params.articleId, query.permanent === true, call),
      reply: () => ({ status: 204 }),
    },
    undelete: { serve: ({ params }, call) => articles.undelete(params.articleId, call), reply: toReply },
  };
}
