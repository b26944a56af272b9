/**
 * The block field replaces tables and pictures that are blocks of their own by what they look like.
 *
 * Decorations that change the layout must be known for the whole text. A change therefore reads only the top-level blocks from
 * the one before it to the first block that the parser took over unchanged; everything else is moved. Positions that are not
 * parsed yet keep their blocks until the syntax tree arrives.
 */
import { syntaxTree } from "@codemirror/language";
import { type EditorState, type Range, RangeSet, RangeValue, StateField, type Transaction } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view";
import { frontMatterEnd, type SyntaxNode, shownText, type Tree } from "../core/language.ts";
import { imageAddress } from "../core/links.ts";
import { isRevealed, revealField } from "../core/reveal.ts";
import { ImageWidget, type Picture } from "./imageWidget.ts";
import { TableWidget } from "./tableWidget.ts";

/** A table's source, or a picture. */
class Block extends RangeValue {
  readonly content: string | Picture;

  constructor(content: string | Picture) {
    super();
    this.content = content;
  }

  override eq(other: Block): boolean {
    return other.content === this.content;
  }
}

interface Blocks {
  readonly tree: Tree;
  /** The end of the front matter, in which there are no blocks. */
  readonly skipTo: number;
  readonly blocks: RangeSet<Block>;
  readonly decorations: DecorationSet;
}

/** Returns the picture of an image's node if its address may be loaded. */
export function readPicture(state: EditorState, image: SyntaxNode, isBlock: boolean): Picture | undefined {
  const url = image.getChild("URL");
  const address = url === null ? undefined : imageAddress(state.sliceDoc(url.from, url.to));
  if (address === undefined) return undefined;
  return { address, alternative: shownText(image, (from, to) => state.sliceDoc(from, to)), isBlock };
}

/** Returns the image that is the only content of a top-level paragraph. */
export function imageOf(block: SyntaxNode): SyntaxNode | undefined {
  const child = block.name === "Paragraph" ? block.firstChild : null;
  return child?.name === "Image" && child.from === block.from && child.to === block.to ? child : undefined;
}

function readBlock(state: EditorState, node: SyntaxNode): Range<Block> | undefined {
  if (node.name === "Table") return new Block(state.sliceDoc(node.from, node.to)).range(node.from, node.to);
  const image = imageOf(node);
  const picture = image === undefined ? undefined : readPicture(state, image, true);
  return picture === undefined ? undefined : new Block(picture).range(node.from, node.to);
}

/** Reads top-level blocks, the first one that ends behind `from` and those after it, until `isEnd` is true for one. */
function scan(
  state: EditorState,
  skipTo: number,
  from: number,
  isEnd: (node: SyntaxNode) => boolean = () => false,
): { found: Range<Block>[]; end: number } {
  const tree = syntaxTree(state);
  const found: Range<Block>[] = [];
  for (let node = tree.topNode.childAfter(from); node !== null; node = node.nextSibling) {
    if (isEnd(node)) return { found, end: node.from - 1 };
    const block = node.from < skipTo ? undefined : readBlock(state, node);
    if (block !== undefined) found.push(block);
  }
  return { found, end: tree.length };
}

function replaceBlocks(blocks: RangeSet<Block>, start: number, end: number, found: readonly Range<Block>[]): RangeSet<Block> {
  return blocks.update({ filter: (from, to) => to < start || from > end, filterFrom: start, filterTo: end, add: found });
}

function update(value: Blocks, skipTo: number, transaction: Transaction): RangeSet<Block> {
  const { state, changes } = transaction;
  const tree = syntaxTree(state);
  // Tables may have become front matter, or the reverse.
  if (skipTo !== changes.mapPos(value.skipTo)) return RangeSet.of(scan(state, skipTo, 0).found);
  let blocks = value.blocks;
  let scannedTo = 0;
  if (transaction.docChanged) {
    blocks = blocks.map(changes);
    let [changedFrom, changedTo] = [state.doc.length, 0];
    changes.iterChangedRanges((_fromA, _toA, fromB, toB) => {
      changedFrom = Math.min(changedFrom, fromB);
      changedTo = Math.max(changedTo, toB);
    });
    const start = Math.min(tree.topNode.childBefore(changedFrom)?.from ?? 0, changedFrom);
    const shift = state.doc.length - transaction.startState.doc.length;
    const { found, end } = scan(state, skipTo, start, (node) => {
      if (node.from <= changedTo) return false;
      const before = value.tree.topNode.childAfter(node.from - shift);
      return before !== null && before.from === node.from - shift && before.tree !== null && before.tree === node.tree;
    });
    scannedTo = Math.max(end, changedTo);
    blocks = replaceBlocks(blocks, start, scannedTo, found);
  }
  // The last block of an unfinished tree may have been incomplete.
  const parsedBefore = changes.mapPos(Math.min(value.tree.length, changes.length));
  if (tree.length > Math.max(parsedBefore, scannedTo)) {
    const start = tree.topNode.childBefore(parsedBefore)?.from ?? 0;
    const { found, end } = scan(state, skipTo, start);
    blocks = replaceBlocks(blocks, start, end, found);
  }
  return blocks;
}

function decorate(state: EditorState, blocks: RangeSet<Block>): DecorationSet {
  const decorations: Range<Decoration>[] = [];
  for (const cursor = blocks.iter(); cursor.value !== null; cursor.next()) {
    const { from, to, value } = cursor;
    const { content } = value;
    const isTouched = isRevealed(state, from, to);
    const lines = { from: state.doc.lineAt(from).from, to: state.doc.lineAt(to).to };
    if (typeof content === "string") {
      const replacement = () => Decoration.replace({ widget: new TableWidget(content), block: true });
      if (!isTouched) decorations.push(replacement().range(lines.from, lines.to));
    } else {
      const widget = new ImageWidget(content);
      // The picture stays below its source, so that editing the source does not make it disappear.
      if (isTouched) decorations.push(Decoration.widget({ widget, block: true, side: 1 }).range(lines.to));
      else decorations.push(Decoration.replace({ widget, block: true }).range(lines.from, lines.to));
    }
  }
  return Decoration.set(decorations);
}

export const blockField = StateField.define<Blocks>({
  create(state) {
    const skipTo = frontMatterEnd(state.doc);
    const blocks = RangeSet.of(scan(state, skipTo, 0).found);
    return { tree: syntaxTree(state), skipTo, blocks, decorations: decorate(state, blocks) };
  },
  update(value, transaction) {
    const { state, startState, docChanged } = transaction;
    const tree = syntaxTree(state);
    const skipTo = docChanged ? frontMatterEnd(state.doc) : value.skipTo;
    const blocks = docChanged || tree !== value.tree ? update(value, skipTo, transaction) : value.blocks;
    const isRevealedElsewhere = state.field(revealField).ranges !== startState.field(revealField).ranges;
    if (blocks === value.blocks && !isRevealedElsewhere) return tree === value.tree ? value : { ...value, tree, skipTo };
    return { tree, skipTo, blocks, decorations: blocks.size === 0 ? Decoration.none : decorate(state, blocks) };
  },
  provide: (field) => EditorView.decorations.from(field, ({ decorations }) => decorations),
});
