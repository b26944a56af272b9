/**
 * Phrasing flattens the inline content of a block into pieces of text with their marks.
 *
 * Formats nest marks in different ways (`***a***` can be strong in emphasis or emphasis in strong), so marks are compared
 * and written as properties of text. Links of reference style are resolved with the definitions of the document.
 */
import type { Definition, FootnoteDefinition, Nodes, PhrasingContent, Root } from "mdast";
import { lineOf } from "./document.ts";

export type Mark = "emphasis" | "strong emphasis" | "strikethrough";

export interface Link {
  readonly url: string;
  readonly title?: string | null | undefined;
}

interface PieceBase {
  readonly marks: ReadonlySet<Mark>;
  readonly link?: Link | undefined;
  readonly line: number | undefined;
}

export type Piece =
  | (PieceBase & { readonly kind: "text" | "code" | "html" | "formula"; readonly value: string })
  | (PieceBase & { readonly kind: "break" })
  | (PieceBase & { readonly kind: "footnote"; readonly id: string })
  | (PieceBase & { readonly kind: "image"; readonly url: string; readonly alt: string });

export type Definitions = ReadonlyMap<string, Definition>;

const marks: Readonly<Partial<Record<Nodes["type"], Mark>>> = {
  emphasis: "emphasis",
  strong: "strong emphasis",
  delete: "strikethrough",
};

/** Collects the definitions of links and images. The first one of an identifier counts. */
export function findDefinitions(tree: Root): Definitions {
  const definitions = new Map<string, Definition>();
  const visit = (node: Nodes): void => {
    if (node.type === "definition" && !definitions.has(node.identifier)) definitions.set(node.identifier, node);
    if ("children" in node) for (const child of node.children) visit(child);
  };
  visit(tree);
  return definitions;
}

/** Collects the footnotes. The first definition of an identifier counts. */
export function findFootnotes(tree: Root): ReadonlyMap<string, FootnoteDefinition> {
  const footnotes = new Map<string, FootnoteDefinition>();
  const visit = (node: Nodes): void => {
    if (node.type === "footnoteDefinition" && !footnotes.has(node.identifier)) footnotes.set(node.identifier, node);
    if ("children" in node) for (const child of node.children) visit(child);
  };
  visit(tree);
  return footnotes;
}

export function toPieces(nodes: readonly PhrasingContent[], definitions: Definitions): readonly Piece[] {
  const pieces: Piece[] = [];
  const visit = (node: PhrasingContent, base: Omit<PieceBase, "line">): void => {
    const at = { ...base, line: lineOf(node) };
    switch (node.type) {
      case "text":
        pieces.push({ ...at, kind: "text", value: node.value });
        return;
      case "inlineCode":
        pieces.push({ ...at, kind: "code", value: node.value });
        return;
      case "html":
        pieces.push({ ...at, kind: "html", value: node.value });
        return;
      case "inlineMath":
        pieces.push({ ...at, kind: "formula", value: node.value });
        return;
      case "break":
        pieces.push({ ...at, kind: "break" });
        return;
      case "image":
        pieces.push({ ...at, kind: "image", url: node.url, alt: node.alt ?? "" });
        return;
      case "imageReference":
        pieces.push({ ...at, kind: "image", url: definitions.get(node.identifier)?.url ?? "", alt: node.alt ?? "" });
        return;
      case "footnoteReference":
        pieces.push({ ...at, kind: "footnote", id: node.identifier });
        return;
      case "link":
        for (const child of node.children) visit(child, { ...base, link: { url: node.url, title: node.title } });
        return;
      case "linkReference": {
        const definition = definitions.get(node.identifier);
        const link = definition === undefined ? {} : { link: { url: definition.url, title: definition.title } };
        for (const child of node.children) visit(child, { ...base, ...link });
        return;
      }
      case "emphasis":
      case "strong":
      case "delete": {
        const mark = marks[node.type];
        const inner = mark === undefined ? base.marks : new Set([...base.marks, mark]);
        for (const child of node.children) visit(child, { ...base, marks: inner });
        return;
      }
    }
  };
  for (const node of nodes) visit(node, { marks: new Set() });
  return pieces;
}

/** The alternative text of a picture that cannot be shown, as a link to the picture. */
export function toAlternative({ url, alt, marks, line, link }: Extract<Piece, { kind: "image" }>): Piece {
  const isAddress = /^https?:/i.test(url);
  return { kind: "text", value: alt === "" && isAddress ? url : alt, marks, line, link: link ?? (isAddress ? { url } : undefined) };
}

/** The plain text of a node and of everything below it. */
export function toText(node: Nodes): string {
  if ("value" in node) return node.type === "html" ? "" : node.value;
  if (node.type === "break") return "\n";
  return "children" in node ? node.children.map(toText).join("") : "";
}
