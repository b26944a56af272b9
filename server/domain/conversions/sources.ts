/**
 * Reads the source of a requested conversion: an upload, content in the request, an article, or an address.
 *
 * The text of an article is read with the request, so that its revision is known and a later edit does not change the
 * result. An address is checked here and read when the work begins (sourceFetch.ts).
 */
import type { UploadedFile } from "../../../api/contract/operation.ts";
import type { ConversionInputFormat, ConversionSource } from "../../../api/schema/conversion.ts";
import { AppError, notFound } from "../../../api/schema/error.ts";
import type { ConversionSourceContext } from "../../../machines/conversion.ts";
import type { CheckPublicUrl } from "../../platform/outbound/publicUrl.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { Documents } from "../articles/port.ts";
import { articleRecord } from "../articles/records.ts";
import { refuseField } from "../call/refuseField.ts";
import { formatOfMediaType, formatOfName, isBinary, toBaseName } from "./formats.ts";

/** An uploaded file with the format that the request names, or the source of a JSON request. */
export type RequestedSource = ConversionSource | { readonly upload: UploadedFile; readonly format?: ConversionInputFormat | undefined };

export interface ReadSource {
  readonly from: ConversionInputFormat;
  readonly source: ConversionSourceContext;
  /** Absent for an address. */
  readonly bytes?: Uint8Array;
  /** True for an address whose format the request names. */
  readonly isFormatGiven?: true;
  /** Title of the document, if the source has one. */
  readonly title?: string;
  /** Name of the source, without an extension. */
  readonly name?: string;
}

/** A source whose format is known. Nothing of it has been read. */
export interface OpenedSource {
  readonly from: ConversionInputFormat;
  /** Throws if the source is malformed, refused or gone. */
  read(): Promise<ReadSource>;
}

export interface Sources {
  /** The caller's access to an article must be checked before. Throws `unsupported_media_type` for a file of an unknown format. */
  open(source: RequestedSource): OpenedSource;
}

export interface SourcesOptions {
  readonly storage: Pick<Storage, "records">;
  readonly documents: Pick<Documents, "read" | "readAt">;
  readonly checkUrl: CheckPublicUrl;
}

export function createSources({ storage, documents, checkUrl }: SourcesOptions): Sources {
  async function readArticle({
    articleId,
    file = "content.md",
    revision,
  }: Extract<ConversionSource, { articleId: unknown }>): Promise<ReadSource> {
    const article = (await storage.records.get(articleRecord, articleId))?.value;
    if (article === undefined || article.deletedAtMs !== undefined) throw notFound();
    const found =
      revision === undefined ? await documents.read(articleId) : { revision, texts: await documents.readAt(articleId, revision) };
    if (found.texts === undefined) {
      const detail = `Revision ${revision} is not available: it does not exist, or it was never committed and its text is no longer kept.`;
      throw new AppError("revision_gone", detail);
    }
    const { title } = article;
    const name = file === "content.md" ? title : `${title}, ${file.slice(0, file.indexOf("."))}`;
    const bytes = Buffer.from(found.texts[file], "utf8");
    return { from: "markdown", source: { articleId, file, revision: found.revision }, bytes, title, name };
  }

  async function readUrl({ url, format }: Extract<ConversionSource, { url: unknown }>, from: ConversionInputFormat): Promise<ReadSource> {
    const { url: checked } = await checkUrl(url).catch(throwInSource);
    const last = toLastSegment(checked);
    const name = last === "" ? checked.hostname : toBaseName(last);
    return { from, source: { url: checked.href }, name, ...(format === undefined ? {} : { isFormatGiven: true }) };
  }

  return {
    open(source) {
      if ("articleId" in source) return { from: "markdown", read: () => readArticle(source) };
      if ("url" in source) {
        const from = source.format ?? formatOfUrl(source.url);
        return { from, read: () => readUrl(source, from) };
      }
      if ("content" in source) {
        const { content, format } = source;
        return { from: format, read: async () => ({ from: format, source: {}, bytes: toBytes(content, format) }) };
      }
      const from = requireFormat(source.upload, source.format);
      return { from, read: async () => readUpload(source.upload, from) };
    },
  };
}

function requireFormat({ name, mediaType }: UploadedFile, format: ConversionInputFormat | undefined): ConversionInputFormat {
  const from = format ?? formatOfName(name) ?? formatOfMediaType(mediaType);
  if (from !== undefined) return from;
  const detail = "Neither the name nor the media type of the file says its format. Name the format in the field format.";
  throw new AppError("unsupported_media_type", detail, {
    errors: [{ pointer: "/format", code: "required", message: "is required for this file" }],
  });
}

/** An address that is no URL is refused when it is read. */
function formatOfUrl(url: string): ConversionInputFormat {
  return (URL.canParse(url) ? formatOfName(toLastSegment(new URL(url))) : undefined) ?? "html";
}

function readUpload({ name, bytes }: UploadedFile, from: ConversionInputFormat): ReadSource {
  return { from, source: name === undefined ? {} : { fileName: name }, bytes, ...(name === undefined ? {} : { name: toBaseName(name) }) };
}

function toBytes(content: string, format: ConversionInputFormat): Uint8Array {
  if (!isBinary(format)) return Buffer.from(content, "utf8");
  if (content.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(content))
    throw refuseField("source/content", `must be base64, because ${format} is not text`);
  return Buffer.from(content, "base64");
}

/** The end of the path as the name of a file. The cut may split a surrogate pair, whose first half is then removed. */
function toLastSegment({ pathname }: URL): string {
  const segment = pathname.split("/").at(-1) ?? "";
  return decodeSegment(segment)
    .replace(/[\p{Cc}/\\]/gu, "")
    .slice(0, 255)
    .replace(/\p{Surrogate}$/u, "");
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** The check of addresses knows the field only as `url`. */
function throwInSource(reason: unknown): never {
  if (!(reason instanceof AppError)) throw reason;
  const errors = reason.facts.errors?.map((finding) => ({ ...finding, pointer: `/source${finding.pointer}` }));
  throw new AppError(reason.code, reason.message, errors === undefined ? reason.facts : { ...reason.facts, errors });
}
