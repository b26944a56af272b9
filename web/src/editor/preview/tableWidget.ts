/** Draws a table in place of its source. A click puts the cursor behind the text of the cell. */
import { type EditorView, WidgetType } from "@codemirror/view";
import { element } from "../core/dom.ts";
import { openLink } from "../core/links.ts";
import { renderInline } from "./renderInline.ts";
import { type Cell, parseTable } from "./table.ts";

/** Height of a row with one line, in pixels: an estimate for tables that were not drawn yet. */
const rowHeight = 34;

export class TableWidget extends WidgetType {
  readonly #source: string;

  constructor(source: string) {
    super();
    this.#source = source;
  }

  override eq(other: TableWidget): boolean {
    return other.#source === this.#source;
  }

  override get estimatedHeight(): number {
    // The line of dashes is not drawn.
    return (this.#source.split("\n").length - 1) * rowHeight;
  }

  override toDOM(view: EditorView): HTMLElement {
    const source = this.#source;
    const table = parseTable(source);
    const widget = element("div", { class: "cm-md-table" });
    if (table === undefined) {
      widget.append(source);
      return widget;
    }
    const toRow = (cells: readonly Cell[], name: "th" | "td") =>
      element(
        "tr",
        {},
        ...cells.map((cell, column) => {
          const alignment = table.alignments[column];
          const drawn = element(name, { dir: "auto", "data-offset": String(cell.to) });
          if (alignment !== undefined) drawn.style.textAlign = alignment;
          if (name === "th") drawn.scope = "col";
          if (cell.node !== undefined) renderInline(drawn, cell.node, source);
          return drawn;
        }),
      );
    const head = element("thead", {}, toRow(table.header, "th"));
    const body = element("tbody", {}, ...table.rows.map((row) => toRow(row, "td")));
    widget.append(element("table", {}, head, body));
    widget.addEventListener("mousedown", (event) => {
      if (event.button !== 0 || !(event.target instanceof Element)) return;
      const address = event.target.closest<HTMLElement>("[data-address]")?.dataset.address;
      if (address !== undefined && (event.ctrlKey || event.metaKey || view.state.readOnly)) {
        event.preventDefault();
        openLink(address);
        return;
      }
      // Readers select the text of the table itself.
      if (view.state.readOnly) return;
      event.preventDefault();
      const offset = Number(event.target.closest<HTMLElement>("[data-offset]")?.dataset.offset ?? 0);
      view.dispatch({ selection: { anchor: view.posAtDOM(widget) + offset }, userEvent: "select.pointer" });
      view.focus();
    });
    return widget;
  }
}
