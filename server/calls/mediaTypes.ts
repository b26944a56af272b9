/** `Content-Type` and `Accept` of RFC 9110, as far as an API with few media types needs them. */
import { AppError } from "../../api/schema/error.ts";

/** The media type of a body in lower case without parameters; refuses a charset that is not UTF-8. */
export function readContentType(header: string | undefined): string | undefined {
  if (header === undefined || header === "application/json") return header;
  const [type = "", ...parameters] = header.split(";");
  for (const parameter of parameters) {
    // By hand: a pattern with room for spaces on both sides of a value takes seconds for a header full of them.
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

/** Bodies come as they are: a compressed one would pass every size limit. Refuses with 415 (RFC 9110 §8.4). */
export function requireNoEncoding(contentEncoding: string | undefined): void {
  if (contentEncoding === undefined || contentEncoding.trim().toLowerCase() === "identity") return;
  const detail = "The header content-encoding is not supported here; send the body as it is.";
  throw new AppError("unsupported_media_type", detail, {}, { "accept-encoding": "identity" });
}

interface Range {
  readonly type: string;
  readonly quality: number;
}

/** The offered type the client likes best; the first one when it has no preference. Refuses with 406. */
export function chooseMediaType(accept: string | undefined, offered: readonly string[]): string {
  const [first = ""] = offered;
  if (accept === undefined || accept.trim() === "" || accept === "*/*") return first;
  const ranges = accept.split(",").map(toRange);
  let best = { mediaType: "", quality: 0 };
  for (const mediaType of offered) {
    const quality = qualityOf(mediaType, ranges);
    if (quality > best.quality) best = { mediaType, quality };
  }
  if (best.quality === 0) throw new AppError("not_acceptable", `This can be had as ${offered.join(", ")}.`);
  return best.mediaType;
}

function toRange(text: string): Range {
  const [type = "", ...parameters] = text.split(";");
  const quality = parameters.map((parameter) => /^\s*q\s*=\s*([\d.]+)\s*$/i.exec(parameter)?.[1]).find((found) => found !== undefined);
  return { type: type.trim().toLowerCase(), quality: quality === undefined ? 1 : Math.min(1, Number(quality) || 0) };
}

/** The most specific range that covers the type decides. */
function qualityOf(mediaType: string, ranges: readonly Range[]): number {
  const group = `${mediaType.slice(0, mediaType.indexOf("/"))}/*`;
  for (const wanted of [mediaType, group, "*/*"]) {
    const range = ranges.find((candidate) => candidate.type === wanted);
    if (range !== undefined) return range.quality;
  }
  return 0;
}
