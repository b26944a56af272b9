import { z } from "zod";
import { ArticleDiff, ArticleFile, Commit, CommitKind, CreateCommitRequest, DiffFormat, RevisionOrLive } from "../schema/article.ts";
import { pageQuery } from "../schema/common.ts";
import { ArticleId, CommitId } from "../schema/id.ts";
import { operation } from "./operation.ts";
import { etag, pageOf } from "./resource.ts";

const params = z.strictObject({ articleId: ArticleId });
const resource = { kind: "article", in: "params", name: "articleId" } as const;
/** Those who may restore an article from the trash may also read what it contains. */
const includingTrash = { ...resource, deleted: "write" } as const;

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
    summary: "Commit the live document; answers 200 with the last commit if nothing has changed",
    description:
      "If no file has changed since the last commit, no commit is made and no webhook is called. In that case `name`, if given, becomes the name of the last commit and replaces the name that it had; `message` and `kind` are ignored. A commit is kept permanently and sends `article.updated` to webhooks. The server also makes a checkpoint after a pause in the edits. A 201 has the address of the commit in `Location`.",
    example: { message: "Rewrite the introduction" },
  }),
  list: operation({
    method: "GET",
    path: "/articles/{articleId}/commits",
    params,
    query: z.strictObject({
      ...pageQuery,
      author: z.string().max(100).meta({ description: "Only commits that contain text by this account.", example: "ana" }).optional(),
      kind: CommitKind.describe("Only commits of this kind.").optional(),
    }),
    replies: { 200: pageOf("commits", Commit, { id: "CommitList", description: "A page of commits.", items: "Commits, newest first." }) },
    credential: "any",
    scopes: ["articles:read"],
    resource: includingTrash,
    role: "read",
    summary: "List the commits of an article, newest first",
    description: "The list contains commits and checkpoints, each with its authors and the size of their changes.",
  }),
  get: operation({
    method: "GET",
    path: "/articles/{articleId}/commits/{commitId}",
    params: z.strictObject({ articleId: ArticleId, commitId: CommitId }),
    replies: { 200: Commit },
    replyHeaders: etag,
    credential: "any",
    scopes: ["articles:read"],
    resource: includingTrash,
    role: "read",
    summary: "Get a commit",
    description: "The answer has the message, the authors, and the number of lines added and removed in each file.",
  }),
  diff: operation({
    method: "GET",
    path: "/articles/{articleId}/diff",
    params,
    query: z.strictObject({
      from: RevisionOrLive.describe("Older revision, or `live` for the current text."),
      to: RevisionOrLive.describe("Newer revision, or `live` for the current text."),
      file: ArticleFile.describe("File to compare; `content.md` by default.").optional(),
      format: DiffFormat.describe("Format of the hunks; `unified` by default.").optional(),
    }),
    replies: { 200: ArticleDiff },
    credential: "any",
    scopes: ["articles:read"],
    resource: includingTrash,
    role: "read",
    errors: ["revision_gone"],
    summary: "Compare a file at two revisions, or a revision with the live text",
    description:
      "Both revisions must be available: committed revisions are kept permanently, other revisions for 24 hours. A revision that is no longer kept answers 410.",
  }),
} as const;
