/**
 * Texts that the people of the demo type and that the model replacement sends. A passage follows its mark, so an editor
 * that returns can read in the text how much of the passage exists.
 */

export interface Passage {
  readonly mark: string;
  readonly words: string;
}

export const title = "How one page survives two writers";

/** Two people type one half each, at the same time. */
export const halves = {
  first: {
    mark: "## The first editor's half\n\n",
    words: `Every key that is pressed here becomes a small, self-contained fact: this character, made by this writer, stands after that one. Facts of this kind can arrive in any order and still add up to the same page. The server writes a fact to disk before it shows it to anybody. What a second pair of eyes has seen is therefore no promise but history, and history outlives a power switch.`,
  },
  second: {
    mark: "## The second editor's half\n\n",
    words: `Meanwhile somebody else is at work twelve lines further down. Neither waits for the other, neither locks the page, and neither finds their own words moved from under the cursor. When the connection drops, typing goes on. The two sides compare what they hold, exchange what the other lacks, and meet again on the same text, to the byte.`,
  },
} as const satisfies Record<string, Passage>;

/** The new article: two headings with empty sections. */
export const skeleton = `# ${title}\n\n${halves.first.mark}\n\n${halves.second.mark}\n`;

export const topicTitle = "How a draft survives a power cut";

/** Notes that people type while the agent writes: one before its text, one in the middle of it. */
export const notes = {
  first: {
    mark: "> First editor: ",
    words:
      "I keep this block at the top while the draft below me is still being written. Please leave the numbers as they are; I have them from the people who measured, and I am adding where as I go.",
  },
  second: {
    mark: "\n> Second editor: ",
    words:
      "I am writing inside the agent's own text, between its title and its first paragraph. If that text is ever taken back, this remark has to be standing here all the same, with every letter of it.",
  },
} as const satisfies Record<string, Passage>;

/** The frame of a note, inserted before its words. */
export const noteFrames = { first: `${notes.first.mark}\n\n`, second: `${notes.second.mark}\n` } as const;

/** Text of the model replacement for each step that asks a model. */
export const dictations: Readonly<Record<"research" | "thesis" | "outline" | "draft", string>> = {
  research: `# Research: ${topicTitle}

- What is on disk when a process dies, and what was only in its memory.
- Who may say afterwards that a piece of work was done, and who did it.
- What people expect who typed into the same page meanwhile.
`,
  thesis: "A run is safe when its history is: what finished is a fact, and what did not finish leaves no trace of itself.\n",
  outline: `# ${topicTitle}

## What a crash leaves behind

- Half a text, and nobody who remembers it

## Who may finish it

- A lease, and the number of its attempt

## What the people notice

- A pause
`,
  draft: `# ${topicTitle}

A program that writes into a page is one more writer, and it can die in the middle of a word like any other.

## What a crash leaves behind

Half a text stays on the page. The one who was writing it is gone, and with it all that was only in memory. But each of its letters carries the number of the attempt that typed it, and that number was on disk before the first letter was.

## Who may finish it

The work was lent, not given. When nobody renews the lease, the next process takes it, erases what the lost attempt had typed, letter by letter, and begins again. Steps that had finished are history and are left alone.

## What the people notice

A pause. Their own sentences stand where they typed them, also those in the middle of the text that went and came back.
`,
};
