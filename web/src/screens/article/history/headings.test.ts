import { expect, test } from "vitest";
import { toHeadings } from "./headings.ts";

const heading = (depth: number, ...children: object[]) => ({ type: "heading", depth, children });
const words = (value: string) => ({ type: "text", value });

test("headings are named by their text without markup, and those of quotes begin no section", () => {
  const tree = {
    type: "root",
    children: [
      heading(1, words("How "), { type: "emphasis", children: [words("it")] }, { type: "inlineCode", value: " runs" }),
      { type: "blockquote", children: [heading(2, words("Quoted"))] },
      heading(2),
    ],
  };
  expect(toHeadings(JSON.stringify(tree))).toEqual([{ at: 0, depth: 1, text: "How it runs", isAmbiguous: false }]);
});

test("headings with the same text cannot be chosen", () => {
  const tree = { type: "root", children: [heading(2, words("Notes")), heading(3, words("Notes ")), heading(2, words("End"))] };
  expect(toHeadings(JSON.stringify(tree)).map(({ isAmbiguous }) => isAmbiguous)).toEqual([true, true, false]);
});
