/** Draws the cursor of another person or of an agent, with a flag that has the name. Agents have an icon, and their flag stays. */
import { type EditorView, WidgetType } from "@codemirror/view";
import { element, icon } from "../core/dom.ts";

const agentIcon = "M3 6h10v7H3ZM8 6V3.2M8 2.4h.01M6 9h.01M10 9h.01M1.4 8.6v2m13.2-2v2";

export class PeerCaret extends WidgetType {
  readonly #name: string;
  readonly #colour: number;
  readonly #isAgent: boolean;
  readonly #isFresh: boolean;

  constructor(name: string, colour: number, isAgent: boolean, isFresh: boolean) {
    super();
    this.#name = name;
    this.#colour = colour;
    this.#isAgent = isAgent;
    this.#isFresh = isFresh;
  }

  #isSamePeer(other: PeerCaret): boolean {
    return other.#name === this.#name && other.#colour === this.#colour && other.#isAgent === this.#isAgent;
  }

  override eq(other: PeerCaret): boolean {
    return this.#isSamePeer(other) && other.#isFresh === this.#isFresh;
  }

  override toDOM(): HTMLElement {
    const flag = element("span", { class: "cm-peer-flag" }, ...(this.#isAgent ? [icon(agentIcon)] : []), element("bdi", {}, this.#name));
    // The list of people beside the text says who is here; within the text the names would be read as text.
    const caret = element("span", { class: `cm-peer cm-author-${this.#colour}`, "aria-hidden": "true" }, flag);
    caret.classList.toggle("cm-peer-agent", this.#isAgent);
    caret.classList.toggle("cm-peer-fresh", this.#isFresh);
    return caret;
  }

  override updateDOM(caret: HTMLElement, _view: EditorView, from: PeerCaret): boolean {
    if (!this.#isSamePeer(from)) return false;
    caret.classList.toggle("cm-peer-fresh", this.#isFresh);
    return true;
  }

  override ignoreEvent(): boolean {
    return false;
  }
}

/** Draws flags that would reach over the right edge of the text to the left of their cursors. */
export function placeFlags(view: EditorView): void {
  view.requestMeasure({
    key: "peers",
    read: () => {
      const { right } = view.contentDOM.getBoundingClientRect();
      return [...view.contentDOM.querySelectorAll(".cm-peer")].map((caret) => ({
        caret,
        isBefore: caret.getBoundingClientRect().left + (caret.firstElementChild?.getBoundingClientRect().width ?? 0) > right,
      }));
    },
    write: (places) => {
      for (const { caret, isBefore } of places) caret.classList.toggle("cm-peer-before", isBefore);
    },
  });
}
