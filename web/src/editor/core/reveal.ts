/**
 * The reveal field says where the Markdown source is shown instead of its preview: at the selection, while the editor has the
 * focus or the search panel is open. Readers never see source, except where they search.
 *
 * While a mouse button is held down the field keeps its ranges, because text that changes its size under the pointer would
 * select something else.
 */
import { searchPanelOpen } from "@codemirror/search";
import { type EditorState, type Extension, StateEffect, StateField } from "@codemirror/state";
import { EditorView } from "@codemirror/view";

export interface TextRange {
  readonly from: number;
  readonly to: number;
}

interface Reveal {
  readonly isFocused: boolean;
  readonly isDragging: boolean;
  readonly ranges: readonly TextRange[];
}

export const setFocused = StateEffect.define<boolean>();
export const setDragging = StateEffect.define<boolean>();

const isSame = (one: readonly TextRange[], other: readonly TextRange[]) =>
  one.length === other.length && one.every(({ from, to }, index) => from === other[index]?.from && to === other[index]?.to);

export const revealField = StateField.define<Reveal>({
  create: () => ({ isFocused: false, isDragging: false, ranges: [] }),
  update(value, transaction) {
    let { isFocused, isDragging } = value;
    for (const effect of transaction.effects) {
      if (effect.is(setFocused)) isFocused = effect.value;
      else if (effect.is(setDragging)) isDragging = effect.value;
    }
    const { state, changes } = transaction;
    let ranges: readonly TextRange[] = [];
    if ((isFocused && !state.readOnly) || searchPanelOpen(state)) {
      ranges = isDragging
        ? value.ranges.map(({ from, to }) => ({ from: changes.mapPos(from), to: changes.mapPos(to) }))
        : state.selection.ranges.map(({ from, to }) => ({ from, to }));
    }
    const areSame = isSame(ranges, value.ranges);
    if (areSame && isFocused === value.isFocused && isDragging === value.isDragging) return value;
    return { isFocused, isDragging, ranges: areSame ? value.ranges : ranges };
  },
});

/** True if the source of the range is shown, which includes a cursor at its edges. */
export function isRevealed(state: EditorState, from: number, to: number): boolean {
  return state.field(revealField).ranges.some((range) => range.from <= to && range.to >= from);
}

/** A blur because another window got the focus changes nothing: the cursor is still in the text when the window returns. */
const focus = EditorView.focusChangeEffect.of((_, isFocusing) => (isFocusing || document.hasFocus() ? setFocused.of(isFocusing) : null));

const drag = EditorView.domEventHandlers({
  pointerdown(event, view) {
    // A finger selects through the browser. An update of the view before the browser reports the selection would undo it.
    if (event.button !== 0 || event.pointerType !== "mouse") return false;
    const page = view.dom.ownerDocument;
    const ends = ["pointerup", "dragend", "pointercancel"] as const;
    const release = () => {
      for (const end of ends) page.removeEventListener(end, release, true);
      if (view.dom.isConnected) view.dispatch({ effects: setDragging.of(false) });
    };
    for (const end of ends) page.addEventListener(end, release, true);
    view.dispatch({ effects: setDragging.of(true) });
    return false;
  },
});

export const reveal: Extension = [revealField, focus, drag];
