import { z } from "zod";
import { ArticleDiff, ArticleFile, Commit, CommitKind, CreateCommitRequest, DiffFormat, RevisionOrLive } from "../schema/article.ts";
import { pageQuery } from "../schema/common.ts";
import { ArticleId, CommitId } from "../schema/id.ts";
import { operation } from "./operation.ts";
import { etag, pageOf } from "./resource.ts";

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
    description:
      "When no file has changed since the last commit, no commit is made and no webhook fires: `name`, if given, becomes the name of the last commit, whatever its kind and instead of a name it already has; `message` and `kind` are not used. A commit is kept for ever and sends `article.updated` to webhooks. Without one, a checkpoint is made by itself after a pause in the typing. `Location` of a 201 is the commit.",
    example: { message: "Rewrite the introduction" },
  }),
  list: operation({
    method: "GET",
    path: "/articles/{articleId}/commits",
    params,
    query: z.strictObject({
      ...pageQuery,
      author: z.string().max(100).meta({ description: "Only commits with text of this account.", example: "ana" }).optional(),
      kind: CommitKind.describe("Only commits of this kind.").optional(),
    }),
    replies: { 200: pageOf("commits", Commit, { id: "CommitList", description: "A page of commits.", items: "Commits, newest first." }) },
    credential: "any",
    scopes: ["articles:read"],
    resource,
    role: "read",
    summary: "List the commits of an article, newest first",
    description: "Commits and checkpoints, with who wrote what changed.",
  }),
  get: operation({
    method: "GET",
    path: "/articles/{articleId}/commits/{commitId}",
    params: z.strictObject({ articleId: ArticleId, commitId: CommitId }),
    replies: { 200: Commit },
    replyHeaders: etag,
    credential: "any",
    scopes: ["articles:read"],
    resource,
    role: "read",
    summary: "Get a commit",
    description: "Its message, authors, and the lines each file gained and lost.",
  }),
  diff: operation({
    method: "GET",
    path: "/articles/{articleId}/diff",
    params,
    query: z.strictObject({
      from: RevisionOrLive.describe("Older revision, or `live`."),
      to: RevisionOrLive.describe("Newer revision, or `live` for the text as it is now."),
      file: ArticleFile.describe("File to compare; `content.md` by default.").optional(),
      format: DiffFormat.describe("How hunks are told; `unified` by default.").optional(),
    }),
    replies: { 200: ArticleDiff },
    credential: "any",
    scopes: ["articles:read"],
    resource,
    role: "read",
    errors: ["revision_gone"],
    summary: "Compare a file at two revisions (kept or committed ones) or with the live text",
    description: "Committed revisions are kept for ever, others for 24 hours; one that is gone answers 410.",
  }),
} as const;
