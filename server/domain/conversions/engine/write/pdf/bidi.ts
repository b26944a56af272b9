/** Bidi is the Unicode Bidirectional Algorithm of bidi-js: embedding levels of a text, and mirrored characters. */
import bidiFactory from "bidi-js";

interface Bidi {
  getEmbeddingLevels(text: string, direction: "ltr" | "rtl"): { readonly levels: Uint8Array };
  getMirroredCharacter(character: string): string | null;
}

/** The package is a function; its types describe a module that has the function as its default. */
export const bidi = (bidiFactory as unknown as () => Bidi)();
