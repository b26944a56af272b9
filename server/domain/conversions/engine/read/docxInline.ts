/** Reads the inline content of a DOCX paragraph: runs with their marks, links, notes, pictures and breaks. */
import type { PhrasingContent } from "mdast";
import type { Loss } from "../document.ts";
import { type MarkedNode, nestMarks, trimBlock } from "../marked.ts";
import type { Mark } from "../phrasing.ts";
import { isInlineCode, isInlineFormula } from "../styles.ts";
import type { DocxImage, DocxInline, DocxRun } from "./docxDocument.ts";

export interface DocxInlineReader {
  /** `checked`: the state of a check box at the beginning. */
  read(children: readonly DocxInline[]): { readonly children: PhrasingContent[]; readonly checked: boolean | undefined };
  /** The text alone, with its line breaks, for code blocks. */
  readText(children: readonly DocxInline[]): string;
}

export interface DocxInlineOptions {
  readonly images: ReadonlyMap<DocxImage, string>;
  readonly losses: Loss[];
  /** Returns the identifier of the footnote. */
  addNote(reference: { readonly noteType: string; readonly noteId: string }): string;
}

interface Context {
  readonly marks: ReadonlySet<Mark>;
  readonly url?: string | undefined;
  /** Type of the node that the text becomes. */
  readonly textType: "text" | "inlineCode" | "inlineMath";
}

export function createDocxInlineReader({ images, losses, addNote }: DocxInlineOptions): DocxInlineReader {
  function visit(child: DocxInline, context: Context, pieces: MarkedNode[]): void {
    const { marks, url, textType } = context;
    const push = (node: PhrasingContent) => pieces.push({ node, marks, url });
    switch (child.type) {
      case "text": {
        const last = pieces.at(-1);
        // Word splits runs at any place, for example where the spelling check stopped.
        if (textType !== "text" && last?.node.type === textType && last.url === url)
          pieces[pieces.length - 1] = { ...last, node: { type: textType, value: last.node.value + child.value } };
        else push({ type: textType, value: child.value });
        return;
      }
      case "tab":
        push({ type: "text", value: " " });
        return;
      case "checkbox":
        push({ type: "text", value: child.checked ? "☒" : "☐" });
        return;
      case "break":
        if (child.breakType === "line") push({ type: "break" });
        else losses.push({ construct: "page layout" });
        return;
      case "run":
        countStyle(child);
        for (const inner of child.children) visit(inner, enterRun(child, context), pieces);
        return;
      case "hyperlink": {
        const target = child.href ?? (typeof child.anchor === "string" ? `#${child.anchor}` : undefined);
        for (const inner of child.children) visit(inner, { ...context, url: target }, pieces);
        return;
      }
      case "image": {
        const source = images.get(child);
        const alt = child.altText ?? "";
        if (source !== undefined) push({ type: "image", url: source, alt });
        else if (alt !== "") push({ type: "text", value: alt });
        return;
      }
      case "noteReference":
        push({ type: "footnoteReference", identifier: addNote(child) });
        return;
      case "commentReference":
        losses.push({ construct: "comment" });
        return;
      default:
        return;
    }
  }

  function countStyle(run: DocxRun): void {
    const isNote = run.children.some(({ type }) => type === "noteReference");
    const isStyled = run.isAllCaps || run.isSmallCaps || run.highlight !== null || run.verticalAlignment !== "baseline";
    const isLink = run.isUnderline && run.children.some(({ type }) => type === "hyperlink");
    if (!isNote && (isStyled || (run.isUnderline && !isLink && run.styleName?.toLowerCase() !== "hyperlink")))
      losses.push({ construct: "text style" });
  }

  return {
    read(children) {
      const first = findFirst(children);
      const checked = first?.type === "checkbox" ? first.checked : undefined;
      const pieces: MarkedNode[] = [];
      for (const child of children) visit(child, { marks: new Set(), textType: "text" }, pieces);
      return { children: trimBlock(nestMarks(checked === undefined ? pieces : pieces.slice(1))), checked };
    },
    readText(children) {
      const toText = (child: DocxInline): string => {
        if (child.type === "text") return child.value;
        if (child.type === "tab") return "\t";
        if (child.type === "break") return "\n";
        return "children" in child ? child.children.map(toText).join("") : "";
      };
      return children.map(toText).join("");
    },
  };
}

/** The first node that shows something. */
function findFirst(children: readonly DocxInline[]): DocxInline | undefined {
  for (const child of children) {
    if (child.type === "bookmarkStart") continue;
    if (child.type !== "run") return child;
    const inner = findFirst(child.children);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function enterRun(run: DocxRun, context: Context): Context {
  const marks = new Set(context.marks);
  if (run.isItalic) marks.add("emphasis");
  if (run.isBold) marks.add("strong emphasis");
  if (run.isStrikethrough) marks.add("strikethrough");
  const textType = isInlineFormula(run) ? "inlineMath" : isInlineCode(run) ? "inlineCode" : context.textType;
  return { ...context, marks, textType };
}
