import { z } from "zod";
import { bytes, operation } from "../operation.ts";
import { ArticleContent, ArticleFile, ContentFormat, EditRequest, EditResponse, ReplaceContentRequest } from "../schema/article.ts";
import { ArticleId } from "../schema/id.ts";

const params = z.strictObject({ articleId: ArticleId });
const resource = { kind: "article", in: "params", name: "articleId" } as const;
const replyHeaders = { etag: '"r<revision>"', "x-svc-content-hash": "SHA-256 (hex) of the file's UTF-8 bytes" } as const;

export const content = {
  get: operation({
    method: "GET",
    path: "/articles/{articleId}/content",
    params,
    query: z.strictObject({ file: ArticleFile.optional(), format: ContentFormat.optional(), revision: z.int().min(0).optional() }),
    replies: { 200: { media: { "application/json": ArticleContent, "text/markdown": bytes, "application/octet-stream": bytes } } },
    replyHeaders,
    credential: "any",
    scopes: ["articles:read"],
    resource,
    role: "read",
    errors: ["revision_gone", "not_acceptable"],
    summary: "Read a file of the article as Markdown, JSON or (whole document) a Yjs update",
  }),
  edit: operation({
    method: "PATCH",
    path: "/articles/{articleId}/content",
    params,
    bodies: { "application/json": EditRequest, "application/octet-stream": bytes },
    documentText: true,
    replies: { 200: EditResponse },
    replyHeaders,
    credential: "any",
    scopes: ["articles:write"],
    resource,
    role: "write",
    ifMatch: true,
    errors: ["revision_conflict", "content_too_large", "content_not_accepted", "precondition_required"],
    summary: "Edit a file of the live document: replace, append, prepend or patch, merged against baseRevision; or apply a Yjs update",
  }),
  replace: operation({
    method: "PUT",
    path: "/articles/{articleId}/content",
    params,
    bodies: { "application/json": ReplaceContentRequest },
    documentText: true,
    replies: { 200: EditResponse },
    replyHeaders,
    credential: "any",
    scopes: ["articles:write"],
    resource,
    role: "write",
    ifMatch: true,
    errors: ["revision_conflict", "content_too_large", "content_not_accepted", "precondition_required"],
    summary: "Replace a file of the live document, merged against baseRevision",
  }),
} as const;
