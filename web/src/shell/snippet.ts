export interface SnippetPart {
  /** Position of the part in the snippet. */
  readonly at: number;
  readonly text: string;
  /** The part was searched for. */
  readonly isMatch: boolean;
}

const characters: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };

/** Reads the HTML of a search hit, which has only `<mark>` elements and escaped characters, into parts of plain text. */
export function splitSnippet(html: string): readonly SnippetPart[] {
  return html
    .split(/(<mark>.*?<\/mark>)/s)
    .filter((part) => part !== "")
    .map((part, at) => ({
      at,
      text: part.replace(/<\/?mark>/g, "").replace(/&(?:amp|lt|gt|quot|#39);/g, (escaped) => characters[escaped] ?? escaped),
      isMatch: part.startsWith("<mark>"),
    }));
}
