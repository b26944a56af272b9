/** The headings of a syntax tree (mdast) that name one section, as `POST …/restore` finds them (docs/articles.md). */

interface TreeNode {
  readonly type: string;
  readonly depth?: number;
  readonly value?: string;
  readonly alt?: string | null;
  readonly children?: readonly TreeNode[];
}

export interface HeadingChoice {
  /** Position among the headings. */
  readonly at: number;
  /** From 1. */
  readonly depth: number;
  readonly text: string;
  /** Another heading has the same text, so the section cannot be named. */
  readonly isAmbiguous: boolean;
}

function toText(node: TreeNode): string {
  if (node.value !== undefined) return node.value;
  return node.children === undefined ? (node.alt ?? "") : node.children.map(toText).join("");
}

/** Headings in quotes and lists begin no section. `tree` is JSON text. */
export function toHeadings(tree: string): readonly HeadingChoice[] {
  const { children = [] } = JSON.parse(tree) as TreeNode;
  const headings = children
    .filter(({ type }) => type === "heading")
    .map((node) => ({ depth: node.depth ?? 1, text: toText(node).replace(/\s+/gu, " ").trim() }))
    .filter(({ text }) => text !== "");
  return headings.map((heading, at) => ({
    ...heading,
    at,
    isAmbiguous: headings.some((other, position) => position !== at && other.text === heading.text),
  }));
}
