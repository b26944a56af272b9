/**
 * Draws the beginning of list items: indentation, bullet, number or task box become one widget of fixed width, and wrapped
 * lines align with the text. The source of the beginning is shown while the selection touches it.
 */
import type { EditorState, Range } from "@codemirror/state";
import { Decoration } from "@codemirror/view";
import type { SyntaxNode } from "../core/language.ts";
import { isRevealed, type TextRange } from "../core/reveal.ts";
import { MarkerWidget, TaskWidget } from "./widgets.ts";

/** Deeper items are drawn at this depth. */
const maxDepth = 8;

interface ListLine {
  /** Position of the start of the line. */
  readonly line: number;
  readonly depth: number;
  /** Where the hidden syntax begins and ends. */
  readonly from: number;
  readonly to: number;
  /** The item that begins in this line. */
  readonly item: { readonly mark: SyntaxNode; readonly task: SyntaxNode | undefined; readonly isOrdered: boolean } | undefined;
}

function depthOf(item: SyntaxNode): number {
  let depth = 0;
  for (let node: SyntaxNode | null = item; node !== null; node = node.parent) if (node.name === "ListItem") depth += 1;
  return Math.min(depth, maxDepth);
}

/** Collects the visible lines of list items. A line belongs to the innermost item. */
export class ListLines {
  readonly #state: EditorState;
  readonly #seen: TextRange;
  readonly #lines = new Map<number, ListLine>();

  constructor(state: EditorState, seen: TextRange) {
    this.#state = state;
    this.#seen = seen;
  }

  /** Outer items must be added before their inner items. */
  add(node: SyntaxNode): void {
    const { doc } = this.#state;
    const mark = node.getChild("ListMark");
    if (mark === null) return;
    const depth = depthOf(node);
    const first = doc.lineAt(mark.from);
    const task = node.getChild("Task")?.getChild("TaskMarker") ?? undefined;
    const contentFrom = (task ?? mark).to;
    const spaces = /^[ \t]*/.exec(first.text.slice(contentFrom - first.from))?.[0].length ?? 0;
    // The first space behind the mark of a quote belongs to that mark.
    const indentation = /(?:>[ \t]?)?([ \t]*)$/.exec(first.text.slice(0, mark.from - first.from))?.[1]?.length ?? 0;
    const isOrdered = node.parent?.name === "OrderedList";
    const item = { mark, task, isOrdered };
    this.#lines.set(first.from, { line: first.from, depth, from: mark.from - indentation, to: contentFrom + spaces, item });
    const contentColumn = mark.to + 1 - first.from;
    const end = Math.min(node.to, this.#seen.to);
    for (let at = Math.max(first.to + 1, this.#seen.from); at <= end; ) {
      const line = doc.lineAt(at);
      const own = /^[ \t]*/.exec(line.text)?.[0].length ?? 0;
      // Further indentation belongs to the content, for example to code.
      this.#lines.set(line.from, {
        line: line.from,
        depth,
        from: line.from,
        to: line.from + Math.min(own, contentColumn),
        item: undefined,
      });
      at = line.to + 1;
    }
  }

  read(): Iterable<ListLine> {
    return this.#lines.values();
  }
}

const rows = Array.from({ length: maxDepth }, (_, index) => ({
  first: Decoration.line({ class: `cm-md-item cm-md-depth-${index + 1}` }),
  next: Decoration.line({ class: `cm-md-continued cm-md-depth-${index + 1}` }),
}));
const hidden = Decoration.replace({});
const done = Decoration.mark({ class: "cm-md-done" });
const faint = Decoration.mark({ class: "cm-md-faint" });

export function hideListSyntax(
  state: EditorState,
  { line, depth, from, to, item }: ListLine,
  decorations: Range<Decoration>[],
  atomic: Range<Decoration>[],
): void {
  const row = rows[depth - 1];
  if (row === undefined) return;
  const end = state.doc.lineAt(line).to;
  if (item === undefined) {
    decorations.push(row.next.range(line));
    if (to > from && !isRevealed(state, from, to - 1)) {
      decorations.push(hidden.range(from, to));
      atomic.push(hidden.range(from, to));
    }
    return;
  }
  const { mark, task, isOrdered } = item;
  decorations.push(row.first.range(line));
  const isDone = task !== undefined && state.sliceDoc(task.from + 1, task.to - 1) !== " ";
  if (isDone && end > to) decorations.push(done.range(to, end));
  // A cursor at the start of the text does not show the source, so that typing there looks the same.
  if (isRevealed(state, from, (task ?? mark).to)) {
    decorations.push(faint.range(mark.from, (task ?? mark).to));
    return;
  }
  const widget =
    task !== undefined ? new TaskWidget(isDone, state.readOnly) : new MarkerWidget(isOrdered ? state.sliceDoc(mark.from, mark.to) : "•");
  const replaced = Decoration.replace({ widget }).range(from, to);
  decorations.push(replaced);
  atomic.push(replaced);
}
