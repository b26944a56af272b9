import { z } from "zod";
import { operation } from "../operation.ts";
import { Commit, CommitKind, CreateCommitRequest } from "../schema/article.ts";
import { pageQuery } from "../schema/common.ts";
import { ArticleId, CommitId } from "../schema/id.ts";

const params = z.strictObject({ articleId: ArticleId });
const resource = { kind: "article", in: "params", name: "articleId" } as const;

export const commits = {
  create: operation({
    method: "POST",
    path: "/articles/{articleId}/commits",
    params,
    bodies: { "application/json": CreateCommitRequest },
    bodyOptional: true,
    replies: { 200: Commit, 201: Commit },
    credential: "any",
    scopes: ["articles:write"],
    resource,
    role: "write",
    summary: "Commit the live document; 200 with the last commit when nothing changed since",
  }),
  list: operation({
    method: "GET",
    path: "/articles/{articleId}/commits",
    params,
    query: z.strictObject({ ...pageQuery, author: z.string().max(100).optional(), kind: CommitKind.optional() }),
    replies: { 200: z.strictObject({ commits: z.array(Commit), nextToken: z.string().optional() }).meta({ id: "CommitList" }) },
    credential: "any",
    scopes: ["articles:read"],
    resource,
    role: "read",
    summary: "List the commits of an article, newest first",
  }),
  get: operation({
    method: "GET",
    path: "/articles/{articleId}/commits/{commitId}",
    params: z.strictObject({ articleId: ArticleId, commitId: CommitId }),
    replies: { 200: Commit },
    credential: "any",
    scopes: ["articles:read"],
    resource,
    role: "read",
    summary: "Get a commit",
  }),
} as const;
