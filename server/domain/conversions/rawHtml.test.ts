import type { Root } from "mdast";
import { expect, test } from "vitest";
import type { ConversionOutputFormat } from "../../../api/schema/conversion.ts";
import { lostIn, runConversion, toText } from "../../../test/support/conversionRuns.ts";
import { testDocuments } from "../../../test/support/documents.ts";

/** The words of an output, in one line. */
async function readWords(to: ConversionOutputFormat, bytes: Uint8Array): Promise<string> {
  const text = to === "txt" ? toText({ bytes }) : toText(await runConversion(to, "txt", bytes));
  return text.replace(/\s+/gu, " ").trim();
}

const withoutHtml = ["txt", "docx", "pdf"] as const;

const hidden = [
  "<script>alert(1)</script>",
  "<style>p{color:red}</style>",
  "<template>alert</template>",
  "<noscript>alert</noscript>",
  '<iframe src="https://example.com/">alert</iframe>',
  "<!-- alert -->",
];

test.each([...withoutHtml, "html"] as const)(
  "[CV100] the content of scripts, styles, frames and comments is not text in %s",
  async (to) => {
    const inline = hidden.map((html, at) => `Before${at} ${html} after${at}.`).join("\n\n");
    const blocks = hidden.join("\n\n");
    const { bytes, fidelity } = await runConversion("markdown", to, `# Top <script>alert(2)</script>\n\n${inline}\n\n${blocks}\n\nEnd.\n`);
    const words = await readWords(to, bytes);
    expect(words).toBe(`Top ${hidden.map((_, at) => `Before${at} after${at}.`).join(" ")} End.`);
    if (to === "html") expect(toText({ bytes })).not.toMatch(/alert|color:red/);
    expect(lostIn(fidelity)).toMatchObject({ "script or style": 7, "form or embedded object": 4, comment: 2 });
    expect(lostIn(fidelity).text).toBeUndefined();
  },
);

test.each(["txt", "html"] as const)("[CV100] a tag of a script or form that is not closed removes no words from %s", async (to) => {
  const markdown = "Alpha <script> beta\n\n> <form>\n\n*Gamma* <script>delta</script>\n";
  const { bytes, fidelity } = await runConversion("markdown", to, markdown);
  expect(await readWords("txt", (await runConversion(to, "txt", bytes)).bytes)).toMatch(/^Alpha beta .*Gamma$/);
  expect(fidelity.losses).toContainEqual({ construct: "script or style", count: 2, lines: [1, 5] });
  expect(fidelity.losses).toContainEqual({ construct: "form or embedded object", count: 1, lines: [3] });
  expect(lostIn(fidelity).text).toBeUndefined();
});

test.each(withoutHtml)("[CV101] the words of raw HTML, in blocks and in lines, are kept in %s", async (to) => {
  const markdown =
    "Alpha <b>Beta</b> <span>Gamma</span>\n\n<details><summary>Sum</summary>\n\nInnen\n\n</details>\n\n<div>Block text</div>\n\n<p>absatz</p>\n\n<b>\n\nBold\n\n</b>\n";
  const { bytes, fidelity } = await runConversion("markdown", to, markdown);
  expect(await readWords(to, bytes)).toBe("Alpha Beta Gamma Sum Innen Block text absatz Bold");
  expect(fidelity.losses.filter(({ construct }) => construct === "HTML attribute or element")).toEqual([
    { construct: "HTML attribute or element", count: 2, lines: [3] },
  ]);
  expect(lostIn(fidelity)).not.toHaveProperty("text");
  expect(lostIn(fidelity)).not.toHaveProperty("raw HTML");
});

test("[CV102] raw HTML becomes structure in DOCX: headings, lists, tables, links and line breaks", async () => {
  const markdown = `<h2>Head <em>line</em></h2>

<ul><li>one</li><li>two</li></ul>

<table><tr><th>a</th></tr><tr><td>

*b*

</td></tr></table>

First<br>second <a href="https://example.com/">link</a> <b>bold</b>.
`;
  const { bytes, fidelity } = await runConversion("markdown", "docx", markdown);
  expect(fidelity).toEqual({ score: 1, losses: [] });
  const back = toText(await runConversion("docx", "markdown", bytes));
  expect(back).toContain("## Head _line_");
  expect(back).toMatch(/- one\n- two/);
  expect(back).toMatch(/\| a +\|\n\| -+ \|\n\| _b_ \|/);
  expect(back).toMatch(/First(?:\\| {2})\nsecond \[link\]/);
  expect(back).toContain("**bold**");
});

test("[CV101] blocks in the cells of an HTML table keep their words", async () => {
  const html = "<table><tr><th><p>a</p><p>b</p></th><td><ul><li>c</li><li><pre>d</pre></li></ul></td></tr></table>";
  const { bytes, fidelity } = await runConversion("html", "txt", html);
  expect(toText({ bytes })).toBe("a b\tc d\n");
  expect(lostIn(fidelity).text).toBeUndefined();
});

test("[CV103] raw HTML beside a Markdown text changes nothing of its report", async () => {
  for (const { name, markdown } of testDocuments) {
    if (name === "rawHtml") continue;
    for (const to of ["docx", "txt", "html"] as const) {
      const alone = await runConversion("markdown", to, markdown);
      const beside = await runConversion("markdown", to, `${markdown}\n\n<p>beside</p>\n`);
      expect(beside.fidelity.losses, `${name} → ${to}`).toEqual(alone.fidelity.losses);
    }
  }
  const rest = "[call](tel:112) [^unused]\n\n[^unused]: Note <b>bold</b>.\n\n[^never]: Never used.\n";
  expect(toText(await runConversion("markdown", "txt", rest))).toBe(
    "call (tel:112) [unused]\n\n[unused] Note bold.\n\n[never] Never used.\n",
  );
});

test("[CV102] Markdown and JSON keep raw HTML as it is", async () => {
  const markdown = "One <kbd>two</kbd> <script>x()</script>.\n\n<details><summary>Sum</summary></details>\n";
  const json = await runConversion("markdown", "json", markdown);
  expect(json.fidelity).toEqual({ score: 1, losses: [] });
  expect((JSON.parse(toText(json)) as Root).children[1]).toEqual({ type: "html", value: "<details><summary>Sum</summary></details>" });
  expect(toText(await runConversion("json", "markdown", json.bytes))).toBe(markdown);
  expect(await readWords("txt", (await runConversion("json", "txt", json.bytes)).bytes)).toBe("One two . Sum");
});

test("[CV104] the report of an HTML output names only the raw HTML that the sanitiser removed, with its line", async () => {
  const kept =
    "Alpha\n\n<details open><summary>Sum</summary>\n\nInnen\n\n</details>\n\n<div>Block text</div>\n\n<p>absatz <kbd>x</kbd></p>\n";
  expect((await runConversion("markdown", "html", kept)).fidelity).toEqual({ score: 1, losses: [] });
  const removed = `# Notes[^1]

<p onclick="x()" style="color:red">one</p>

<!-- note --> <mark>two</mark> <a href="tel:112">three</a>

<form><input name="a"></form>

- [x] four \`five\`

[^1]: Note.
`;
  const { bytes, fidelity } = await runConversion("markdown", "html", removed);
  expect(await readWords("html", bytes)).toBe("Notes[1] one two three - [x] four five [1] Note.");
  expect(fidelity.losses.toSorted((one, other) => one.construct.localeCompare(other.construct))).toEqual([
    { construct: "comment", count: 1, lines: [5] },
    { construct: "form or embedded object", count: 1, lines: [7] },
    { construct: "HTML attribute or element", count: 2, lines: [3, 5] },
    { construct: "link", count: 1, lines: [5] },
    { construct: "script or style", count: 1, lines: [3] },
  ]);
});
