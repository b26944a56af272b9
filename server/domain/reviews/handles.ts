/**
 * Finds the handles in a Markdown text: `@` and a username (api decisions: Handles).
 *
 * The text is parsed, because an `@` in code, in a link or in an e-mail address is no handle. A handle is the longest text
 * after the `@` that fits the grammar of usernames, whatever follows; punctuation at its end does not belong to it. The
 * time is linear in the length of the text, besides that of the parser.
 */
import { Username } from "../../../api/schema/common.ts";

/** The part of a Markdown syntax tree (mdast) that is read here. */
interface TreeNode {
  readonly type: string;
  readonly value?: string;
  readonly children?: readonly TreeNode[];
  readonly position?: { readonly start: { readonly offset?: number | undefined } } | undefined;
}

const withoutHandles = new Set(["link", "linkReference", "definition", "image", "imageReference", "inlineCode", "code", "html"]);
const handle = /@([a-z0-9._-]+)/gi;
/** Letters of these scripts may stand directly before a handle: their words have no spaces between them, or take endings. */
const unspaced = String.raw`[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}]`;
const endsInWord = new RegExp(String.raw`(?!${unspaced})[\p{L}\p{M}\p{N}]$`, "u");

/** Returns the different handles in lower case, in order of their first appearance. */
export function findHandlesIn(tree: object, markdown: string): readonly string[] {
  const found = new Set<string>();
  // A stack instead of recursion, because a text can nest its parts deeply.
  const open: TreeNode[] = [tree as TreeNode];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (withoutHandles.has(node.type)) continue;
    if (node.type === "text") collect(node, markdown, found);
    for (const child of (node.children ?? []).toReversed()) open.push(child);
  }
  return [...found];
}

function collect({ value = "", position }: TreeNode, markdown: string, found: Set<string>): void {
  for (const match of value.matchAll(handle)) {
    const isFirst = match.index === 0;
    const before = isFirst ? textBefore(markdown, position?.start.offset ?? 0) : textBefore(value, match.index);
    // An underscore before the first character of a text node is markup of an emphasis.
    if (endsInWord.test(before) || (!isFirst && before.endsWith("_"))) continue;
    const username = Username.safeParse(match[1]?.replace(/[._-]+$/, ""));
    if (username.success) found.add(username.data);
  }
}

/** The last character before an offset: two units, because it may be a surrogate pair. */
function textBefore(text: string, offset: number): string {
  return text.slice(Math.max(0, offset - 2), offset);
}
