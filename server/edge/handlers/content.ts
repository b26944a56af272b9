/**
 * `createContentHandlers` connects the operations of `api/contract/content.ts` to their services.
 *
 * The contract says how results become replies; `reply` is only
 * where it cannot. Rules of the domain do not belong here.
 */
import type { AppContract } from "../../../api/contract/contract.ts";
import type { ArticleContent, ArticleFile, ContentFormat, EditResponse } from "../../../api/schema/article.ts";
import type { ArticleService } from "../../domain/articles/service.ts";
import { type Call, type CallReply, type Handlers, RawReply } from "../../domain/call/call.ts";
import { recordEtag } from "../../domain/call/precondition.ts";

type ContentServices = Pick<ArticleService, "content" | "edits">;

export interface ContentReply {
  readonly revision: number;
  readonly contentHash: string;
  readonly body: ArticleContent | RawReply;
}

function toEditReply(body: EditResponse): CallReply {
  return { status: 200, headers: { etag: recordEtag(body.revision), "x-svc-content-hash": body.contentHash }, body };
}

/** The requested text. Without `revision`, the live text. */
interface ContentQuery {
  readonly file?: ArticleFile | undefined;
  readonly format?: ContentFormat | undefined;
  readonly revision?: number | undefined;
}

/** Reads a file in the form that the request accepts. */
export async function serveContent(
  content: ArticleService["content"],
  articleId: string,
  { file = "content.md", format = "markdown", revision: wanted }: ContentQuery,
  [mediaType]: readonly string[],
  call: Call,
): Promise<ContentReply> {
  if (mediaType === "application/octet-stream") {
    const { revision, state, contentHash } = await content.readState(articleId, file, wanted);
    return { revision, contentHash, body: new RawReply(mediaType, state) };
  }
  const { revision, text, contentHash } = await content.readText(articleId, file, wanted);
  if (mediaType === "text/markdown") return { revision, contentHash, body: new RawReply(mediaType, Buffer.from(text, "utf8")) };
  const shown = format === "json" ? await content.toSyntaxTree(text, call) : text;
  return { revision, contentHash, body: { articleId, file, format, content: shown, revision, contentHash } };
}

export function toContentReply({ revision, contentHash, body }: ContentReply): CallReply {
  return { status: 200, headers: { etag: recordEtag(revision), "x-svc-content-hash": contentHash, vary: "accept" }, body };
}

export function createContentHandlers({ content, edits }: ContentServices) {
  return {
    get: {
      serve: ({ params, query, accept }, call) => serveContent(content, params.articleId, query, accept, call),
      reply: toContentReply,
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
