import { AppError } from "../../../api/schema/error.ts";

/**
 * Returns the refusal of a request that needs an article outside the trash, for callers who may restore it. A read gets
 * `not_found`, a change `invalid_transition`.
 */
export function refuseTrashed(code: "not_found" | "invalid_transition", articleId: string): AppError {
  const detail = `The article ${articleId} is in the trash. Restore it with POST /articles/${articleId}/undelete, then repeat the request.`;
  return new AppError(code, detail, { currentState: "article_deleted", allowed: ["articles.undelete"] });
}
