/** The calls and streams of the server. The live editor is in `article.ts`, because it needs Yjs. */
export { type Api, type ApiOptions, type CallOptions, createApi, type Ticket, type TypedClient } from "./api.ts";
export { ApiError, type ApiErrorCode, type FieldError } from "./apiError.ts";
export type { Contract, Problem } from "./contract.ts";
export {
  type AgentEvent,
  type ArticleEvent,
  type FollowArticleOptions,
  type FollowOptions,
  type FollowRunOptions,
  type FollowWorkspaceOptions,
  followArticle,
  followRun,
  followWorkspace,
  type StreamReset,
} from "./follow.ts";
export { type AccessToken, createTokens, type SignInOptions, signIn, type Tokens } from "./tokens.ts";
