/**
 * This module reads the headers `Content-Type`, `Content-Encoding`, `Accept` and `Accept-Encoding` (RFC 9110).
 *
 * It implements only what an API with few media types needs. It does not know the operations.
 */
import { AppError } from "../../../api/schema/error.ts";

/** Returns the media type of a body, in lower case and without parameters. Refuses a charset other than UTF-8 with 415. */
export function readContentType(header: string | undefined): string | undefined {
  if (header === undefined || header === "application/json") return header;
  const [type = "", ...parameters] = header.split(";");
  for (const parameter of parameters) {
    // No regular expression: one that allows spaces around the value takes seconds for a header full of spaces.
    const equals = parameter.indexOf("=");
    if (equals === -1 || parameter.slice(0, equals).trim().toLowerCase() !== "charset") continue;
    const value = parameter
      .slice(equals + 1)
      .trim()
      .toLowerCase();
    if (value !== "utf-8" && value !== '"utf-8"') {
      throw new AppError("unsupported_media_type", "The body must be encoded in UTF-8.");
    }
  }
  return type.trim().toLowerCase();
}

/** Refuses compressed bodies with 415 (RFC 9110 §8.4), because the size limits count the bytes before decompression. */
export function requireNoEncoding(contentEncoding: string | undefined): void {
  if (contentEncoding === undefined || contentEncoding.trim().toLowerCase() === "identity") return;
  const detail = "The header content-encoding is not supported here; send the body as it is.";
  throw new AppError("unsupported_media_type", detail, {}, { "accept-encoding": "identity" });
}

interface Range {
  readonly type: string;
  readonly quality: number;
}

/**
 * Returns the offered media types that the client accepts, the most preferred first. Types of equal quality keep the
 * order of `offered`. Refuses with 406 if the client accepts none.
 */
export function rankMediaTypes(accept: string | undefined, offered: readonly string[]): readonly string[] {
  if (accept === undefined || accept.trim() === "" || accept === "*/*") return offered;
  const ranges = accept.split(",").map(toRange);
  const ranked = offered
    .map((mediaType) => ({ mediaType, quality: qualityOf(mediaType, ranges) }))
    .filter(({ quality }) => quality > 0)
    .sort((left, right) => right.quality - left.quality);
  if (ranked.length === 0) throw notAcceptable(offered);
  return ranked.map(({ mediaType }) => mediaType);
}

/**
 * Returns the first ranked type that the resource has. An operation may offer more types than a single resource has.
 * Refuses with 406 if none fits.
 */
export function pickMediaType<MediaType extends string>(ranked: readonly string[], available: readonly MediaType[]): MediaType {
  for (const mediaType of ranked) {
    const picked = available.find((candidate) => candidate === mediaType);
    if (picked !== undefined) return picked;
  }
  throw notAcceptable(available);
}

/**
 * Returns the content coding that the client prefers, of equally preferred ones the first. Returns `identity` without
 * the header, and also if the client accepts nothing that is offered: RFC 9110 §12.5.3 allows to ignore the header.
 */
export function pickCoding<Coding extends string>(acceptEncoding: string | undefined, offered: readonly Coding[]): Coding | "identity" {
  if (acceptEncoding === undefined || offered.length === 0) return "identity";
  const ranges = acceptEncoding.split(",").map(toRange);
  const any = ranges.find(({ type }) => type === "*");
  const [best] = [...offered, "identity" as const]
    .map((coding) => ({ coding, quality: (ranges.find(({ type }) => type === coding) ?? any)?.quality ?? 0 }))
    .sort((left, right) => right.quality - left.quality);
  return best !== undefined && best.quality > 0 ? best.coding : "identity";
}

function notAcceptable(available: readonly string[]): AppError {
  return new AppError("not_acceptable", `The header Accept accepts none of the available media types: ${available.join(", ")}.`);
}

function toRange(text: string): Range {
  const [type = "", ...parameters] = text.split(";");
  const quality = parameters.map((parameter) => /^\s*q\s*=\s*([\d.]+)\s*$/i.exec(parameter)?.[1]).find((found) => found !== undefined);
  return { type: type.trim().toLowerCase(), quality: quality === undefined ? 1 : Math.min(1, Number(quality) || 0) };
}

/** Quality of the most specific range that matches the type; 0 if none matches. */
function qualityOf(mediaType: string, ranges: readonly Range[]): number {
  const group = `${mediaType.slice(0, mediaType.indexOf("/"))}/*`;
  for (const wanted of [mediaType, group, "*/*"]) {
    const range = ranges.find((candidate) => candidate.type === wanted);
    if (range !== undefined) return range.quality;
  }
  return 0;
}
