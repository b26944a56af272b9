/** Tests what the preview hides, shows and replaces, on states without a page. */
import { syntaxTree } from "@codemirror/language";
import { EditorState, type RangeSet } from "@codemirror/state";
import type { Decoration } from "@codemirror/view";
import fc from "fast-check";
import { expect, test } from "vitest";
import { imageAddress, linkAddress } from "../core/links.ts";
import { revealField, setFocused } from "../core/reveal.ts";
import { complete, stateOf } from "../core/testState.ts";
import { blockField } from "./blocks.ts";
import { buildPreview } from "./inline.ts";
import { parseTable } from "./table.ts";

function focused(marked: string): EditorState {
  return stateOf(marked, revealField, blockField).update({ effects: setFocused.of(true) }).state;
}

/** Returns the text without the hidden parts. A widget is shown as `◦`. */
function visibleText(state: EditorState): string {
  const { decorations } = buildPreview(state, [{ from: 0, to: state.doc.length }]);
  let text = "";
  let end = 0;
  decorations.between(0, state.doc.length, (from, to, { spec }: Decoration) => {
    const isReplaced = to > from && spec.class === undefined && spec.attributes === undefined;
    if (!isReplaced || from < end) return;
    text += state.sliceDoc(end, from) + (spec.widget === undefined ? "" : "◦");
    end = to;
  });
  return text + state.sliceDoc(end);
}

test("[WA32] the syntax of what the selection does not touch is hidden", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["‹›\n# Title #\n\nText", "\nTitle\n\nText"],
    ["# Ti‹›tle\n\nText", "# Title\n\nText"],
    ["‹›a **b** *c* ~~d~~ `e`", "a b c d e"],
    ["a **b‹›** *c*", "a **b** c"],
    ['‹›a [b](https://c.example "t") d', "a b d"],
    ["a [b‹›](https://c.example) d", "a [b](https://c.example) d"],
    ["‹›a array[0] and [^1]", "a array[0] and [^1]"],
    ["‹›\n> a\n> b", "\na\nb"],
    ["‹›\n- a\n  - b\n    c\n1) d", "\n◦a\n◦b\nc\n◦d"],
    ["- a‹›", "◦a"],
    ["-‹› a", "- a"],
    ["‹›\n- [x] a\n- [ ] b", "\n◦a\n◦b"],
    ["‹›a\n\n---\n\nb", "a\n\n\n\nb"],
    ["‹›a\n\n```js\n**b**\n```", "a\n\njs\n**b**\n"],
    ["a\n\n```js\n**b‹›**\n```", "a\n\n```js\n**b**\n```"],
    ["‹›a \\* b", "a * b"],
    ["‹›a <https://b.example> c", "a https://b.example c"],
    ["---\ntitle: **a**\n---\n\n‹›**b**", "---\ntitle: **a**\n---\n\n**b**"],
    ["‹›a ![b](https://c.example/d.png) e", "a ◦ e"],
    ["‹›a ![b](javascript:x) e", "a ![b](javascript:x) e"],
  ];
  for (const [marked, shown] of rows) expect(visibleText(focused(marked)), marked).toBe(shown);
});

test("[WA32] without the focus, and for readers, no source is shown", () => {
  expect(visibleText(stateOf("a **b‹›**", revealField, blockField))).toBe("a b");
  const reader = stateOf("a **b‹›**", revealField, blockField, EditorState.readOnly.of(true));
  expect(visibleText(reader.update({ effects: setFocused.of(true) }).state)).toBe("a b");
});

test("[WA33] a table has its alignments, its empty cells, and the place of each cell in the source", () => {
  const source = "| a | b \\| c |  |\n|:--|:-:|--:|\n| 1 |  | `x` |\n| 2 |";
  const table = parseTable(source);
  expect(table?.alignments).toEqual(["left", "center", "right"]);
  const texts = (cells: readonly { from: number; to: number }[] = []) => cells.map(({ from, to }) => source.slice(from, to));
  expect(texts(table?.header)).toEqual(["a", "b \\| c", ""]);
  expect(table?.rows.map(texts)).toEqual([
    ["1", "", "`x`"],
    ["2", "", ""],
  ]);
  const empty = table?.rows[0]?.[1];
  expect(source.slice(0, empty?.from)).toMatch(/\| 1 \| $/);
  expect(parseTable("a | b\n--- | ---\n1 | 2")?.rows.map((row) => row.length)).toEqual([2]);
  expect(parseTable("no table")).toBeUndefined();
});

function blocksOf(decorations: RangeSet<Decoration>): string[] {
  const found: string[] = [];
  for (const cursor = decorations.iter(); cursor.value !== null; cursor.next()) found.push(`${cursor.from}-${cursor.to}`);
  return found;
}

test("[WA33] tables and pictures are replaced as blocks while the cursor is outside of them", () => {
  const table = "| a |\n| - |\n| 1 |";
  const picture = "![b](https://c.example/d.png)";
  const outside = focused(`‹›Text\n\n${table}\n\n${picture}\n\n![x](data:image/png;base64,AA)`);
  expect(blocksOf(outside.field(blockField).decorations)).toEqual(["6-23", "25-54"]);
  const inside = outside.update({ selection: { anchor: 8 } }).state;
  expect(blocksOf(inside.field(blockField).decorations)).toEqual(["25-54"]);
  // The picture stays below its source.
  expect(blocksOf(outside.update({ selection: { anchor: 30 } }).state.field(blockField).decorations)).toEqual(["6-23", "54-54"]);
  expect(blocksOf(focused("---\na: |\n  | a |\n| a |\n| - |\n---\n").field(blockField).decorations)).toEqual([]);
});

test("[WA35] after any edits the replaced blocks are those of a newly opened text", () => {
  const piece = fc.constantFrom(
    "| a | b |\n| - | - |\n| 1 | 2 |",
    "![p](https://a.example/b.png)",
    "Text **bold**.",
    "\n\n",
    "\n",
    "```",
    "> ",
    "- ",
    "| - |",
    "---",
    "    ",
    "<div>",
  );
  const edit = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat({ max: 30 }), piece);
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), fc.array(edit, { minLength: 1, maxLength: 6 }), (pieces, edits) => {
      let state = stateOf(pieces.join("\n\n"), revealField, blockField);
      for (const [place, removed, insert] of edits) {
        const from = Math.floor(place * state.doc.length);
        state = state.update({ changes: { from, to: Math.min(state.doc.length, from + removed), insert } }).state;
      }
      state = complete(state);
      expect(syntaxTree(state).length).toBe(state.doc.length);
      const fresh = stateOf(state.doc.toString(), revealField, blockField);
      const blocks = ({ decorations }: { decorations: RangeSet<Decoration> }) => blocksOf(decorations);
      expect(blocks(state.field(blockField))).toEqual(blocks(fresh.field(blockField)));
    }),
    { numRuns: 200 },
  );
});

test("[WA34] only web and mail addresses are opened, and only web addresses and paths of this site are loaded", () => {
  expect(linkAddress("https://a.example/b")).toBe("https://a.example/b");
  expect(linkAddress("<https://a.example/b>")).toBe("https://a.example/b");
  expect(linkAddress("www.a.example")).toBe("https://www.a.example/");
  expect(linkAddress("me@a.example")).toBe("mailto:me@a.example");
  for (const refused of [
    "javascript:alert(1)",
    " java\nscript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "/path",
    "#a",
    "vbscript:x",
    "",
  ]) {
    expect(linkAddress(refused), refused).toBeUndefined();
  }
  expect(imageAddress("/p/a.png")).toBe("/p/a.png");
  expect(imageAddress("https://a.example/b.png")).toBe("https://a.example/b.png");
  for (const refused of ["//b.example/c.png", "/\\b.example/c.png", "data:image/png;base64,AA", "mailto:a@b.example", "a.png"]) {
    expect(imageAddress(refused), refused).toBeUndefined();
  }
});
