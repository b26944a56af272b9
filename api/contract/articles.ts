import { z } from "zod";
import {
  Article,
  ArticleSort,
  CreateArticleRequest,
  DuplicateArticleRequest,
  PublishedState,
  UpdateArticleRequest,
} from "../schema/article.ts";
import { ArticlePresence } from "../schema/articleEvent.ts";
import { oneOrMore, pageQuery, unixSeconds } from "../schema/common.ts";
import { ArticleId, FolderId, WorkspaceId } from "../schema/id.ts";
import { TopicReference } from "../schema/run.ts";
import { operation } from "./operation.ts";
import { articleParams, ofArticle, resource } from "./resource.ts";

const includingTrash = { ...ofArticle, deleted: true } as const;
const replyHeaders = {
  etag: 'Entity tag `"r<revision>-<record revision>"`, with the revision of the last commit after a dot in the first part: `"r12.9-3"`. `If-Match` compares only the second part, so that edits of the text do not make a rename fail.',
} as const;

const article = resource({
  one: "an article",
  many: "articles",
  field: "articles",
  path: "/articles",
  id: { articleId: ArticleId },
  schema: Article,
  read: { credential: "any", scopes: ["articles:read"], resource: ofArticle, role: "read" },
  write: { credential: "any", scopes: ["articles:write"], resource: ofArticle, role: "write" },
});

export const articles = {
  create: article.create(CreateArticleRequest, {
    documentText: true,
    replyHeaders,
    resource: { kind: "workspace", in: "body", name: "workspaceId" },
    errors: ["content_too_large", "content_not_accepted"],
    summary: "Create an article, optionally with text for content.md or from a template",
    description:
      "The text is Markdown and is stored byte for byte. With `templateId` the text is that of the template, with the given values in its placeholders; a key then also needs the scope `templates:read`. Editors connect to the socket `/collab/{articleId}`; programs edit with `PATCH /articles/{articleId}/content`.",
    example: {
      workspaceId: "ws_01KAHX0000050123456789ABCD",
      title: "How a draft survives a power cut",
      content: "# How a draft survives\n",
    },
  }),
  list: article.list({
    query: z.strictObject({
      ...pageQuery,
      workspaceId: WorkspaceId.describe("Workspace whose articles are listed."),
      folderId: z
        .union([FolderId, z.literal("null")])
        .meta({
          description: "Only articles in this folder itself; `null` for those at the top level.",
          example: "fld_01KAHX0000050123456789ABCD",
        })
        .optional(),
      topicId: TopicReference.describe("Only the article of this topic, given by its id or its short id.").optional(),
      q: z
        .string()
        .max(200)
        .meta({ description: "Only articles whose title has words that start with each of these words.", example: "power cut" })
        .optional(),
      author: z
        .string()
        .max(100)
        .meta({ description: "Only articles that this account created, or of which a commit contains text by it.", example: "ana" })
        .optional(),
      published: oneOrMore(
        PublishedState,
        "Only articles whose public page is in one of these states, or `none` without a page; repeat the parameter for several.",
      ),
      updatedSince: unixSeconds(
        "Only articles that were committed, renamed, moved, restored or edited at this time or later. An edit is found a few seconds after it, also before it is committed.",
      ).optional(),
      deleted: z.boolean().describe("`true` lists the articles in the trash instead; `false` by default.").optional(),
      sort: ArticleSort.describe("Field to sort by; `createdAt` by default. Titles are compared without case and diacritics.").optional(),
      order: z.enum(["asc", "desc"]).describe("Sort direction; by default `asc` for `title`, otherwise `desc`.").optional(),
    }),
    resource: { kind: "workspace", in: "query", name: "workspaceId" },
    summary: "List the articles of a workspace, in one of several orders",
    description:
      "Newest first by default. Different filters are combined. Articles in the trash are listed only with `deleted`. A page can have fewer items than its limit and still have a `nextToken`.",
  }),
  get: article.get({
    replyHeaders,
    resource: includingTrash,
    summary: "Get an article",
    description:
      "The article without its text, also while the article is in the trash. `contentHash`, `files` and `wordCount` are those of the last commit; `revision` is that of the live document.",
  }),
  update: article.update(UpdateArticleRequest, {
    replyHeaders,
    summary: "Rename an article, change its slug, or move it to another folder",
    description:
      "Fields that are left out do not change. With `If-Match`, the request is refused (412) if the record has changed since the tag was read.",
    example: { title: "How a draft survives anything" },
  }),
  delete: article.delete({
    query: z.strictObject({
      permanent: z
        .boolean()
        .describe("`true` deletes the article permanently, which only administrators may do; `false` by default.")
        .optional(),
    }),
    resource: includingTrash,
    errors: ["insufficient_role"],
    summary: "Move an article to the trash, or delete it permanently (`permanent`, administrators only)",
    description:
      "An article in the trash is not public, its editors are disconnected (close code 4409) and its active run is cancelled. After 30 days it is deleted permanently.",
  }),
  undelete: operation({
    method: "POST",
    path: "/articles/{articleId}/undelete",
    params: articleParams,
    replies: { 200: Article },
    replyHeaders,
    credential: "any",
    scopes: ["articles:write"],
    resource: includingTrash,
    role: "write",
    errors: ["invalid_transition"],
    summary: "Restore an article from the trash",
    description:
      "The article returns with its text and its commits, but it is not public. Publish it again if needed. If its folder no longer exists, it returns to the top level.",
  }),
  duplicate: operation({
    method: "POST",
    path: "/articles/{articleId}/duplicate",
    params: articleParams,
    bodies: { "application/json": DuplicateArticleRequest },
    bodyOptional: true,
    replies: { 201: Article },
    replyHeaders: {
      ...replyHeaders,
      "x-svc-job": "Only if the article has so many reviews that a job copies the rest of them: the id of the job.",
    },
    location: "/articles/{articleId}",
    credential: "any",
    scopes: ["articles:write"],
    resource: ofArticle,
    role: "write",
    summary: "Copy an article with the live text of all its files",
    description:
      "The copy is a new document whose author is the caller. It has no commits, no topic and no public page, and later changes of either article do not reach the other one. With `includeReviews` it also has copies of the reviews, with their authors, replies, states and times; these copies send no webhook and no event.",
    example: { title: "How a draft survives, second edition" },
  }),
  presence: operation({
    method: "GET",
    path: "/articles/{articleId}/presence",
    params: articleParams,
    replies: { 200: ArticlePresence },
    credential: "any",
    scopes: ["articles:read"],
    resource: ofArticle,
    role: "read",
    summary: "List who has the article open",
    description:
      "Each connection to the document is listed, on all nodes: a person with two tabs is listed twice. Names, kinds and modes come from the credentials. On Redis a node that does not answer within a quarter of a second is missing. `GET /articles/{articleId}/stream` reports later changes.",
  }),
} as const;
