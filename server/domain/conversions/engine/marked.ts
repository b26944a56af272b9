/**
 * Marked builds nested inline content (mdast) from a flat list of pieces with their marks, as DOCX and PDF have them.
 *
 * The mark that reaches furthest is the outermost, so `*a **b** c*` comes back as it was. White space at the edges of a
 * mark moves out of it, because Markdown does not accept it there.
 */
import type { PhrasingContent, Text } from "mdast";
import type { Mark } from "./phrasing.ts";

export interface MarkedNode {
  readonly node: PhrasingContent;
  readonly marks: ReadonlySet<Mark>;
  readonly url?: string | undefined;
}

type Wrap = Mark | "link";

const kinds: readonly Wrap[] = ["link", "strikethrough", "strong emphasis", "emphasis"];

export function nestMarks(pieces: readonly MarkedNode[], used: readonly Wrap[] = []): PhrasingContent[] {
  const nodes: PhrasingContent[] = [];
  for (let at = 0; at < pieces.length; ) {
    const start = at;
    const open = kinds
      .filter((kind) => !used.includes(kind))
      .map((kind) => ({ kind, end: findEnd(pieces, start, kind) }))
      .reduce((longest, run) => (run.end > longest.end ? run : longest), { kind: undefined as Wrap | undefined, end: start });
    const piece = pieces[start];
    if (piece === undefined) break;
    if (open.kind === undefined) {
      append(nodes, piece.node);
      at += 1;
      continue;
    }
    const { before, children, after } = trimEdges(nestMarks(pieces.slice(start, open.end), [...used, open.kind]));
    if (before !== "") append(nodes, { type: "text", value: before });
    if (children.length > 0) nodes.push(wrap(open.kind, piece.url ?? "", children));
    if (after !== "") append(nodes, { type: "text", value: after });
    at = open.end;
  }
  return nodes;
}

/** End (exclusive) of the run of pieces from `start` that have the same value of this mark; `start` if there is none. */
function findEnd(pieces: readonly MarkedNode[], start: number, kind: Wrap): number {
  const first = pieces[start];
  if (first === undefined || !has(first, kind)) return start;
  let end = start + 1;
  for (let next = pieces[end]; next !== undefined && has(next, kind); next = pieces[end]) {
    if (kind === "link" && next.url !== first.url) break;
    end += 1;
  }
  return end;
}

function has({ marks, url }: MarkedNode, kind: Wrap): boolean {
  return kind === "link" ? url !== undefined : marks.has(kind);
}

function wrap(kind: Wrap, url: string, children: PhrasingContent[]): PhrasingContent {
  switch (kind) {
    case "link":
      return { type: "link", url, children };
    case "strikethrough":
      return { type: "delete", children };
    case "strong emphasis":
      return { type: "strong", children };
    case "emphasis":
      return { type: "emphasis", children };
  }
}

function trimEdges(nodes: PhrasingContent[]): { before: string; children: PhrasingContent[]; after: string } {
  const children = [...nodes];
  const before = takeSpace(children, 0, /^\s+/u);
  const after = takeSpace(children, children.length - 1, /\s+$/u);
  return { before, children, after };
}

/** Removes white space from a text node, and the node if it becomes empty. Returns the white space. */
function takeSpace(children: PhrasingContent[], at: number, space: RegExp): string {
  const node = children[at];
  if (node?.type !== "text") return "";
  const taken = space.exec(node.value)?.[0] ?? "";
  const value = node.value.replace(space, "");
  if (value === "") children.splice(at, 1);
  else children[at] = { ...node, value };
  return taken;
}

/** Adds a node. Neighbouring texts become one, as a parser would return them. */
function append(nodes: PhrasingContent[], node: PhrasingContent): void {
  const last = nodes.at(-1);
  if (node.type === "text" && last?.type === "text")
    nodes[nodes.length - 1] = { type: "text", value: last.value + node.value } satisfies Text;
  else nodes.push(node);
}

/** Removes white space at both ends of a block. */
export function trimBlock(nodes: PhrasingContent[]): PhrasingContent[] {
  const { children } = trimEdges(nodes);
  while (children[0]?.type === "break") children.shift();
  while (children.at(-1)?.type === "break") children.pop();
  return children;
}
