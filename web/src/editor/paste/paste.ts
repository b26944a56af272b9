/** Pasting: an address over a selection makes a link, and formatted text becomes Markdown. In code everything stays as it is. */
import { syntaxTree } from "@codemirror/language";
import type { EditorState, Extension, StateCommand } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { enclosing } from "../core/language.ts";
import { linkAddress } from "../core/links.ts";
import { hasFormatting, htmlToMarkdown } from "./htmlToMarkdown.ts";

/** Longer HTML, in characters, is pasted as plain text. */
const maxHtml = 2_000_000;

const isCode = (state: EditorState, from: number, to: number) =>
  enclosing(syntaxTree(state), from, to, "FencedCode", "CodeBlock", "InlineCode") !== undefined;

/** Makes the selected text a link to the address. Returns false if that is not possible. */
export function linkSelection(pasted: string): StateCommand {
  return ({ state, dispatch }) => {
    const { from, to, empty } = state.selection.main;
    const text = state.sliceDoc(from, to);
    const source = pasted.trim();
    const address = /^(?:https?:\/\/|mailto:|www\.)\S+$/i.test(source) ? linkAddress(source) : undefined;
    const isOther = isCode(state, from, to) || enclosing(syntaxTree(state), from, to, "Link", "Image", "URL") !== undefined;
    // An address that is pasted over another one replaces it.
    if (empty || address === undefined || isOther || text.includes("\n") || linkAddress(text) !== undefined) return false;
    const target = address.replace(/[()]/g, (sign) => (sign === "(" ? "%28" : "%29"));
    const insert = `[${text}](${target})`;
    dispatch(
      state.update({
        changes: { from, to, insert },
        selection: { anchor: from + insert.length },
        scrollIntoView: true,
        userEvent: "input.paste",
      }),
    );
    return true;
  };
}

/** Inserts Markdown. A block that follows other text begins with an empty line. */
export function insertMarkdown(markdown: string): StateCommand {
  return ({ state, dispatch }) => {
    const { from, to } = state.selection.main;
    const line = state.doc.lineAt(from);
    const isBlock = /^(?:#{1,6} |[-*+] |\d+\. |> |`{3}|\||---)/.test(markdown) || markdown.includes("\n\n");
    const before = isBlock && line.text.slice(0, from - line.from).trim() !== "" ? "\n\n" : "";
    const after =
      isBlock &&
      state.doc
        .lineAt(to)
        .text.slice(to - state.doc.lineAt(to).from)
        .trim() !== ""
        ? "\n\n"
        : "";
    const insert = state.toText(before + markdown + after);
    dispatch(
      state.update({
        changes: { from, to, insert },
        selection: { anchor: from + insert.length - after.length },
        scrollIntoView: true,
        userEvent: "input.paste",
      }),
    );
    return true;
  };
}

export const pasting: Extension = [
  // A text has the line breaks of the document only.
  EditorView.clipboardInputFilter.of((text) => text.replace(/\r\n?/g, "\n")),
  EditorView.domEventHandlers({
    paste(event, view) {
      const data = event.clipboardData;
      const { state } = view;
      if (data === null || state.readOnly) return false;
      if (linkSelection(data.getData("text/plain"))(view)) {
        event.preventDefault();
        return true;
      }
      const html = data.getData("text/html");
      const { from, to } = state.selection.main;
      // Code editors describe the colours of their text in HTML.
      const isFromCode = data.types.some((type) => type.startsWith("vscode-")) || isCode(state, from, to);
      if (html === "" || html.length > maxHtml || isFromCode || !hasFormatting(html)) return false;
      const markdown = htmlToMarkdown(html);
      if (markdown === "") return false;
      event.preventDefault();
      return insertMarkdown(markdown)(view);
    },
  }),
];
