/**
 * Converts pasted HTML to Markdown: headings, paragraphs, emphasis, links, pictures, lists, tasks, quotes, code, tables, rules.
 *
 * The HTML is parsed into a document that is never shown: no script of it runs and no picture is loaded. Everything that is
 * not in the list above becomes its text.
 */
import { imageAddress, linkAddress } from "../core/links.ts";

const skipped: ReadonlySet<string> = new Set([
  "SCRIPT",
  "STYLE",
  "HEAD",
  "TEMPLATE",
  "NOSCRIPT",
  "TITLE",
  "META",
  "LINK",
  "SVG",
  "OBJECT",
  "IFRAME",
]);
const blocks: ReadonlySet<string> = new Set(
  "ADDRESS ARTICLE ASIDE BLOCKQUOTE DD DETAILS DIV DL DT FIGCAPTION FIGURE FOOTER H1 H2 H3 H4 H5 H6 HEADER HR LI MAIN NAV OL P PRE SECTION SUMMARY TABLE UL".split(
    " ",
  ),
);

/** Escapes what Markdown would read as syntax within a line. An underscore inside a word is no syntax. */
function escapeText(text: string): string {
  return text
    .replace(/[\\`*[\]<]/g, "\\$&")
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "\\_")
    .replace(/~~/g, "\\~\\~");
}

/** Escapes what would make a paragraph another block. */
function escapeStart(text: string): string {
  return text
    .replace(/^(\s*)(#{1,6}(?=\s|$)|[-+](?=\s|$)|>|={3,}\s*$|-{3,}\s*$)/, "$1\\$2")
    .replace(/^(\s*\d{1,9})([.)])(?=\s|$)/, "$1\\$2");
}

/** Puts marks around text. Outer spaces stay outside, because marks with spaces inside are no emphasis. */
function wrap(text: string, mark: string): string {
  const inner = text.trim();
  if (inner === "") return text;
  const from = text.indexOf(inner);
  return `${text.slice(0, from)}${mark}${inner}${mark}${text.slice(from + inner.length)}`;
}

function codeSpan(text: string): string {
  const content = text.replace(/\s+/g, " ").trim();
  if (content === "") return "";
  const runs = [...content.matchAll(/`+/g)].map(([run]) => run.length);
  const mark = "`".repeat(Math.max(0, ...runs) + 1);
  return runs.length === 0 ? mark + content + mark : `${mark} ${content} ${mark}`;
}

/** Google Docs encloses everything in a `b` with normal weight, and marks emphasis by styles. */
function isBold(element: HTMLElement): boolean {
  const { fontWeight } = element.style;
  if (fontWeight !== "") return fontWeight === "bold" || Number(fontWeight) >= 600;
  return element.tagName === "B" || element.tagName === "STRONG";
}

function isItalic(element: HTMLElement): boolean {
  if (element.style.fontStyle !== "") return element.style.fontStyle === "italic";
  return element.tagName === "I" || element.tagName === "EM";
}

const isStruck = (element: HTMLElement) =>
  ["DEL", "S", "STRIKE"].includes(element.tagName) || element.style.textDecoration.includes("line-through");

function inlineElement(element: HTMLElement): string {
  const { tagName } = element;
  if (tagName === "BR") return "\\\n";
  if (tagName === "IMG") {
    const address = imageAddress(element.getAttribute("src") ?? "");
    const alternative = escapeText((element.getAttribute("alt") ?? "").replace(/\s+/g, " ").trim());
    return address === undefined || address.startsWith("/") ? alternative : `![${alternative}](${address})`;
  }
  if (tagName === "CODE" || tagName === "KBD" || tagName === "SAMP" || tagName === "TT") return codeSpan(element.textContent);
  let text = inlineContent(element);
  if (isStruck(element)) text = wrap(text, "~~");
  if (isItalic(element)) text = wrap(text, "*");
  if (isBold(element)) text = wrap(text, "**");
  if (tagName !== "A" || text.trim() === "") return text;
  const address = linkAddress(element.getAttribute("href") ?? "");
  return address === undefined ? text : `[${text.trim()}](${address.replace(/[()]/g, (sign) => (sign === "(" ? "%28" : "%29"))})`;
}

function inlineNode(node: Node): string {
  if (node instanceof Text) return escapeText(node.data.replace(/\s+/g, " "));
  if (!(node instanceof HTMLElement) || skipped.has(node.tagName)) return "";
  return inlineElement(node);
}

function inlineContent(parent: Node): string {
  return [...parent.childNodes].map(inlineNode).join("");
}

/** Removes spaces at the ends of lines, and line breaks at the ends of the paragraph. */
function tidy(text: string): string {
  return text
    .replace(/[ \t]*(\\?)\n[ \t]*/g, "$1\n")
    .replace(/^(?:\\?\n|\s)+|(?:\\?\n|\s)+$/g, "")
    .replace(/ {2,}/g, " ");
}

const indent = (text: string, by: string) => text.replace(/\n(?=[^\n])/g, `\n${by}`);

function list(element: HTMLElement): string {
  const isOrdered = element.tagName === "OL";
  let number = Number.parseInt(element.getAttribute("start") ?? "1", 10) || 1;
  const items: string[] = [];
  for (const child of element.children) {
    // Some programs put inner lists beside the item instead of into it.
    if (child instanceof HTMLElement && (child.tagName === "UL" || child.tagName === "OL")) {
      items.push(`${items.pop() ?? "-"}\n${indent(`\n${list(child)}`, isOrdered ? "   " : "  ").slice(1)}`);
    } else if (child instanceof HTMLElement) {
      const box = child.querySelector<HTMLInputElement>(':scope > input[type="checkbox"], :scope > p > input[type="checkbox"]');
      const task = box === null ? "" : box.checked ? "[x] " : "[ ] ";
      const mark = isOrdered ? `${number}. ` : "- ";
      items.push(mark + task + indent(blockContent(child, "\n"), " ".repeat(mark.length)));
      number += 1;
    }
  }
  return items.join("\n");
}

function codeBlock(element: HTMLElement): string {
  const text = element.textContent.replace(/\n$/, "");
  const named = /(?:language|lang)-([\w+#-]+)/.exec(`${element.className} ${element.querySelector("code")?.className ?? ""}`)?.[1];
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${named ?? ""}\n${text}\n${fence}`;
}

function table(element: HTMLElement): string {
  const rows = [...element.querySelectorAll("tr")].map((row) =>
    [...row.querySelectorAll<HTMLElement>(":scope > th, :scope > td")].map((cell) =>
      tidy(inlineContent(cell)).replace(/\\?\n/g, "<br>").replace(/\|/g, "\\|"),
    ),
  );
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const [header, ...others] = rows;
  if (header === undefined || columns === 0) return "";
  // One cell only is a frame for its content.
  if (rows.length === 1 && columns === 1) return blockContent(element.querySelector("td, th") ?? element, "\n\n");
  const toLine = (cells: readonly string[]) => `| ${Array.from({ length: columns }, (_, index) => cells[index] ?? "").join(" | ")} |`;
  return [toLine(header), `|${" --- |".repeat(columns)}`, ...others.map(toLine)].join("\n");
}

function block(element: HTMLElement): string {
  const level = /^H([1-6])$/.exec(element.tagName)?.[1];
  if (level !== undefined) {
    const text = tidy(inlineContent(element)).replace(/\\?\n/g, " ");
    return text === "" ? "" : `${"#".repeat(Number(level))} ${text}`;
  }
  switch (element.tagName) {
    case "HR":
      return "---";
    case "PRE":
      return codeBlock(element);
    case "UL":
    case "OL":
      return list(element);
    case "TABLE":
      return table(element);
    case "BLOCKQUOTE":
      return blockContent(element, "\n\n")
        .split("\n")
        .map((line) => (line === "" ? ">" : `> ${line}`))
        .join("\n");
    default:
      return blockContent(element, "\n\n");
  }
}

/** True if the element is a block, or an inline element around blocks, as in the pages of Google Docs. */
function holdsBlocks(node: Node): node is HTMLElement {
  if (!(node instanceof HTMLElement) || skipped.has(node.tagName)) return false;
  return blocks.has(node.tagName) || [...node.children].some(holdsBlocks);
}

function blockContent(parent: Element, separator: string): string {
  const parts: string[] = [];
  let inline = "";
  const endParagraph = () => {
    const text = tidy(inline);
    if (text !== "") parts.push(escapeStart(text));
    inline = "";
  };
  for (const child of parent.childNodes) {
    if (holdsBlocks(child)) {
      endParagraph();
      const text = block(child);
      if (text !== "") parts.push(text);
    } else inline += inlineNode(child);
  }
  endParagraph();
  return parts.join(separator);
}

export function htmlToMarkdown(html: string): string {
  return blockContent(new DOMParser().parseFromString(html, "text/html").body, "\n\n");
}

/** True if the HTML has more than plain text in it. */
export function hasFormatting(html: string): boolean {
  const { body } = new DOMParser().parseFromString(html, "text/html");
  const formatted = "h1,h2,h3,h4,h5,h6,strong,em,i,del,s,a[href],ul,ol,table,blockquote,pre,code,img,hr";
  if (body.querySelector(formatted) !== null) return true;
  return [...body.querySelectorAll<HTMLElement>("b,span")].some((element) => isBold(element) || isItalic(element));
}
