/** Draws a picture from its address, with the alternative text as its caption. A picture that cannot be loaded says so. */
import { type EditorView, WidgetType } from "@codemirror/view";
import { element } from "../core/dom.ts";

/** Height in pixels of a picture that was never drawn. */
const unknownHeight = 280;

/** The number of pictures whose heights are remembered, so that text does not jump when they are drawn again. */
const maxHeights = 500;
const heights = new Map<string, number>();

export interface Picture {
  readonly address: string;
  readonly alternative: string;
  /** A block of its own with a caption, or a part of a line. */
  readonly isBlock: boolean;
}

export class ImageWidget extends WidgetType {
  readonly #picture: Picture;

  constructor(picture: Picture) {
    super();
    this.#picture = picture;
  }

  override eq(other: ImageWidget): boolean {
    const { address, alternative, isBlock } = this.#picture;
    const given = other.#picture;
    return given.address === address && given.alternative === alternative && given.isBlock === isBlock;
  }

  override get estimatedHeight(): number {
    if (!this.#picture.isBlock) return -1;
    return heights.get(this.#picture.address) ?? unknownHeight;
  }

  override toDOM(view: EditorView): HTMLElement {
    const { address, alternative, isBlock } = this.#picture;
    const image = element("img", {
      alt: alternative,
      loading: "lazy",
      decoding: "async",
      referrerpolicy: "no-referrer",
      draggable: "false",
    });
    const widget: HTMLElement = element(isBlock ? "div" : "span", { class: isBlock ? "cm-md-image" : "cm-md-image-inline" }, image);
    if (isBlock && alternative !== "") {
      // The picture already has this text as its name.
      widget.append(element("div", { class: "cm-md-caption", "aria-hidden": "true", dir: "auto" }, alternative));
    }
    const measure = () => {
      if (heights.size >= maxHeights) heights.clear();
      if (isBlock && widget.offsetHeight > 0) heights.set(address, widget.offsetHeight);
      view.requestMeasure();
    };
    image.addEventListener("load", measure);
    image.addEventListener("error", () => {
      const words = `This picture cannot be loaded: ${address}`;
      widget.classList.add("cm-md-image-broken");
      image.replaceWith(element("span", { role: "img", "aria-label": `${alternative} ${words}`.trim() }, words));
      measure();
    });
    image.src = address;
    widget.addEventListener("mousedown", (event) => {
      if (event.button !== 0 || view.state.readOnly) return;
      event.preventDefault();
      view.dispatch({ selection: { anchor: view.posAtDOM(widget) }, userEvent: "select.pointer" });
      view.focus();
    });
    return widget;
  }
}
