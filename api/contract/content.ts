import { z } from "zod";
import { ArticleContent, ArticleFile, ContentFormat, EditRequest, EditResponse, ReplaceContentRequest } from "../schema/article.ts";
import { bytes, operation } from "./operation.ts";
import { articleParams, ofArticle, ofArticleOrTrash } from "./resource.ts";

/** Headers of a reply with a text. */
export const contentHeaders = {
  etag: 'Entity tag `"r<revision>"` of the text',
  "x-svc-content-hash": "SHA-256 (hex) of the file's UTF-8 bytes",
} as const;

/** Headers of a reply in a form that the caller chose. */
export const formHeaders = {
  ...contentHeaders,
  etag: 'Entity tag `"r<revision>"` of the text. HTML and plain text have `"r<revision>-<form>"`, which `If-Match` of an edit takes too.',
} as const;

/** Forms in which a text is read, the default first. */
export const contentMedia = {
  "application/json": ArticleContent,
  "text/markdown": bytes,
  "text/html": bytes,
  "text/plain": bytes,
  "application/octet-stream": bytes,
} as const;

export const content = {
  get: operation({
    method: "GET",
    path: "/articles/{articleId}/content",
    params: articleParams,
    query: z.strictObject({
      file: ArticleFile.describe("File to read; `content.md` by default.").optional(),
      format: ContentFormat.describe("Form of `content` in a JSON answer; `markdown` by default.").optional(),
      revision: z
        .int()
        .min(0)
        .meta({
          description: "Revision to read; the newest by default. The revision must be committed, or at most 24 hours old.",
          example: 42,
        })
        .optional(),
    }),
    replies: { 200: { media: contentMedia } },
    replyHeaders: formHeaders,
    credential: "any",
    scopes: ["articles:read"],
    resource: ofArticleOrTrash,
    role: "read",
    errors: ["revision_gone", "not_acceptable", "content_too_large"],
    summary: "Read a file of the article as JSON, Markdown, HTML or plain text, or the whole document as a Yjs update",
    description:
      "`Accept` selects the format: `application/json` (default), `text/markdown` for the bytes of the file, `text/html` and `text/plain` for the file as an HTML document or as words without markup, `application/octet-stream` for a Yjs update of the whole document. In a JSON answer, `format` selects the same forms. The HTML is sanitised: it has no script, style or embedded object. HTML, plain text and the syntax tree of a text above 512 Ki characters, or of one that takes too long, answer 413. Revisions without a commit are kept for 24 hours; a revision that is no longer kept answers 410.",
  }),
  edit: operation({
    method: "PATCH",
    path: "/articles/{articleId}/content",
    params: articleParams,
    bodies: { "application/json": EditRequest, "application/octet-stream": bytes },
    documentText: true,
    replies: { 200: EditResponse },
    replyHeaders: contentHeaders,
    credential: "any",
    scopes: ["articles:write"],
    resource: ofArticle,
    role: "write",
    ifMatch: true,
    errors: [
      "revision_conflict",
      "content_too_large",
      "content_not_accepted",
      "edit_too_complex",
      "precondition_required",
      "anchor_not_found",
      "anchor_ambiguous",
    ],
    summary: "Edit a file of the live document: replace, append, prepend or patch, merged against baseRevision; or apply a Yjs update",
    description:
      "The modes `replace`, `append` and `prepend` take `content`; the mode `patch` takes `edits`. The edit is merged with the changes since `baseRevision` and is sent to open editors at once. `replace` without `baseRevision` answers 428. Replacements whose text is not found are listed in `rejected`; if none is found, nothing changes and the answer is 422. A body of type `application/octet-stream` is applied as a Yjs update of at most 1 MiB.",
    example: { mode: "patch", baseRevision: 42, edits: [{ find: "teh draft", replace: "the draft" }], message: "Fix a typo" },
  }),
  replace: operation({
    method: "PUT",
    path: "/articles/{articleId}/content",
    params: articleParams,
    bodies: { "application/json": ReplaceContentRequest },
    documentText: true,
    replies: { 200: EditResponse },
    replyHeaders: contentHeaders,
    credential: "any",
    scopes: ["articles:write"],
    resource: ofArticle,
    role: "write",
    ifMatch: true,
    errors: ["revision_conflict", "content_too_large", "content_not_accepted", "edit_too_complex", "precondition_required"],
    summary: "Replace a file of the live document, merged against baseRevision",
    description:
      "The same as an edit with mode `replace`: changes by others since `baseRevision` are kept. Without `baseRevision` the answer is 428.",
    example: { baseRevision: 42, content: "# How a draft survives\n\nIt is written to disk first.\n" },
  }),
} as const;
