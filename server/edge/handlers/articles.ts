/**
 * `createArticleHandlers` connects the operations of `api/contract/articles.ts` to their services.
 *
 * The contract says how results become replies; `reply` is only
 * where it cannot. Rules of the domain do not belong here.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import type { ArticleActivity } from "../../domain/articles/articleActivity.ts";
import type { ArticleReply } from "../../domain/articles/articleCreation.ts";
import type { Articles } from "../../domain/articles/articles.ts";
import { toArticle } from "../../domain/articles/records.ts";
import type { CallReply, Handlers } from "../../domain/call/call.ts";
import { liveEtag } from "../../domain/call/precondition.ts";

function toReply({ article, revision }: ArticleReply): CallReply {
  return { status: 200, headers: { etag: liveEtag(revision, article.metaRevision) }, body: toArticle(article, revision) };
}

/** The reply of every operation that creates an article. */
export function toCreatedReply(value: ArticleReply): CallReply {
  const { headers, body } = toReply(value);
  return { status: 201, headers: { ...headers, location: `/articles/${value.article.articleId}` }, body };
}

export function createArticleHandlers({ articles, activity }: { readonly articles: Articles; readonly activity: ArticleActivity }) {
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
    duplicate: { serve: ({ params, body }, call) => articles.duplicate(params.articleId, body, call), reply: toCreatedReply },
    presence: async ({ params }) => ({ clients: [...(await activity.clients(params.articleId))] }),
  } satisfies Handlers<AppContract>["articles"];
}
