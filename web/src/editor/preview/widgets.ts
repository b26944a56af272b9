/** The small widgets of the preview, which stand for the beginning of a list item: bullets, numbers and task boxes. */
import { type EditorView, WidgetType } from "@codemirror/view";
import { element } from "../core/dom.ts";

/** A bullet or a number. */
export class MarkerWidget extends WidgetType {
  readonly #text: string;

  constructor(text: string) {
    super();
    this.#text = text;
  }

  override eq(other: MarkerWidget): boolean {
    return other.#text === this.#text;
  }

  override toDOM(): HTMLElement {
    return element("span", { class: this.#text === "•" ? "cm-md-bullet" : "cm-md-number" }, this.#text);
  }

  override ignoreEvent(): boolean {
    return false;
  }
}

const taskMarker = /\[([ xX])\]/;

/** A task box. A click on it changes the text. */
export class TaskWidget extends WidgetType {
  readonly #isDone: boolean;
  readonly #isReadOnly: boolean;

  constructor(isDone: boolean, isReadOnly: boolean) {
    super();
    this.#isDone = isDone;
    this.#isReadOnly = isReadOnly;
  }

  override eq(other: TaskWidget): boolean {
    return other.#isDone === this.#isDone && other.#isReadOnly === this.#isReadOnly;
  }

  override toDOM(view: EditorView): HTMLElement {
    // The text has its own shortcut for tasks, so the Tab key does not stop at each box.
    const box = element("input", { type: "checkbox", tabindex: "-1", "aria-label": "Done" });
    box.checked = this.#isDone;
    box.disabled = this.#isReadOnly;
    const widget = element("span", { class: "cm-md-task" }, box);
    // The cursor stays where it is.
    widget.addEventListener("mousedown", (event) => event.preventDefault());
    box.addEventListener("click", (event) => {
      // The transaction below replaces the widget, which shows the new state.
      event.preventDefault();
      const line = view.state.doc.lineAt(view.posAtDOM(widget));
      const marker = taskMarker.exec(line.text);
      if (marker === null) return;
      const from = line.from + marker.index + 1;
      view.dispatch({ changes: { from, to: from + 1, insert: marker[1] === " " ? "x" : " " }, userEvent: "input.task" });
    });
    return widget;
  }
}
