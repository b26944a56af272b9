/** Shows beside the text who wrote which lines: a coloured bar for each line, and the label at the first line of each span. */
import { type EditorState, type Extension, type Range, RangeSet, StateField, type Text } from "@codemirror/state";
import { GutterMarker, gutter } from "@codemirror/view";
import { element } from "../core/dom.ts";

export interface BlameSpan {
  /** Lines count from 1. Both belong to the span. */
  readonly fromLine: number;
  readonly toLine: number;
  /** From 1 to 8: the tokens `--author-1` to `--author-8`. */
  readonly colour: number;
  readonly label: string;
}

class BlameMarker extends GutterMarker {
  readonly #span: BlameSpan;
  readonly #isFirst: boolean;
  override readonly elementClass: string;

  constructor(span: BlameSpan, isFirst: boolean) {
    super();
    this.#span = span;
    this.#isFirst = isFirst;
    this.elementClass = `cm-blame-line cm-author-${span.colour}`;
  }

  override eq(other: BlameMarker): boolean {
    const { label, colour } = this.#span;
    return other.#isFirst === this.#isFirst && other.#span.label === label && other.#span.colour === colour;
  }

  override toDOM(): Node {
    const { label } = this.#span;
    return element("span", { class: "cm-blame-label", title: label }, this.#isFirst ? label : "");
  }
}

function toMarkers(doc: Text, spans: readonly BlameSpan[]): RangeSet<BlameMarker> {
  const markers: Range<BlameMarker>[] = [];
  for (const span of spans) {
    const [first, next] = [new BlameMarker(span, true), new BlameMarker(span, false)];
    for (let number = Math.max(1, span.fromLine); number <= Math.min(span.toLine, doc.lines); number++) {
      markers.push((number === span.fromLine ? first : next).range(doc.line(number).from));
    }
  }
  return RangeSet.of(markers, true);
}

export function blame(spans: readonly BlameSpan[]): Extension {
  const field = StateField.define<RangeSet<BlameMarker>>({
    create: ({ doc }) => toMarkers(doc, spans),
    update: (set, { docChanged, changes }) => (docChanged ? set.map(changes) : set),
  });
  /** A drawn table or picture has the marker of its first line. */
  const markerAt = (state: EditorState, position: number): BlameMarker | null => {
    let marker: BlameMarker | null = null;
    const { from } = state.doc.lineAt(position);
    state.field(field).between(from, from, (_from, _to, found) => {
      marker = found;
    });
    return marker;
  };
  return [
    field,
    gutter({
      class: "cm-blame",
      markers: ({ state }) => state.field(field),
      widgetMarker: ({ state }, _widget, block) => markerAt(state, block.from),
    }),
  ];
}
