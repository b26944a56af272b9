/**
 * Reports the statistics and the outline of the text when the browser has time, some moments after a change. It also completes
 * the syntax tree of long texts, which otherwise ends some way below the visible lines.
 */
import { forceParsing, syntaxTreeAvailable } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { type EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";
import { type Heading, readOutline } from "./outline.ts";
import { measureText, type Statistics } from "./statistics.ts";

const pauseMs = 300;
/** Time of one piece of work, in milliseconds. A key that is pressed meanwhile waits for its end. */
const sliceMs = 8;

export interface OverviewListeners {
  readonly onStatistics: ((statistics: Statistics) => void) | undefined;
  readonly onOutline: ((headings: readonly Heading[]) => void) | undefined;
}

/** Safari has no `requestIdleCallback`. */
const whenIdle = (work: () => void): void => {
  if (typeof requestIdleCallback === "function") requestIdleCallback(work, { timeout: 1000 });
  else setTimeout(work, 0);
};

export function overview({ onStatistics, onOutline }: OverviewListeners): Extension {
  class Overview {
    readonly #view: EditorView;
    #timer: ReturnType<typeof setTimeout> | undefined;
    #isDestroyed = false;
    #statistics: string | undefined;
    #outline: string | undefined;

    constructor(view: EditorView) {
      this.#view = view;
      this.#schedule(0);
    }

    update({ docChanged }: ViewUpdate): void {
      if (docChanged) this.#schedule(pauseMs);
    }

    #schedule(afterMs: number): void {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => whenIdle(() => this.#work()), afterMs);
    }

    #work(): void {
      if (this.#isDestroyed) return;
      const { doc } = this.#view.state;
      const end = performance.now() + sliceMs;
      const isParsed = syntaxTreeAvailable(this.#view.state, doc.length) || forceParsing(this.#view, doc.length, sliceMs);
      const statistics = measureText(doc, () => performance.now() < end);
      if (statistics !== undefined) this.#reportStatistics(statistics);
      if (isParsed) this.#reportOutline();
      if (!isParsed || statistics === undefined) this.#schedule(0);
    }

    #reportStatistics(statistics: Statistics): void {
      const json = JSON.stringify(statistics);
      if (json === this.#statistics) return;
      this.#statistics = json;
      onStatistics?.(statistics);
    }

    #reportOutline(): void {
      const headings = readOutline(this.#view.state);
      const json = JSON.stringify(headings);
      if (json === this.#outline) return;
      this.#outline = json;
      onOutline?.(headings);
    }

    destroy(): void {
      this.#isDestroyed = true;
      clearTimeout(this.#timer);
    }
  }
  return ViewPlugin.fromClass(Overview);
}
