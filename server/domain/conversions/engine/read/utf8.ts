/** Decodes the bytes of a text document. */
import { ConversionFailure } from "../failure.ts";

/** Removes a byte order mark. Line ends become `\n`, so lines are counted alike everywhere. */
export function decodeUtf8(bytes: Uint8Array): string {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ConversionFailure("The document is not UTF-8 text; save it as UTF-8, or name the format that it has.");
  }
  const nul = text.indexOf("\0");
  if (nul !== -1) throw new ConversionFailure(`The document has a NUL character at offset ${nul}; it is not text.`);
  return text.replace(/\r\n?/g, "\n");
}
