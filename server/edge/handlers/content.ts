/**
 * `createContentHandlers` connects the operations of `api/contract/content.ts` to their services.
 *
 * The contract says how results become replies; `reply` is only
 * where it cannot. Rules of the domain do not belong here.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import type { EditResponse } from "../../../api/schema/article.ts";
import type { ArticleService } from "../../domain/articles/service.ts";
import type { CallReply, Handlers } from "../../domain/call/call.ts";
import { recordEtag } from "../../domain/call/precondition.ts";
import { type ContentForms, serveContent, toContentReply } from "./contentForms.ts";

type ContentServices = ContentForms & Pick<ArticleService, "edits">;

function toEditReply(body: EditResponse): CallReply {
  return { status: 200, headers: { etag: recordEtag(body.revision), "x-svc-content-hash": body.contentHash }, body };
}

export function createContentHandlers({ edits, ...forms }: ContentServices) {
  return {
    get: {
      serve: ({ params, query, accept }, call) => serveContent(forms, params.articleId, query, accept, call),
      reply: toContentReply,
    },
    edit: {
      serve: ({ params, body }, call) =>
        "mediaType" in body
          ? forms.content.applyUpdate(params.articleId, body.bytes, call)
          : edits.edit(params.articleId, body, call, { answersCall: true }),
      reply: toEditReply,
    },
    replace: {
      serve: ({ params, body }, call) => edits.edit(params.articleId, { ...body, mode: "replace" }, call, { answersCall: true }),
      reply: toEditReply,
    },
  } satisfies Handlers<AppContract>["content"];
}
