import { expect, test } from "vitest";
import { findSections, replaceSection } from "./sections.ts";

const sectionOf = async (markdown: string, heading: string) =>
  (await findSections({ markdown, heading })).map(({ start, end }) => markdown.slice(start, end));

test("[CO19] a section is found by the text of its heading, in every form of heading", async () => {
  const text = "---\ntitle: One\n---\n\n  # A *b* `c`\n\nx\n\nSetext  two\nlines\n===\n\ny\n\n### Deep\n\nz\n";
  expect(await sectionOf(text, "A b c")).toEqual(["  # A *b* `c`\n\nx\n\n"]);
  expect(await sectionOf(text, "Setext two lines")).toEqual(["Setext  two\nlines\n===\n\ny\n\n### Deep\n\nz\n"]);
  expect(await sectionOf(text, "Deep")).toEqual(["### Deep\n\nz\n"]);
  expect(await sectionOf(text, "title: One")).toEqual([]);
  expect(await sectionOf("```\n# Code\n```\n", "Code")).toEqual([]);
});

test("[CO19] offsets are right after a byte order mark, Windows line ends and characters outside the BMP", async () => {
  expect(await sectionOf("\ufeff# 🙂\r\n\r\nx\r\n# Two\r\ny", "🙂")).toEqual(["# 🙂\r\n\r\nx\r\n"]);
  expect(await sectionOf("🙂🙂\r\n\r\n# Two\r\ny", "Two")).toEqual(["# Two\r\ny"]);
});

test("[CO19] the line ends after a section stay, with an empty line before the next text", () => {
  const replace = (live: string, section: string, earlier: string) => {
    const start = live.indexOf(section);
    return replaceSection(live, { start, end: start + section.length }, earlier);
  };
  expect(replace("# A\n\nx\n\n\n# B\n", "# A\n\nx\n\n\n", "# A\n\ny")).toBe("# A\n\ny\n\n\n# B\n");
  expect(replace("# A\n# B\n", "# A\n", "# A\n\ny\n\n")).toBe("# A\n\ny\n\n# B\n");
  expect(replace("# A\r\n# B\r\n", "# A\r\n", "# A\r\n\r\ny")).toBe("# A\r\n\r\ny\r\n\r\n# B\r\n");
  expect(replace("# A\n\nx", "# A\n\nx", "# A\n\ny\n\n")).toBe("# A\n\ny");
  expect(replace("# A\n# B\n", "# A\n", "# A\n\n")).toBe("# A\n# B\n");
});
