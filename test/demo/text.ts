/** The text that the two editors of the demo type: each writes one section, at the same time. */

export const title = "How one page survives two writers";

/** The article as it is created: two headings with nothing below them. */
export const skeleton = `# ${title}

## The first editor's half

## The second editor's half
`;

/** One paragraph each: an editor that comes back knows its half by the blank lines around it. */
export const halves = {
  first: `Every key that is pressed here becomes a small, self-contained fact: this character, made by this writer, stands after that one. Facts of this kind can arrive in any order and still add up to the same page. The server writes a fact to disk before it shows it to anybody. What a second pair of eyes has seen is therefore no promise but history, and history outlives a power switch.`,
  second: `Meanwhile somebody else is at work twelve lines further down. Neither waits for the other, neither locks the page, and neither finds their own words moved from under the cursor. When the connection drops, typing goes on. The two sides compare what they hold, exchange what the other lacks, and meet again on the same text, to the byte.`,
} as const;

/** Where each half stands: the heading it belongs under. */
export const headings = { first: "## The first editor's half", second: "## The second editor's half" } as const;

export type Half = keyof typeof halves;
