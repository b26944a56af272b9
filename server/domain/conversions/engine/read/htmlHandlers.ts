/**
 * HtmlHandlers turns the elements into Markdown that the usual handlers do not know: formulas, the footnotes that `remark-rehype`
 * writes, and links without an address.
 */
import type { Element, ElementContent } from "hast";
import type { FootnoteDefinition, Link, Nodes } from "mdast";
import type { Options } from "rehype-remark";
import { formulaReaders } from "../htmlFormulas.ts";

type Handlers = NonNullable<Options["handlers"]>;
type State = Parameters<NonNullable<Handlers[string]>>[0];

/** Matches the id of a footnote, as in `user-content-fn-1`. */
const footnoteId = /^(?:user-content-)?fn-(.+)$/;

export const htmlHandlers: Handlers = {
  ...formulaReaders,
  a(state, node: Element) {
    const { href, dataFootnoteRef, dataFootnoteBackref } = node.properties;
    if (dataFootnoteBackref !== undefined) return undefined;
    const identifier = dataFootnoteRef === undefined ? undefined : toIdentifier(String(href ?? "").replace(/^#/, ""));
    if (identifier !== undefined) return { type: "footnoteReference", identifier, label: identifier };
    if (typeof href !== "string" || href === "") return state.all(node);
    const title = typeof node.properties.title === "string" ? node.properties.title : null;
    const link: Link = { type: "link", url: href, title, children: state.all(node) as Link["children"] };
    state.patch(node, link);
    return link;
  },
  section(state, node: Element) {
    return node.properties.dataFootnotes === undefined ? state.all(node) : readFootnotes(state, node);
  },
};

function toIdentifier(id: string): string | undefined {
  const name = footnoteId.exec(id)?.[1];
  if (name === undefined) return undefined;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function readFootnotes(state: State, section: Element): Nodes[] {
  const list = section.children.find((child): child is Element => child.type === "element" && child.tagName === "ol");
  return (list?.children ?? []).flatMap((item): FootnoteDefinition[] => {
    if (item.type !== "element") return [];
    const identifier = toIdentifier(String(item.properties.id ?? ""));
    if (identifier === undefined) return [];
    trimBackReference(item);
    const children = state.toFlow(state.all(item)) as FootnoteDefinition["children"];
    return [{ type: "footnoteDefinition", identifier, label: identifier, children }];
  });
}

/** Removes the links back to the text, and the space before them. */
function trimBackReference(node: Element): void {
  node.children = node.children.filter((child) => !isBackReference(child));
  const last = node.children.at(-1);
  if (last?.type === "text") last.value = last.value.trimEnd();
  for (const child of node.children) if (child.type === "element") trimBackReference(child);
}

function isBackReference(node: ElementContent): boolean {
  return node.type === "element" && node.tagName === "a" && node.properties.dataFootnoteBackref !== undefined;
}
