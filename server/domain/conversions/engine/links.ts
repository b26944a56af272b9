/**
 * Links decides by their schemes which links an output may have. A link of a DOCX or PDF must not run a script, open a file of
 * the reader's computer, or hide a document in its address.
 */
import type { Loss } from "./document.ts";
import type { Piece } from "./phrasing.ts";

/** Schemes whose addresses run a script or have their content in themselves. */
export const scriptSchemes: ReadonlySet<string> = new Set(["javascript", "vbscript", "data"]);

/** Scheme of an address in lower case. Programs ignore white space and control characters inside of it. */
export function schemeOf(url: string): string | undefined {
  return /^([a-z][a-z0-9+.-]*):/i.exec(url.replace(/[\s\p{Cc}]+/gu, ""))?.[1]?.toLowerCase();
}

/** Removes unsafe links from pieces and keeps their text. Each removed link is one loss, however many pieces it had. */
export function dropUnsafeLinks(pieces: readonly Piece[]): { readonly pieces: readonly Piece[]; readonly losses: readonly Loss[] } {
  const losses: Loss[] = [];
  const safe = pieces.map((piece, at): Piece => {
    const { link, line } = piece;
    if (link === undefined || !isUnsafe(link.url)) return piece;
    if (pieces[at - 1]?.link?.url !== link.url) losses.push({ construct: "link", line });
    return { ...piece, link: undefined };
  });
  return { pieces: safe, losses };
}

function isUnsafe(url: string): boolean {
  const scheme = schemeOf(url);
  return scheme !== undefined && (scheme === "file" || scriptSchemes.has(scheme));
}
