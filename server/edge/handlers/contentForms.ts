/**
 * ContentForms serves the text of an article in the form that a request accepts: JSON, Markdown, HTML, plain text or a Yjs
 * update.
 *
 * Forms that a writer makes have an entity tag of their own (AR35), because another version of the writer may write another
 * document for the same text.
 */
import type { ArticleContent, ArticleFile, ContentFormat } from "../../../api/schema/article.ts";
import type { ArticleService } from "../../domain/articles/service.ts";
import { type Call, type CallReply, RawReply } from "../../domain/call/call.ts";
import { recordEtag, renderedEtag } from "../../domain/call/precondition.ts";
import type { RenderedFormat, TextRenderer } from "../../domain/conversions/textRenderer.ts";

export interface ContentForms {
  readonly content: ArticleService["content"];
  readonly textRenderer: Pick<TextRenderer, "version" | "render">;
}

interface ContentReply {
  readonly revision: number;
  readonly contentHash: string;
  readonly body: ArticleContent | RawReply;
  /** Names the form in the entity tag; absent for the text itself. */
  readonly form?: string;
}

/** The requested text. Without `revision`, the live text. */
interface ContentQuery {
  readonly file?: ArticleFile | undefined;
  readonly format?: ContentFormat | undefined;
  readonly revision?: number | undefined;
}

const renderedTypes: Readonly<Record<string, RenderedFormat>> = { "text/html": "html", "text/plain": "text" };

/** A document that is opened in a browser tab must not run or load anything but pictures. */
const documentPolicy = "default-src 'none'; img-src https: data:; sandbox; frame-ancestors 'none'";

/** Reads a file in the form that the request accepts. */
export async function serveContent(
  { content, textRenderer }: ContentForms,
  articleId: string,
  { file = "content.md", format = "markdown", revision: wanted }: ContentQuery,
  [mediaType = "application/json"]: readonly string[],
  call: Call,
): Promise<ContentReply> {
  if (mediaType === "application/octet-stream") {
    const { revision, state, contentHash } = await content.readState(articleId, file, wanted);
    return { revision, contentHash, body: new RawReply(mediaType, state) };
  }
  const { revision, text, contentHash } = await content.readText(articleId, file, wanted);
  if (mediaType === "text/markdown") return { revision, contentHash, body: new RawReply(mediaType, Buffer.from(text, "utf8")) };
  const render = (as: RenderedFormat) => textRenderer.render(call.access?.workspaceId ?? "", { text, contentHash }, as);
  const rendered = renderedTypes[mediaType];
  if (rendered !== undefined) {
    const bytes = await render(rendered);
    return { revision, contentHash, body: new RawReply(mediaType, bytes), form: `${rendered}-${textRenderer.version}` };
  }
  const reply = { articleId, file, format, revision, contentHash };
  if (format === "html" || format === "text") {
    const shown = Buffer.from(await render(format)).toString();
    return { revision, contentHash, body: { ...reply, content: shown }, form: `json-${format}-${textRenderer.version}` };
  }
  return { revision, contentHash, body: { ...reply, content: format === "json" ? await content.toSyntaxTree(text, call) : text } };
}

export function toContentReply({ revision, contentHash, body, form }: ContentReply): CallReply {
  const etag = form === undefined ? recordEtag(revision) : renderedEtag(revision, form);
  return { status: 200, headers: { etag, "x-svc-content-hash": contentHash, vary: "accept", ...toTypeHeaders(body) }, body };
}

function toTypeHeaders(body: ArticleContent | RawReply): Readonly<Record<string, string>> {
  if (!(body instanceof RawReply) || renderedTypes[body.mediaType] === undefined) return {};
  return {
    "content-type": `${body.mediaType}; charset=utf-8`,
    "content-security-policy": documentPolicy,
  };
}
