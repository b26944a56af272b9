/** Draws inline Markdown, such as a cell of a table, as elements. HTML in the source is drawn as text, except line breaks. */
import { element } from "../core/dom.ts";
import { type SyntaxNode, syntaxMarks } from "../core/language.ts";
import { linkAddress } from "../core/links.ts";

const wrappers: Readonly<Record<string, "em" | "strong" | "del" | "code">> = {
  Emphasis: "em",
  StrongEmphasis: "strong",
  Strikethrough: "del",
  InlineCode: "code",
};

function link(address: string | undefined): HTMLElement {
  return address === undefined ? element("span") : element("span", { class: "cm-md-link", title: address, "data-address": address });
}

/** Appends the content of the node to the target. */
export function renderInline(target: HTMLElement, node: SyntaxNode, source: string): void {
  let end = node.from;
  const addText = (to: number) => {
    if (to > end) target.append(source.slice(end, to));
  };
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    addText(child.from);
    end = child.to;
    const text = source.slice(child.from, child.to);
    const wrapper = wrappers[child.name];
    if (wrapper !== undefined) {
      const inner = element(wrapper);
      renderInline(inner, child, source);
      target.append(inner);
    } else if (child.name === "Link" || child.name === "Autolink") {
      const url = child.getChild("URL");
      const inner = link(url === null ? undefined : linkAddress(source.slice(url.from, url.to)));
      if (url === null) inner.append(text);
      else if (child.name === "Autolink") inner.append(source.slice(url.from, url.to));
      else renderInline(inner, child, source);
      target.append(inner);
    } else if (child.name === "URL") {
      // The URL of a link or a picture is its target. Elsewhere it is a link by itself.
      if (node.name === "Link" || node.name === "Image") {
        end = node.to;
        return;
      }
      const inner = link(linkAddress(text));
      inner.append(text);
      target.append(inner);
    } else if (child.name === "Image") {
      const alt = element("span", { class: "cm-md-faint" });
      renderInline(alt, child, source);
      target.append(alt);
    } else if (child.name === "Escape") target.append(text.slice(1));
    else if (child.name === "HTMLTag" && /^<br\s*\/?>$/i.test(text)) target.append(element("br"));
    else if (!syntaxMarks.has(child.name)) target.append(text);
  }
  addText(node.to);
}
