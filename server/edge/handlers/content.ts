/**
 * `createContentHandlers` connects the operations of `api/contract/content.ts` to their services.
 *
 * The contract says how results become replies; `reply` is only
 * where it cannot. Rules of the domain do not belong here.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import type { ArticleContent, EditResponse } from "../../../api/schema/article.ts";
import type { ArticleService } from "../../domain/articles/service.ts";
import { type CallReply, type Handlers, RawReply } from "../../domain/call/call.ts";
import { recordEtag } from "../../domain/call/precondition.ts";

type ContentServices = Pick<ArticleService, "content" | "edits">;

interface ContentReply {
  readonly revision: number;
  readonly contentHash: string;
  readonly body: ArticleContent | RawReply;
}

function toEditReply(body: EditResponse): CallReply {
  return { status: 200, headers: { etag: recordEtag(body.revision), "x-svc-content-hash": body.contentHash }, body };
}

export function createContentHandlers({ content, edits }: ContentServices) {
  return {
    get: {
      async serve({ params, query, accept }, call): Promise<ContentReply> {
        const { articleId } = params;
        const { file = "content.md", format = "markdown" } = query;
        const [mediaType] = accept;
        if (mediaType === "application/octet-stream") {
          const { revision, state, contentHash } = await content.readState(articleId, file, query.revision);
          return { revision, contentHash, body: new RawReply(mediaType, state) };
        }
        const { revision, text, contentHash } = await content.readText(articleId, file, query.revision);
        if (mediaType === "text/markdown") return { revision, contentHash, body: new RawReply(mediaType, Buffer.from(text, "utf8")) };
        const shown = format === "json" ? await content.toSyntaxTree(text, call) : text;
        return { revision, contentHash, body: { articleId, file, format, content: shown, revision, contentHash } };
      },
      reply: ({ revision, contentHash, body }: ContentReply) => ({
        status: 200,
        headers: { etag: recordEtag(revision), "x-svc-content-hash": contentHash, vary: "accept" },
        body,
      }),
    },
    edit: {
      serve: ({ params, body }, call) =>
        "mediaType" in body ? content.applyUpdate(params.articleId, body.bytes, call) : edits.edit(params.articleId, body, call),
      reply: toEditReply,
    },
    replace: {
      serve: ({ params, body }, call) => edits.edit(params.articleId, { ...body, mode: "replace" }, call),
      reply: toEditReply,
    },
  } satisfies Handlers<AppContract>["content"];
}
