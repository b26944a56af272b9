/** Highlights of comments and suggestions. They move with the text until the app gives new ones. */
import { type Extension, type Range, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view";
import type { TextRange } from "../core/reveal.ts";

export interface Mark {
  readonly id: string;
  readonly from: number;
  readonly to: number;
  readonly kind: "comment" | "suggestion";
  /** The thread that is open in the margin. */
  readonly isActive: boolean;
}

export const setMarks = StateEffect.define<readonly Mark[]>();

/** A mark of which nothing is left in the text has no place. */
function draw(marks: readonly Mark[], length: number): DecorationSet {
  const decorations: Range<Decoration>[] = [];
  for (const { id, from, to, kind, isActive } of marks) {
    const end = Math.min(to, length);
    if (from < 0 || from >= end) continue;
    const className = `cm-mark cm-mark-${kind}${isActive ? " cm-mark-active" : ""}`;
    decorations.push(Decoration.mark({ class: className, attributes: { "data-mark": id } }).range(from, end));
  }
  return Decoration.set(decorations, true);
}

const markField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(set, transaction) {
    for (const effect of transaction.effects) if (effect.is(setMarks)) return draw(effect.value, transaction.newDoc.length);
    return transaction.docChanged ? set.map(transaction.changes) : set;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function readId(decoration: Decoration): unknown {
  const spec: { readonly attributes?: Record<string, string> } = decoration.spec;
  return spec.attributes?.["data-mark"];
}

/** Returns the place of a mark in the text as it is now. */
export function markRange({ state }: EditorView, id: string): TextRange | undefined {
  for (const cursor = state.field(markField).iter(); cursor.value !== null; cursor.next()) {
    if (readId(cursor.value) === id) return { from: cursor.from, to: cursor.to };
  }
  return undefined;
}

/** Returns the smallest mark at a position. */
function markAt({ state }: EditorView, position: number): string | undefined {
  let found: { readonly id: string; readonly size: number } | undefined;
  state.field(markField).between(position, position, (from, to, decoration) => {
    const id = readId(decoration);
    if (typeof id === "string" && (found === undefined || to - from < found.size)) found = { id, size: to - from };
  });
  return found?.id;
}

/** `onMark` is called with the smallest mark at a click. */
export function marks(onMark: ((id: string) => void) | undefined): Extension {
  return [
    markField,
    EditorView.domEventObservers({
      click(event, view) {
        if (!(event.target instanceof Element) || event.target.closest("[data-mark]") === null) return;
        const id = markAt(view, view.posAtCoords({ x: event.clientX, y: event.clientY }, false));
        if (id !== undefined) onMark?.(id);
      },
    }),
  ];
}
