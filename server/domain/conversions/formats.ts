/** Finds the format of a document by its name or its media type, and names the files of outputs. */
import {
  type ConversionInputFormat,
  type ConversionOutputFormat,
  conversionInputFormats,
  conversionMediaTypes,
} from "../../../api/schema/conversion.ts";

const extensions: Readonly<Record<ConversionOutputFormat, readonly [string, ...string[]]>> = {
  markdown: ["md", "markdown"],
  html: ["html", "htm"],
  docx: ["docx"],
  pdf: ["pdf"],
  txt: ["txt"],
  json: ["json"],
};

/** Formats whose bytes are not UTF-8 text. */
export function isBinary(format: ConversionOutputFormat): boolean {
  return format === "docx" || format === "pdf";
}

export function formatOfName(fileName: string | undefined): ConversionInputFormat | undefined {
  const extension = /\.([A-Za-z]{1,10})$/.exec(fileName ?? "")?.[1]?.toLowerCase();
  return extension === undefined ? undefined : conversionInputFormats.find((format) => extensions[format].includes(extension));
}

/** `mediaType` may have parameters. */
export function formatOfMediaType(mediaType: string | undefined): ConversionInputFormat | undefined {
  const plain = mediaType?.split(";")[0]?.trim().toLowerCase();
  return conversionInputFormats.find((format) => conversionMediaTypes[format] === plain);
}

/** The name without the extension of a known format. */
export function toBaseName(fileName: string): string {
  const base = formatOfName(fileName) === undefined ? fileName : fileName.slice(0, fileName.lastIndexOf("."));
  return base.trim() === "" ? fileName : base;
}

export function toOutputName(baseName: string, to: ConversionOutputFormat): string {
  return `${baseName}.${extensions[to][0]}`;
}

/**
 * Value of the header `Content-Disposition` (RFC 6266). Old clients read the plain name; all others read the encoded one,
 * which may have any character.
 */
export function toDisposition(fileName: string): string {
  const plain = fileName.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(fileName).replace(/['()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
