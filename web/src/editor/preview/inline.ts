/**
 * Decorates the visible text: sizes of headings, emphasis, links, lists, quotes and code, and hides the syntax of what the
 * selection does not touch. It reads the syntax tree of the visible lines only.
 */
import { syntaxTree } from "@codemirror/language";
import { type EditorState, type Range, RangeSet } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";
import { frontMatterEnd, headingLevel, type SyntaxNode } from "../core/language.ts";
import { linkAddress } from "../core/links.ts";
import { isRevealed, revealField, type TextRange } from "../core/reveal.ts";
import { imageOf, readPicture } from "./blocks.ts";
import { ImageWidget } from "./imageWidget.ts";
import { hideListSyntax, ListLines } from "./lists.ts";

const line = (name: string, attributes: Record<string, string> = {}) => Decoration.line({ class: name, attributes });
const mark = (name: string, attributes: Record<string, string> = {}) => Decoration.mark({ class: name, attributes });

const noSpelling = { spellcheck: "false" };
const hidden = Decoration.replace({});
const headings = [1, 2, 3, 4, 5, 6].map((level) => line(`cm-md-heading cm-md-h${level}`));
const lines = {
  autoDirection: Decoration.line({ attributes: { dir: "auto" } }),
  underline: line("cm-md-underline"),
  quote: line("cm-md-quote"),
  innerQuote: line("cm-md-quote-inner"),
  rule: line("cm-md-rule"),
  code: line("cm-md-code", noSpelling),
  codeFirst: line("cm-md-code-first"),
  codeLast: line("cm-md-code-last"),
  source: line("cm-md-source", noSpelling),
  table: line("cm-md-table-source"),
  frontMatter: line("cm-md-front", noSpelling),
};
const marks = {
  emphasis: mark("cm-md-em"),
  strong: mark("cm-md-strong"),
  strike: mark("cm-md-strike"),
  code: mark("cm-md-inline-code", noSpelling),
  faint: mark("cm-md-faint"),
  language: mark("cm-md-language", noSpelling),
  footnote: mark("cm-md-footnote"),
};
const markOf: Readonly<Record<string, Decoration>> = {
  Emphasis: marks.emphasis,
  StrongEmphasis: marks.strong,
  Strikethrough: marks.strike,
  InlineCode: marks.code,
};

const rightToLeft = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

interface Preview {
  readonly decorations: DecorationSet;
  /** Ranges that the cursor steps over. */
  readonly atomic: RangeSet<Decoration>;
}

/** Collects the decorations of one visible range. */
class Builder {
  readonly #state: EditorState;
  readonly #seen: TextRange;
  readonly #lists: ListLines;
  readonly decorations: Range<Decoration>[] = [];
  readonly atomic: Range<Decoration>[] = [];

  constructor(state: EditorState, seen: TextRange) {
    this.#state = state;
    this.#seen = seen;
    this.#lists = new ListLines(state, seen);
  }

  build(): void {
    const { doc } = this.#state;
    const skipTo = frontMatterEnd(doc);
    if (skipTo > 0) this.#decorateLines({ from: 0, to: skipTo }, lines.frontMatter);
    syntaxTree(this.#state).iterate({
      from: this.#seen.from,
      to: this.#seen.to,
      enter: ({ node }) => node.type.isTop || (node.from >= skipTo && this.#enter(node)),
    });
    for (const list of this.#lists.read()) hideListSyntax(this.#state, list, this.decorations, this.atomic);
    this.#eachLine(this.#seen, (from, text) => {
      if (rightToLeft.test(text)) this.decorations.push(lines.autoDirection.range(from));
    });
  }

  /** Returns false to skip the children. */
  #enter(node: SyntaxNode): boolean {
    const level = headingLevel(node.name);
    if (level !== undefined) this.#heading(node, level);
    const style = markOf[node.name];
    if (style !== undefined) this.#inline(node, style);
    switch (node.name) {
      case "HeaderMark":
        this.#headerMark(node);
        break;
      case "Blockquote":
        this.#decorateLines(node, node.parent?.name === "Blockquote" ? lines.innerQuote : lines.quote);
        break;
      case "QuoteMark":
        this.#quoteMark(node);
        break;
      case "ListItem":
        this.#lists.add(node);
        break;
      case "FencedCode":
        this.#fencedCode(node);
        break;
      case "CodeBlock":
        this.#decorateLines(node, lines.code);
        break;
      case "HorizontalRule":
        if (!this.#isTouched(node)) {
          this.#decorateLines(node, lines.rule);
          this.#hide(node.from, node.to);
        }
        break;
      case "Link":
      case "Autolink":
        return this.#link(node);
      case "URL":
        this.#linkText(node.from, node.to, node);
        break;
      case "Image":
        return this.#image(node);
      case "Table":
        this.#decorateLines(node, lines.table);
        break;
      case "TableDelimiter":
        this.#add(node.from, node.to, marks.faint);
        break;
      case "LinkReference":
      case "HTMLBlock":
      case "CommentBlock":
      case "ProcessingInstructionBlock":
        this.#decorateLines(node, lines.source);
        return false;
      case "HTMLTag":
      case "Comment":
        this.#add(node.from, node.to, marks.faint);
        break;
      case "Escape":
        if (!this.#isTouched(node)) this.#hide(node.from, node.from + 1);
        break;
    }
    return true;
  }

  #add(from: number, to: number, decoration: Decoration): void {
    if (to > from) this.decorations.push(decoration.range(from, to));
  }

  #hide(from: number, to: number): void {
    this.#add(from, to, hidden);
  }

  #isTouched({ from, to }: TextRange): boolean {
    return isRevealed(this.#state, from, to);
  }

  #eachLine(range: TextRange, visit: (from: number, text: string, to: number) => void): void {
    const { doc } = this.#state;
    const end = Math.min(range.to, this.#seen.to);
    for (let at = Math.max(range.from, this.#seen.from); at <= end; ) {
      const { from, text, to } = doc.lineAt(at);
      visit(from, text, to);
      at = to + 1;
    }
  }

  #decorateLines(range: TextRange, decoration: Decoration): void {
    this.#eachLine(range, (from) => this.decorations.push(decoration.range(from)));
  }

  #heading(node: SyntaxNode, level: number): void {
    const decoration = headings[level - 1];
    if (decoration === undefined) return;
    const underline = node.name.startsWith("Setext") ? node.lastChild : null;
    this.#decorateLines({ from: node.from, to: underline === null ? node.to : underline.from - 1 }, decoration);
    if (underline !== null) this.#decorateLines(underline, lines.underline);
  }

  /** Hides the `#` before a heading, and those behind it. The source of an empty heading stays visible. */
  #headerMark(node: SyntaxNode): void {
    const heading = node.parent;
    if (heading === null) return;
    const isOpening = heading.from === node.from;
    const isEmpty = heading.to <= node.to + 1;
    const isSource = heading.name.startsWith("Setext") || (isOpening && isEmpty) || this.#isTouched(this.#state.doc.lineAt(node.from));
    if (isSource) this.#add(node.from, node.to, marks.faint);
    else if (isOpening) this.#hide(node.from, node.to + this.#spacesAt(node.to));
    else this.#hide(node.from - 1, node.to);
  }

  #spacesAt(position: number): number {
    const rest = this.#state.doc.lineAt(position);
    return /^[ \t]*/.exec(rest.text.slice(position - rest.from))?.[0].length ?? 0;
  }

  #quoteMark(node: SyntaxNode): void {
    if (this.#isTouched(this.#state.doc.lineAt(node.from))) this.#add(node.from, node.to, marks.faint);
    else this.#hide(node.from, node.to + Math.min(1, this.#spacesAt(node.to)));
  }

  /** Emphasis and inline code: the first and the last child are the marks. */
  #inline(node: SyntaxNode, style: Decoration): void {
    this.#add(node.from, node.to, style);
    const isTouched = this.#isTouched(node);
    for (const child of [node.firstChild, node.lastChild]) {
      if (child === null || !child.name.endsWith("Mark")) continue;
      this.#add(child.from, child.to, isTouched ? marks.faint : hidden);
    }
  }

  #fencedCode(node: SyntaxNode): void {
    const isTouched = this.#isTouched(node);
    this.#decorateLines(node, lines.code);
    this.decorations.push(lines.codeFirst.range(this.#state.doc.lineAt(node.from).from));
    this.decorations.push(lines.codeLast.range(this.#state.doc.lineAt(node.to).from));
    for (const fence of node.getChildren("CodeMark")) this.#add(fence.from, fence.to, isTouched ? marks.faint : hidden);
    const language = node.getChild("CodeInfo");
    if (language !== null) this.#add(language.from, language.to, marks.language);
  }

  #link(node: SyntaxNode): boolean {
    const url = node.getChild("URL");
    const [open, close] = node.getChildren("LinkMark");
    if (open === undefined || close === undefined) return true;
    const isTouched = this.#isTouched(node);
    if (node.name === "Autolink") {
      if (url !== null) this.#linkText(url.from, url.to, url);
      if (!isTouched) for (const { from, to } of [open, close]) this.#hide(from, to);
      return false;
    }
    if (url === null && node.getChild("LinkLabel") === null) {
      // Brackets in running text look like a link to the parser. Footnotes do too.
      if (this.#state.sliceDoc(open.to, open.to + 1) === "^") this.#add(node.from, node.to, marks.footnote);
      return true;
    }
    this.#linkText(open.to, close.from, url);
    if (isTouched) this.#add(close.to, node.to, marks.faint);
    else if (close.from > open.to) {
      this.#hide(open.from, open.to);
      this.#hide(close.from, node.to);
    }
    // The children of the target are not decorated.
    for (let child = open.nextSibling; child !== null && child.from < close.from; child = child.nextSibling) this.#enterInline(child);
    return false;
  }

  #enterInline(node: SyntaxNode): void {
    if (this.#enter(node)) for (let child = node.firstChild; child !== null; child = child.nextSibling) this.#enterInline(child);
  }

  /** A link to an address that is not opened looks like text. */
  #linkText(from: number, to: number, url: SyntaxNode | null): void {
    const source = url === null ? undefined : this.#state.sliceDoc(url.from, url.to);
    const address = source === undefined ? undefined : linkAddress(source);
    if (source !== undefined && address === undefined) this.#add(from, to, marks.faint);
    else this.#add(from, to, mark("cm-md-link", address === undefined ? {} : { title: address, "data-address": address }));
  }

  #image(node: SyntaxNode): boolean {
    const parent = node.parent;
    const isBlock = parent?.parent?.type.isTop === true && imageOf(parent) !== undefined;
    const picture = isBlock ? undefined : readPicture(this.#state, node, false);
    if (picture === undefined || this.#isTouched(node)) this.#add(node.from, node.to, marks.faint);
    else this.#add(node.from, node.to, Decoration.replace({ widget: new ImageWidget(picture) }));
    return false;
  }
}

/** Decorates the visible ranges of a text. */
export function buildPreview(state: EditorState, visible: readonly TextRange[]): Preview {
  const decorations: Range<Decoration>[] = [];
  const atomic: Range<Decoration>[] = [];
  for (const range of visible) {
    const builder = new Builder(state, range);
    builder.build();
    decorations.push(...builder.decorations);
    atomic.push(...builder.atomic);
  }
  return { decorations: Decoration.set(decorations, true), atomic: RangeSet.of(atomic, true) };
}

class PreviewPlugin {
  preview: Preview;

  constructor(view: EditorView) {
    this.preview = buildPreview(view.state, view.visibleRanges);
  }

  update({ view, state, startState, docChanged, viewportChanged }: ViewUpdate): void {
    const isStale =
      docChanged ||
      viewportChanged ||
      syntaxTree(state) !== syntaxTree(startState) ||
      state.readOnly !== startState.readOnly ||
      state.field(revealField).ranges !== startState.field(revealField).ranges;
    if (isStale) this.preview = buildPreview(state, view.visibleRanges);
  }
}

export const inlinePreview = ViewPlugin.fromClass(PreviewPlugin, {
  decorations: ({ preview }) => preview.decorations,
  provide: (plugin) => EditorView.atomicRanges.of((view) => view.plugin(plugin)?.preview.atomic ?? RangeSet.empty),
});
