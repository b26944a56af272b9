/** Answers the operations of `api/contract/articles.ts`. */
import type { AppContract } from "../../api/contract/contract.ts";
import type { ArticleReply, Articles } from "../articles/articles.ts";
import { toArticle } from "../articles/records.ts";
import type { CallReply, Handlers } from "../calls/call.ts";
import type { Page } from "../calls/paging.ts";
import { articleEtag } from "../calls/precondition.ts";

function toReply({ article, revision }: ArticleReply): CallReply {
  return { status: 200, headers: { etag: articleEtag(revision, article.metaRevision) }, body: toArticle(article, revision) };
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
