/** The commands by name, for the toolbar, and whether the selection already has what a command would add. */
import { syntaxTree } from "@codemirror/language";
import { openSearchPanel, searchPanelOpen } from "@codemirror/search";
import type { EditorState } from "@codemirror/state";
import type { Command } from "@codemirror/view";
import { yUndoManagerKeymap } from "y-codemirror.next";
import { enclosing } from "../core/language.ts";
import { insertRule, insertTable, toggleCodeBlock, toggleHeading, toggleList, toggleQuote } from "./blocks.ts";
import { type InlineStyle, inlineStyles, insertImage, toggleInline, toggleLink } from "./inline.ts";
import { readPrefix } from "./linePrefix.ts";

/** The undo manager knows nothing of readers. */
function unlessReadOnly(key: string): Command {
  const run = yUndoManagerKeymap.find((binding) => binding.key === key)?.run;
  if (run === undefined)
    throw new Error(`y-codemirror.next has no command for ${key}; the installed version is not the one this module was written for`);
  return (view) => !view.state.readOnly && run(view);
}

export const commands = {
  bold: toggleInline("bold"),
  italic: toggleInline("italic"),
  strike: toggleInline("strike"),
  code: toggleInline("code"),
  link: toggleLink,
  image: insertImage,
  heading1: toggleHeading(1),
  heading2: toggleHeading(2),
  heading3: toggleHeading(3),
  bulletList: toggleList("bullet"),
  orderedList: toggleList("ordered"),
  taskList: toggleList("task"),
  quote: toggleQuote,
  codeBlock: toggleCodeBlock,
  table: insertTable,
  rule: insertRule,
  undo: unlessReadOnly("Mod-z"),
  redo: unlessReadOnly("Mod-y"),
  find: openSearchPanel,
} satisfies Record<string, Command>;

export type CommandName = keyof typeof commands;

const lists = { bulletList: "bullet", orderedList: "ordered", taskList: "task" } as const;
const nodes: Partial<Record<CommandName, string>> = {
  link: "Link",
  image: "Image",
  quote: "Blockquote",
  codeBlock: "FencedCode",
  table: "Table",
};

const isList = (name: string): name is keyof typeof lists => Object.hasOwn(lists, name);
const isInline = (name: string): name is InlineStyle => Object.hasOwn(inlineStyles, name);

/** True if a button of the toolbar should look pressed. */
export function isActive(state: EditorState, name: CommandName): boolean {
  if (name === "find") return searchPanelOpen(state);
  const { from, to } = state.selection.main;
  const tree = syntaxTree(state);
  if (isInline(name)) return enclosing(tree, from, to, inlineStyles[name].node) !== undefined;
  const prefix = readPrefix(state.doc.lineAt(from).text);
  if (name.startsWith("heading")) return prefix.level === Number(name.slice(-1));
  // The beginning of a line in a code block has no meaning.
  if (isList(name)) return prefix.list === lists[name] && enclosing(tree, from, to, "FencedCode") === undefined;
  const node = nodes[name];
  return node !== undefined && enclosing(tree, from, to, node) !== undefined;
}
