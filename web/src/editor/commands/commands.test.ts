/** Tests the commands of the toolbar and of the keyboard on states without a page. */
import { EditorState, type StateCommand } from "@codemirror/state";
import { expect, test } from "vitest";
import { run, stateOf } from "../core/testState.ts";
import { linkSelection } from "../paste/paste.ts";
import { insertRule, insertTable, toggleCodeBlock, toggleHeading, toggleList, toggleQuote, toggleTask } from "./blocks.ts";
import { isActive } from "./commands.ts";
import { insertImage, toggleInline, toggleLink } from "./inline.ts";
import { indentItem, outdentItem } from "./lists.ts";
import { continueMarkup, enclose } from "./typing.ts";

/** Each row: the command, the text before, and the text after. */
function check(rows: readonly (readonly [StateCommand, string, string | undefined])[]): void {
  for (const [command, before, after] of rows) expect(run(command, before), before).toBe(after);
}

const bold = toggleInline("bold");
const italic = toggleInline("italic");
const code = toggleInline("code");

test("[WA30] emphasis is added to a selection or to the word of the cursor, and removed by the same command", () => {
  check([
    [bold, "a ‹word› b", "a **‹word›** b"],
    [bold, "a **‹word›** b", "a ‹word› b"],
    [bold, "a wo‹›rd b", "a **wo‹›rd** b"],
    [bold, "a **wo‹›rd** b", "a wo‹›rd b"],
    [bold, "a ‹›", "a **‹›**"],
    [bold, "a **‹›**", "a ‹›"],
    [bold, "a **word‹›**", "a **word**‹›"],
    [bold, "a‹ word ›b", "a‹ **word** ›b"],
    [bold, "a‹ **word** ›b", "a‹ word ›b"],
    [bold, "‹one **two** three›", "**‹one two three›**"],
    [italic, "**a ‹word› b**", "**a *‹word›* b**"],
    [italic, "***‹word›***", "**‹word›**"],
    [toggleInline("strike"), "‹word›", "~~‹word›~~"],
    [code, "a ‹b`c› d", "a `` ‹b`c› `` d"],
    [code, "a `‹b›` d", "a ‹b› d"],
  ]);
});

test("[WA30] emphasis over several lines is put into each line, behind the marks of lists, quotes and headings", () => {
  check([
    [bold, "‹- one\n- two›", "‹- **one**\n- **two›**"],
    [bold, "‹# one\n\n> two›", "‹# **one**\n\n> **two›**"],
    [bold, "‹- **one**\n- **two›**", "‹- one\n- two›"],
  ]);
});

test("[WA30] headings, lists and quotes replace each other's marks, and the same command removes its own", () => {
  check([
    [toggleHeading(2), "a‹›b", "## a‹›b"],
    [toggleHeading(2), "# ‹›b", "## ‹›b"],
    [toggleHeading(1), "# a‹›", "a‹›"],
    [toggleHeading(1), "- a‹›", "# a‹›"],
    [toggleHeading(1), "> a‹›", "> # a‹›"],
    [toggleList("bullet"), "‹a\n\nb›", "- ‹a\n\n- b›"],
    [toggleList("ordered"), "‹- a\n- b›", "‹1. a\n2. b›"],
    [toggleList("ordered"), "‹a\n  b\n  c\nd›", "1. ‹a\n  1. b\n  2. c\n2. d›"],
    [toggleList("task"), "- a‹›", "- [ ] a‹›"],
    [toggleList("task"), "- [x] a‹›", "a‹›"],
    [toggleList("bullet"), "‹›", "- ‹›"],
    [toggleQuote, "‹a\n\nb›", "> ‹a\n> \n> b›"],
    [toggleQuote, "‹> a\n>\n> b›", "‹a\n\nb›"],
    [toggleTask, "- [ ] a‹›", "- [x] a‹›"],
    [toggleTask, "1. [x] a‹›", "1. [ ] a‹›"],
    [toggleTask, "a‹›", undefined],
  ]);
});

test("[WA30] code blocks, links, pictures, tables and rules are inserted, and the part to fill in is selected", () => {
  check([
    [toggleCodeBlock, "a‹›", "```\na‹›\n```"],
    [toggleCodeBlock, "```js\na‹›\n```", "a‹›"],
    [toggleCodeBlock, "‹```\na\n```›", "‹a›"],
    [toggleLink, "a ‹word› b", "a [word](‹https://›) b"],
    [toggleLink, "‹https://a.example/b›", "[‹›](https://a.example/b)"],
    [toggleLink, "a [wo‹›rd](https://a.example) b", "a wo‹›rd b"],
    [insertImage, "‹›", "![‹›](https://)"],
    [insertRule, "a‹›", "a\n\n---\n‹›"],
    [insertRule, "a\n\n‹›\nb", "a\n\n---\n‹›\nb"],
    [insertTable, "", "| ‹Column 1› | Column 2 |\n| --- | --- |\n|  |  |\n|  |  |\n"],
  ]);
});

test("[WA31] Enter continues lists, tasks and quotes, and ends them at an empty item", () => {
  check([
    [continueMarkup, "- a‹›", "- a\n- ‹›"],
    [continueMarkup, "1. a‹›", "1. a\n2. ‹›"],
    [continueMarkup, "- [x] a‹›", "- [x] a\n- [ ] ‹›"],
    [continueMarkup, "> a‹›", "> a\n> ‹›"],
    [continueMarkup, "- a\n- ‹›", "- a\n‹›"],
    [continueMarkup, "- a\n  - ‹›", "- a\n- ‹›"],
    [continueMarkup, "a‹›", undefined],
    [continueMarkup, "```\n- a‹›\n```", undefined],
  ]);
});

test("[WA31] Tab and Shift-Tab nest a list item with all that is in it, and leave other text to the browser", () => {
  check([
    [indentItem, "- a\n- b‹›", "- a\n  - b‹›"],
    [indentItem, "1. a\n2. b‹›\n   - c", "1. a\n   1. b‹›\n      - c"],
    [indentItem, "1. a\n   1. b\n2. c‹›", "1. a\n   1. b\n   2. c‹›"],
    [indentItem, "- a‹›", "- a‹›"],
    [indentItem, "a‹›", undefined],
    [indentItem, "```\na‹›\n```", undefined],
    [outdentItem, "- a\n  - b‹›\n    - c", "- a\n- b‹›\n  - c"],
    [outdentItem, "1. a\n   1. b‹›", "1. a\n2. b‹›"],
    [outdentItem, "- a‹›", "- a‹›"],
    [outdentItem, "a‹›", undefined],
    [indentItem, "> - a\n> - b‹›", "> - a\n>   - b‹›"],
  ]);
});

test("[WA31] a mark that is typed over a selection encloses it", () => {
  check([
    [enclose("*"), "a ‹b› c", "a *‹b›* c"],
    [enclose("("), "‹b›", "(‹b›)"],
    [enclose("*"), "a ‹›", undefined],
    [enclose("x"), "‹b›", undefined],
  ]);
});

test("[WA37] an address that is pasted over text makes a link, unless the text is code or an address", () => {
  const paste = linkSelection("https://a.example/b(c)");
  check([
    [paste, "a ‹word› b", "a [word](https://a.example/b%28c%29)‹› b"],
    [paste, "‹›", undefined],
    [paste, "`‹word›`", undefined],
    [paste, "‹https://b.example›", undefined],
    [paste, "‹a\nb›", undefined],
    [linkSelection("https://a.example and more"), "‹word›", undefined],
    [linkSelection("javascript:alert(1)"), "‹word›", undefined],
    [linkSelection("www.a.example"), "‹word›", "[word](https://www.a.example/)‹›"],
  ]);
});

test("[WA38] no command changes a text that is read-only", () => {
  const all = [
    bold,
    italic,
    code,
    toggleHeading(1),
    toggleList("bullet"),
    toggleQuote,
    toggleCodeBlock,
    toggleLink,
    insertImage,
    insertRule,
    insertTable,
  ];
  for (const command of [...all, indentItem, outdentItem, toggleTask, enclose("*")]) {
    expect(run(command, "- [ ] a\n- [ ] ‹b›", EditorState.readOnly.of(true))).toBeUndefined();
  }
});

test("[WA30] the toolbar sees what the selection has", () => {
  const marked = "# Title\n\n- [ ] a **b‹›** c\n\n> q";
  const state = stateOf(marked);
  expect(isActive(state, "bold")).toBe(true);
  expect(isActive(state, "taskList")).toBe(true);
  expect(isActive(state, "bulletList")).toBe(false);
  expect(isActive(state, "heading1")).toBe(false);
  expect(isActive(stateOf("# Ti‹›tle"), "heading1")).toBe(true);
  expect(isActive(stateOf("> q‹›"), "quote")).toBe(true);
  expect(isActive(stateOf("```\n- a‹›\n```"), "codeBlock")).toBe(true);
  expect(isActive(stateOf("```\n- a‹›\n```"), "bulletList")).toBe(false);
  expect(isActive(stateOf("a [b‹›](https://c.example)"), "link")).toBe(true);
});
