import { z } from "zod";
import { operation } from "../operation.ts";
import { Article, CreateArticleRequest, UpdateArticleRequest } from "../schema/article.ts";
import { pageQuery, UnixSeconds } from "../schema/common.ts";
import { ArticleId, TopicId, WorkspaceId } from "../schema/id.ts";

const params = z.strictObject({ articleId: ArticleId });
const resource = { kind: "article", in: "params", name: "articleId" } as const;
const inTrashToo = { ...resource, deleted: true } as const;
const replyHeaders = { etag: '"r<revision>-<record revision>"' } as const;

export const articles = {
  create: operation({
    method: "POST",
    path: "/articles",
    bodies: { "application/json": CreateArticleRequest },
    documentText: true,
    replies: { 201: Article },
    replyHeaders,
    credential: "any",
    scopes: ["articles:write"],
    resource: { kind: "workspace", in: "body", name: "workspaceId" },
    role: "write",
    errors: ["content_too_large", "content_not_accepted"],
    summary: "Create an article, optionally with text for content.md",
  }),
  list: operation({
    method: "GET",
    path: "/articles",
    query: z.strictObject({
      ...pageQuery,
      workspaceId: WorkspaceId,
      topicId: TopicId.optional(),
      q: z.string().max(200).optional(),
      updatedSince: UnixSeconds.optional(),
      deleted: z.boolean().optional(),
    }),
    replies: { 200: z.strictObject({ articles: z.array(Article), nextToken: z.string().optional() }).meta({ id: "ArticleList" }) },
    credential: "any",
    scopes: ["articles:read"],
    resource: { kind: "workspace", in: "query", name: "workspaceId" },
    role: "read",
    summary: "List the articles of a workspace, newest first",
  }),
  get: operation({
    method: "GET",
    path: "/articles/{articleId}",
    params,
    replies: { 200: Article },
    replyHeaders,
    credential: "any",
    scopes: ["articles:read"],
    resource: inTrashToo,
    role: "read",
    summary: "Get an article",
  }),
  update: operation({
    method: "PATCH",
    path: "/articles/{articleId}",
    params,
    bodies: { "application/json": UpdateArticleRequest },
    replies: { 200: Article },
    replyHeaders,
    credential: "any",
    scopes: ["articles:write"],
    resource,
    role: "write",
    ifMatch: true,
    summary: "Rename an article or change its slug",
  }),
  delete: operation({
    method: "DELETE",
    path: "/articles/{articleId}",
    params,
    query: z.strictObject({ permanent: z.boolean().optional() }),
    replies: { 204: null },
    credential: "any",
    scopes: ["articles:write"],
    resource: inTrashToo,
    role: "write",
    ifMatch: true,
    errors: ["insufficient_role"],
    summary: "Move an article to the trash, or (an administrator, `permanent`) delete it for good",
  }),
  undelete: operation({
    method: "POST",
    path: "/articles/{articleId}/undelete",
    params,
    replies: { 200: Article },
    replyHeaders,
    credential: "any",
    scopes: ["articles:write"],
    resource: inTrashToo,
    role: "write",
    errors: ["invalid_transition"],
    summary: "Take an article out of the trash",
  }),
} as const;
