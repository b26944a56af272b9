/**
 * The editor of the web app: Markdown on CodeMirror, shared through a Y.Text, with a preview in place.
 *
 * It knows no framework, no route and no API. The editor grows with its text; the element around it scrolls. Colours and fonts
 * come from the CSS variables of the app.
 */
import { syntaxTree } from "@codemirror/language";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import { EditorView, placeholder } from "@codemirror/view";
import type { Awareness } from "y-protocols/awareness";
import type * as Y from "yjs";
import { type CommandName, commands, isActive } from "./commands/commands.ts";
import { typing } from "./commands/typing.ts";
import "./editor.css";
import "./searchPanel.css";
import "./together/together.css";
import { markdownLanguage } from "./core/language.ts";
import { reveal, type TextRange } from "./core/reveal.ts";
import { openLinks } from "./openLinks.ts";
import type { Heading } from "./overview/outline.ts";
import { overview } from "./overview/overview.ts";
import type { Statistics } from "./overview/statistics.ts";
import { pasting } from "./paste/paste.ts";
import { blockField } from "./preview/blocks.ts";
import { enterBlocks } from "./preview/enterBlocks.ts";
import { inlinePreview } from "./preview/inline.ts";
import { searchPanel } from "./searchPanel.ts";
import { type BlameSpan, blame } from "./together/blame.ts";
import { type Mark, markRange, marks, setMarks } from "./together/marks.ts";
import { peers } from "./together/peers.ts";
import { createSync } from "./together/sync.ts";

export type { CommandName } from "./commands/commands.ts";
export type { TextRange } from "./core/reveal.ts";
export type { Heading } from "./overview/outline.ts";
export type { Statistics } from "./overview/statistics.ts";
export type { BlameSpan } from "./together/blame.ts";
export type { Mark } from "./together/marks.ts";

export interface EditorOptions {
  readonly parent: HTMLElement;
  readonly text: Y.Text;
  /** The own cursor is written into its field `cursor`. The server sets the names (docs/collaboration.md). */
  readonly awareness: Awareness;
  readonly readOnly: boolean;
  readonly placeholder: string;
  /** The accessible name of the text. */
  readonly ariaLabel: string;
  /** Returns the colour of a person or an agent, from 1 to 8: the tokens `--author-1` to `--author-8`. */
  readonly colourOf: (username: string) => number;
  readonly onStatistics?: (statistics: Statistics) => void;
  readonly onOutline?: (headings: readonly Heading[]) => void;
  /** Called after each change of the selection or of the text, so that a toolbar can ask `isActive` again. */
  readonly onSelection?: (selection: TextRange & { readonly isEmpty: boolean }) => void;
  /** Called with the id of a mark that was clicked. */
  readonly onMark?: (id: string) => void;
  /** Called when lines may have moved, so that a margin can ask `marginTop` again. */
  readonly onLayout?: () => void;
  readonly extensions?: readonly Extension[];
}

export interface Editor {
  readonly view: EditorView;
  setReadOnly(readOnly: boolean): void;
  focus(): void;
  /** Puts the cursor at a position and shows it near the top. */
  goTo(position: number): void;
  /** Runs a command of the toolbar and focuses the text. Returns false if the command does not apply. */
  runCommand(name: CommandName): boolean;
  /** True if the selection has what the command would add: the pressed state of its button. */
  isActive(name: CommandName): boolean;
  /** Replaces all marks. Positions are those of the text as it is now. */
  setMarks(marks: readonly Mark[]): void;
  /** The place of a mark now, or undefined if none of its text is left. */
  positionOf(id: string): TextRange | undefined;
  /** Distance in pixels from the top of the editor to the line in which a mark begins. */
  marginTop(id: string): number | undefined;
  /** Shows who wrote which lines, or hides it. */
  setBlame(spans: readonly BlameSpan[] | undefined): void;
  destroy(): void;
}

const help =
  "Markdown text. In a list, Tab nests the item and Shift Tab takes it out; elsewhere Tab moves the focus. To leave a list, press Escape and then Tab. Control Enter checks a task.";

function access(readOnly: boolean): Extension {
  return [
    EditorState.readOnly.of(readOnly),
    EditorView.editable.of(!readOnly),
    // A text that is not editable can still be focused and read with the keyboard.
    EditorView.contentAttributes.of(readOnly ? { tabindex: "0", "aria-readonly": "true" } : { "aria-description": help }),
  ];
}

export function createEditor(options: EditorOptions): Editor {
  const { parent, text, awareness, colourOf, onSelection, onMark, onLayout } = options;
  const accessPart = new Compartment();
  const blamePart = new Compartment();
  const sync = createSync(text);
  const listener = EditorView.updateListener.of(({ state, selectionSet, docChanged, focusChanged, geometryChanged, startState }) => {
    if (selectionSet || docChanged || focusChanged || syntaxTree(state) !== syntaxTree(startState)) {
      const { from, to, empty } = state.selection.main;
      onSelection?.({ from, to, isEmpty: empty });
    }
    if (docChanged || geometryChanged) onLayout?.();
  });
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text.toString(),
      extensions: [
        accessPart.of(access(options.readOnly)),
        sync.extension,
        peers(text, awareness, colourOf),
        marks(onMark),
        blamePart.of([]),
        openLinks,
        reveal,
        pasting,
        enterBlocks,
        typing,
        searchPanel,
        markdownLanguage.extension,
        blockField,
        inlinePreview,
        overview({ onStatistics: options.onStatistics, onOutline: options.onOutline }),
        placeholder(options.placeholder),
        EditorView.lineWrapping,
        EditorView.perLineTextDirection.of(true),
        EditorView.contentAttributes.of({
          "aria-label": options.ariaLabel,
          spellcheck: "true",
          autocorrect: "on",
          autocapitalize: "sentences",
        }),
        listener,
        options.extensions ?? [],
      ],
    }),
  });
  return {
    view,
    setReadOnly: (readOnly) => view.dispatch({ effects: accessPart.reconfigure(access(readOnly)) }),
    focus: () => view.focus(),
    goTo(position) {
      const anchor = Math.max(0, Math.min(position, view.state.doc.length));
      view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "start", yMargin: 48 }) });
      view.focus();
    },
    runCommand(name) {
      // The search panel focuses its own field.
      if (name !== "find") view.focus();
      return commands[name](view);
    },
    isActive: (name) => isActive(view.state, name),
    setMarks: (given) => view.dispatch({ effects: setMarks.of(given) }),
    positionOf: (id) => markRange(view, id),
    marginTop(id) {
      const range = markRange(view, id);
      if (range === undefined) return undefined;
      const top = view.documentTop - view.dom.getBoundingClientRect().top;
      // Only drawn lines have coordinates. A mark in another one is placed at the line's start.
      const drawn = view.coordsAtPos(range.from, 1);
      return drawn === null ? top + view.lineBlockAt(range.from).top : drawn.top - view.dom.getBoundingClientRect().top;
    },
    setBlame: (spans) => view.dispatch({ effects: blamePart.reconfigure(spans === undefined ? [] : blame(spans)) }),
    destroy() {
      view.destroy();
      sync.destroy();
    },
  };
}
