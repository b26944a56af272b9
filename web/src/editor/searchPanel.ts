/** The panel to find and replace, above the text: two fields, three options, and the number of matches. */
import {
  closeSearchPanel,
  findNext,
  findPrevious,
  getSearchQuery,
  replaceAll,
  replaceNext,
  SearchQuery,
  search,
  setSearchQuery,
} from "@codemirror/search";
import { type Command, EditorView, type Panel, runScopeHandlers, type ViewUpdate } from "@codemirror/view";
import { element, icon } from "./core/dom.ts";

/** More matches are not counted. */
const maxCounted = 1000;
const countPauseMs = 120;

const icons = {
  previous: "m4 10 4-4 4 4",
  next: "m4 6 4 4 4-4",
  close: "m4 4 8 8m0-8-8 8",
};

class SearchPanel implements Panel {
  readonly dom: HTMLElement;
  readonly top = true;
  readonly #view: EditorView;
  readonly #find = element("input", {
    class: "cm-find-field",
    "aria-label": "Find",
    placeholder: "Find",
    "main-field": "true",
    autocomplete: "off",
  });
  readonly #replace = element("input", {
    class: "cm-find-field",
    "aria-label": "Replace with",
    placeholder: "Replace with",
    autocomplete: "off",
  });
  readonly #options: Readonly<Record<"caseSensitive" | "wholeWord" | "regexp", HTMLButtonElement>>;
  readonly #count = element("span", { class: "cm-find-count", role: "status" });
  readonly #replaceRow: HTMLElement;
  #countTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(view: EditorView) {
    this.#view = view;
    this.#options = {
      caseSensitive: this.#option("Aa", "Match case"),
      wholeWord: this.#option("W", "Whole words"),
      regexp: this.#option(".*", "Regular expression"),
    };
    const find = element(
      "div",
      { class: "cm-find-row" },
      this.#find,
      ...Object.values(this.#options),
      this.#count,
      this.#button("Previous match", findPrevious, icons.previous),
      this.#button("Next match", findNext, icons.next),
      this.#button("Close", closeSearchPanel, icons.close),
    );
    this.#replaceRow = element(
      "div",
      { class: "cm-find-row" },
      this.#replace,
      this.#button("Replace", replaceNext),
      this.#button("Replace all", replaceAll),
    );
    this.dom = element("div", { class: "cm-find", role: "search", "aria-label": "Find and replace" }, find, this.#replaceRow);
    this.dom.addEventListener("keydown", (event) => this.#onKey(event));
    for (const field of [this.#find, this.#replace]) field.addEventListener("input", () => this.#commit());
    this.#read(getSearchQuery(view.state));
    this.#showReplace();
  }

  mount(): void {
    // The app may have a bar of its own above the text. CodeMirror sets the place of its panels on the element.
    if (this.dom.parentElement !== null) this.dom.parentElement.style.top = "var(--editor-top, 0px)";
    this.#find.select();
  }

  update(update: ViewUpdate): void {
    for (const transaction of update.transactions) {
      for (const effect of transaction.effects) if (effect.is(setSearchQuery)) this.#read(effect.value);
    }
    if (update.docChanged || update.selectionSet) this.#scheduleCount();
    if (update.state.readOnly !== update.startState.readOnly) this.#showReplace();
  }

  destroy(): void {
    clearTimeout(this.#countTimer);
  }

  #option(text: string, label: string): HTMLButtonElement {
    const button = element(
      "button",
      { type: "button", class: "cm-find-option", title: label, "aria-label": label, "aria-pressed": "false" },
      text,
    );
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(button.ariaPressed !== "true"));
      this.#commit();
    });
    return button;
  }

  #button(label: string, command: Command, path?: string): HTMLButtonElement {
    const properties = path === undefined ? {} : { title: label, "aria-label": label };
    const button = element("button", { type: "button", class: "cm-find-button", ...properties }, path === undefined ? label : icon(path));
    button.addEventListener("click", () => command(this.#view));
    return button;
  }

  #onKey(event: KeyboardEvent): void {
    if (runScopeHandlers(this.#view, event, "search-panel")) event.preventDefault();
    else if (event.key === "Enter" && event.target === this.#find) {
      event.preventDefault();
      (event.shiftKey ? findPrevious : findNext)(this.#view);
    } else if (event.key === "Enter" && event.target === this.#replace) {
      event.preventDefault();
      replaceNext(this.#view);
    }
  }

  #commit(): void {
    const { caseSensitive, wholeWord, regexp } = this.#options;
    const query = new SearchQuery({
      search: this.#find.value,
      replace: this.#replace.value,
      caseSensitive: caseSensitive.ariaPressed === "true",
      wholeWord: wholeWord.ariaPressed === "true",
      regexp: regexp.ariaPressed === "true",
      literal: true,
    });
    if (!query.eq(getSearchQuery(this.#view.state))) this.#view.dispatch({ effects: setSearchQuery.of(query) });
  }

  /** Takes over a query that was set elsewhere, for example from the selection when the panel opens. */
  #read(query: SearchQuery): void {
    if (this.#find.value !== query.search) this.#find.value = query.search;
    if (this.#replace.value !== query.replace) this.#replace.value = query.replace;
    for (const name of ["caseSensitive", "wholeWord", "regexp"] as const)
      this.#options[name].setAttribute("aria-pressed", String(query[name]));
    this.#scheduleCount();
  }

  #showReplace(): void {
    this.#replaceRow.hidden = this.#view.state.readOnly;
  }

  #scheduleCount(): void {
    clearTimeout(this.#countTimer);
    this.#countTimer = setTimeout(() => {
      this.#count.textContent = this.#describeMatches();
    }, countPauseMs);
  }

  #describeMatches(): string {
    const { state } = this.#view;
    const query = getSearchQuery(state);
    if (query.search === "") return "";
    if (!query.valid) return "Not a regular expression";
    let [count, current] = [0, 0];
    const { from, to } = state.selection.main;
    const cursor = query.getCursor(state);
    for (let match = cursor.next(); match.done !== true && count < maxCounted; match = cursor.next()) {
      count += 1;
      if (match.value.from === from && match.value.to === to) current = count;
    }
    if (count === 0) return "No matches";
    const total = count < maxCounted ? String(count) : `${maxCounted} or more`;
    return current === 0 ? `${total} found` : `${current} of ${total}`;
  }
}

export const searchPanel = search({
  top: true,
  literal: true,
  createPanel: (view) => new SearchPanel(view),
  scrollToMatch: (range) => EditorView.scrollIntoView(range, { y: "nearest", yMargin: 80 }),
});
