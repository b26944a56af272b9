import { z } from "zod";
import {
  ArticleDiff,
  ArticleFile,
  Commit,
  CommitKind,
  ContentFormat,
  CreateCommitRequest,
  DiffFormat,
  RevisionOrLive,
} from "../schema/article.ts";
import { pageQuery } from "../schema/common.ts";
import { BlameSpan, RestoreRequest } from "../schema/history.ts";
import { CommitId } from "../schema/id.ts";
import { contentHeaders, contentMedia, formHeaders } from "./content.ts";
import { operation } from "./operation.ts";
import { articleParams, etag, ofArticle, ofArticleOrTrash, pageOf } from "./resource.ts";

const commitParams = articleParams.extend({ commitId: CommitId });

export const commits = {
  create: operation({
    method: "POST",
    path: "/articles/{articleId}/commits",
    params: articleParams,
    bodies: { "application/json": CreateCommitRequest },
    bodyOptional: true,
    replies: { 200: Commit, 201: Commit },
    credential: "any",
    scopes: ["articles:write"],
    resource: ofArticle,
    role: "write",
    summary: "Commit the live document; answers 200 with the last commit if nothing has changed",
    description:
      "If no file has changed since the last commit, no commit is made and no webhook is called. In that case `name`, if given, becomes the name of the last commit and replaces the name that it had; `message` and `kind` are ignored. A commit is kept permanently and sends `article.updated` to webhooks. The server also makes a checkpoint after a pause in the edits. A 201 has the address of the commit in `Location`.",
    example: { message: "Rewrite the introduction" },
  }),
  list: operation({
    method: "GET",
    path: "/articles/{articleId}/commits",
    params: articleParams,
    query: z.strictObject({
      ...pageQuery,
      author: z.string().max(100).meta({ description: "Only commits that contain text by this account.", example: "ana" }).optional(),
      kind: CommitKind.describe("Only commits of this kind.").optional(),
    }),
    replies: { 200: pageOf("commits", Commit, { id: "CommitList", description: "A page of commits.", items: "Commits, newest first." }) },
    credential: "any",
    scopes: ["articles:read"],
    resource: ofArticleOrTrash,
    role: "read",
    summary: "List the commits of an article, newest first",
    description: "The list contains commits and checkpoints, each with its authors and the size of their changes.",
  }),
  get: operation({
    method: "GET",
    path: "/articles/{articleId}/commits/{commitId}",
    params: commitParams,
    replies: { 200: Commit },
    replyHeaders: etag,
    credential: "any",
    scopes: ["articles:read"],
    resource: ofArticleOrTrash,
    role: "read",
    summary: "Get a commit",
    description: "The answer has the message, the authors, and the number of lines added and removed in each file.",
  }),
  content: operation({
    method: "GET",
    path: "/articles/{articleId}/commits/{commitId}/content",
    params: commitParams,
    query: z.strictObject({
      file: ArticleFile.describe("File to read; `content.md` by default.").optional(),
      format: ContentFormat.describe("Form of `content` in a JSON answer; `markdown` by default.").optional(),
    }),
    replies: { 200: { media: contentMedia } },
    replyHeaders: formHeaders,
    credential: "any",
    scopes: ["articles:read"],
    resource: ofArticleOrTrash,
    role: "read",
    errors: ["revision_gone", "not_acceptable", "content_too_large"],
    summary: "Read a file as it is in a commit",
    description:
      "The formats are those of `GET /articles/{articleId}/content`. Committed text is kept permanently. Only the Yjs update of an old commit answers 410, because it can be built for 24 hours.",
  }),
  restore: operation({
    method: "POST",
    path: "/articles/{articleId}/restore",
    params: articleParams,
    bodies: { "application/json": RestoreRequest },
    replies: { 200: Commit, 201: Commit },
    credential: "any",
    scopes: ["articles:write"],
    resource: ofArticle,
    role: "write",
    ifMatch: true,
    errors: ["revision_gone", "anchor_not_found", "anchor_ambiguous", "content_too_large"],
    summary: "Return to an earlier text: all files, one file or one section",
    description:
      "The live document is edited as little as needed and then committed with kind `restore`. Text that others type meanwhile is kept. The author is the caller. If the live document equals the last commit afterwards, no commit is made and the answer is 200 with that commit. `If-Match` compares the ETag of the content. A `section` must have exactly one such heading, both in the revision and in the live text.",
    example: { revision: 30, file: "content.md", section: "How it survives" },
  }),
  blame: operation({
    method: "GET",
    path: "/articles/{articleId}/blame",
    params: articleParams,
    query: z.strictObject({
      nextToken: pageQuery.nextToken,
      file: ArticleFile.describe("File to read; `content.md` by default.").optional(),
      revision: z.int().min(0).meta({ description: "A committed revision; that of the last commit by default.", example: 42 }).optional(),
    }),
    replies: {
      200: pageOf("spans", BlameSpan, {
        id: "BlameSpanList",
        description: "The authors of a text.",
        items: "Parts of the text in their order, without gaps.",
      }),
    },
    replyHeaders: contentHeaders,
    credential: "any",
    scopes: ["articles:read"],
    resource: ofArticleOrTrash,
    role: "read",
    errors: ["revision_gone"],
    summary: "Show who wrote each part of a committed text",
    description:
      "Each part has its author (a person, an agent or an API key) and the first commit that contains it. The authors are stored with each commit. `x-svc-content-hash` identifies the described text and `ETag` its revision. Up to 1,000 parts are on a page; a `nextToken` is valid for the same revision only. An article without a commit has no parts, and a revision without a commit answers 410.",
  }),
  diff: operation({
    method: "GET",
    path: "/articles/{articleId}/diff",
    params: articleParams,
    query: z.strictObject({
      from: RevisionOrLive.describe("Older revision, or `live` for the current text."),
      to: RevisionOrLive.describe("Newer revision, or `live` for the current text."),
      file: ArticleFile.describe("File to compare; `content.md` by default.").optional(),
      format: DiffFormat.describe("Format of the hunks; `unified` by default.").optional(),
    }),
    replies: { 200: ArticleDiff },
    credential: "any",
    scopes: ["articles:read"],
    resource: ofArticleOrTrash,
    role: "read",
    errors: ["revision_gone"],
    summary: "Compare a file at two revisions, or a revision with the live text",
    description:
      "Both revisions must be available: committed revisions are kept permanently, other revisions for 24 hours. A revision that is no longer kept answers 410.",
  }),
} as const;
