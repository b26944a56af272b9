/**
 * FindFirstHeading returns the words of the first heading of Markdown that the converter has written, as the title of an article.
 *
 * It runs in the server, so it reads lines and parses the heading alone. The converter writes headings as `#` and code in fences.
 */
import type { Nodes } from "mdast";
import { frontMatter } from "../call/markdownParts.ts";
import { parseMarkdown } from "../call/parseMarkdown.ts";

/** A title is at the beginning of a text. */
const searchedCharacters = 16 * 1024;
const maxHeadingCharacters = 1000;
/** Headings that are parsed: a heading may have no words, and parsing thousands would take a second of the event loop. */
const maxHeadings = 20;

const heading = /^#{1,6}[ \t]+\S/;
const fence = /^ {0,3}(`{3,}|~{3,}|\${2,})(.*)$/;

export async function findFirstHeading(markdown: string): Promise<string | undefined> {
  let open: string | undefined;
  let headings = 0;
  for (const line of markdown.replace(frontMatter, "").slice(0, searchedCharacters).split("\n")) {
    const [, marks, rest = ""] = fence.exec(line) ?? [];
    if (open !== undefined) {
      if (marks?.startsWith(open) === true && rest.trim() === "") open = undefined;
    } else if (marks !== undefined && isBlockFence(marks, rest)) open = marks;
    else if (heading.test(line)) {
      const words = toText(await parseMarkdown(line.slice(0, maxHeadingCharacters)))
        .replace(/\s+/gu, " ")
        .trim();
      headings += 1;
      if (words !== "") return words;
      if (headings === maxHeadings) return undefined;
    }
  }
  return undefined;
}

/** A line with further marks of its kind begins inline code or an inline formula. */
function isBlockFence(marks: string, rest: string): boolean {
  return marks.startsWith("~") || !rest.includes(marks.charAt(0));
}

function toText(node: Nodes): string {
  if ("value" in node) return node.type === "html" ? "" : node.value;
  return "children" in node ? node.children.map(toText).join("") : "";
}
