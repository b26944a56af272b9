import { z } from "zod";
import { operation } from "../operation.ts";
import { ArticleDiff, ArticleFile, Commit, CommitKind, CreateCommitRequest, DiffFormat, RevisionOrLive } from "../schema/article.ts";
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
    replyHeaders: { etag: "Entity tag of this revision of the record" },
    credential: "any",
    scopes: ["articles:read"],
    resource,
    role: "read",
    summary: "Get a commit",
  }),
  diff: operation({
    method: "GET",
    path: "/articles/{articleId}/diff",
    params,
    query: z.strictObject({ from: RevisionOrLive, to: RevisionOrLive, file: ArticleFile.optional(), format: DiffFormat.optional() }),
    replies: { 200: ArticleDiff },
    credential: "any",
    scopes: ["articles:read"],
    resource,
    role: "read",
    errors: ["revision_gone"],
    summary: "Compare a file at two revisions (kept or committed ones) or with the live text",
  }),
} as const;
