import { z } from "zod";
import { ArticleContent, ArticleFile, ContentFormat, EditRequest, EditResponse, ReplaceContentRequest } from "../schema/article.ts";
import { ArticleId } from "../schema/id.ts";
import { bytes, operation } from "./operation.ts";

const params = z.strictObject({ articleId: ArticleId });
const resource = { kind: "article", in: "params", name: "articleId" } as const;
const replyHeaders = {
  etag: 'Entity tag `"r<revision>"` of the text',
  "x-svc-content-hash": "SHA-256 (hex) of the file's UTF-8 bytes",
} as const;

export const content = {
  get: operation({
    method: "GET",
    path: "/articles/{articleId}/content",
    params,
    query: z.strictObject({
      file: ArticleFile.describe("File to read; `content.md` by default.").optional(),
      format: ContentFormat.describe("Form of `content` in a JSON answer; `markdown` by default.").optional(),
      revision: z
        .int()
        .min(0)
        .meta({ description: "Revision to read, a kept or committed one; the newest by default.", example: 42 })
        .optional(),
    }),
    replies: { 200: { media: { "application/json": ArticleContent, "text/markdown": bytes, "application/octet-stream": bytes } } },
    replyHeaders,
    credential: "any",
    scopes: ["articles:read"],
    resource,
    role: "read",
    errors: ["revision_gone", "not_acceptable"],
    summary: "Read a file of the article as Markdown, JSON or (whole document) a Yjs update",
    description:
      "`Accept` decides: `application/json` (default), `text/markdown` for the bytes of the file, `application/octet-stream` for a Yjs update of the whole document. Uncommitted revisions are kept for 24 hours; one that is gone answers 410.",
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
    errors: ["revision_conflict", "content_too_large", "content_not_accepted", "edit_too_complex", "precondition_required"],
    summary: "Edit a file of the live document: replace, append, prepend or patch, merged against baseRevision; or apply a Yjs update",
    description:
      "Modes `replace`, `append` and `prepend` take `content`, mode `patch` takes `edits`. The edit is merged with what others typed since `baseRevision`, and reaches open editors at once. `replace` without `baseRevision` answers 428. Replacements that do not match are told in `rejected`; if none matches, nothing is changed and the answer is 422. With the body `application/octet-stream` a Yjs update is applied instead, of at most 1 MiB.",
    example: { mode: "patch", baseRevision: 42, edits: [{ find: "teh draft", replace: "the draft" }], message: "Fix a typo" },
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
    errors: ["revision_conflict", "content_too_large", "content_not_accepted", "edit_too_complex", "precondition_required"],
    summary: "Replace a file of the live document, merged against baseRevision",
    description:
      "The same as an edit with mode `replace`: what others typed since `baseRevision` is kept. Without `baseRevision` it answers 428.",
    example: { baseRevision: 42, content: "# How a draft survives\n\nIt is written to disk first.\n" },
  }),
} as const;
