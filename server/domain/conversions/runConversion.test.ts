import type { Root } from "mdast";
import { expect, test } from "vitest";
import { type ConversionInputFormat, conversionInputFormats, conversionOutputFormats } from "../../../api/schema/conversion.ts";
import { syntaxTree } from "../../../api/schema/syntaxTree.ts";
import { lostIn, runConversion, toText } from "../../../test/support/conversionRuns.ts";
import { testDocument, testDocuments } from "../../../test/support/documents.ts";
import { isLossless } from "./engine/constructs.ts";

/** The document in each format, made from its Markdown. */
async function inEachFormat(markdown: string): Promise<ReadonlyMap<ConversionInputFormat, Uint8Array>> {
  const made = new Map<ConversionInputFormat, Uint8Array>();
  for (const format of conversionInputFormats) made.set(format, (await runConversion("markdown", format, markdown)).bytes);
  return made;
}

test("[CV1] each of the 36 pairs of formats converts a document and keeps its words", async () => {
  const sources = await inEachFormat(
    "# One\n\nTwo[^1] *three*.\n\n- four\n\n[^1]: Five six.\n\nSeven, eight, nine, ten and eleven words to keep.\n",
  );
  for (const [from, bytes] of sources) {
    for (const to of conversionOutputFormats) {
      const { bytes: output, fidelity } = await runConversion(from, to, bytes);
      expect(output.byteLength, `${from} → ${to}`).toBeGreaterThan(50);
      expect(lostIn(fidelity).text ?? 0, `${from} → ${to}`).toBe(0);
    }
  }
});

test("[CV2] pairs that are listed as lossless lose nothing of any test document", async () => {
  const pairs = conversionInputFormats.flatMap((from) =>
    conversionOutputFormats.flatMap((to) => (isLossless(from, to) ? [{ from, to }] : [])),
  );
  expect(pairs).toContainEqual({ from: "markdown", to: "json" });
  expect(pairs).not.toContainEqual({ from: "pdf", to: "txt" });
  for (const { name, markdown } of testDocuments) {
    for (const { from, to } of pairs) {
      const source = from === "markdown" ? { bytes: Buffer.from(markdown) } : await runConversion("markdown", from, markdown);
      expect((await runConversion(from, to, source.bytes)).fidelity, `${name}: ${from} → ${to}`).toEqual({ score: 1, losses: [] });
    }
  }
});

test("[CV3] a report names what was lost, how often, and in which lines of the source", async () => {
  const { fidelity } = await runConversion(
    "markdown",
    "txt",
    "# One\n\nTwo *three*\nand *four*.\n\n- five\n\n![six](https://example.com/6.png)\n",
  );
  expect(fidelity.score).toBeLessThan(1);
  expect(fidelity.losses).toEqual([
    { construct: "heading", count: 1, lines: [1] },
    { construct: "emphasis", count: 2, lines: [3, 4] },
    { construct: "bullet list", count: 1, lines: [6] },
    { construct: "block inside a list or quote", count: 1, lines: [6] },
    { construct: "image", count: 1, lines: [8] },
  ]);
});

test("[CV4] a loss is found by reading the output back: raw HTML and front matter that DOCX has not", async () => {
  const { fidelity } = await runConversion("markdown", "docx", "---\na: b\n---\n\nOne <kbd>two</kbd>.\n\n| a |\n|---|\n| b |\n");
  expect(fidelity.losses).toEqual([
    { construct: "HTML attribute or element", count: 1, lines: [5] },
    { construct: "front matter", count: 1, lines: [1] },
  ]);
});

const kept = ["releaseNotes", "tables", "footnotes", "code", "nestedLists", "chinese", "arabic", "hebrew", "emoji", "math", "letter"];

test.each(["html", "docx"] as const)("[CV5] Markdown through %s and back keeps its structure", async (through) => {
  for (const name of kept) {
    const there = await runConversion("markdown", through, testDocument(name));
    const allowed =
      through === "html" ? ["front matter"] : ["front matter", "link title", "list start number", "block inside a list or quote"];
    expect(
      Object.keys(lostIn(there.fidelity)).filter((construct) => !allowed.includes(construct)),
      name,
    ).toEqual([]);
    const back = await runConversion(through, "markdown", there.bytes);
    expect(Object.keys(lostIn(back.fidelity)), name).toEqual([]);
  }
});

test("[CV5] a picture inside of a document stays byte for byte; one elsewhere stays a link", async () => {
  const source = testDocument("images");
  const url = /data:image\/png;base64,[^)]+/.exec(source)?.[0] ?? "";
  const docx = await runConversion("markdown", "docx", source);
  expect(lostIn(docx.fidelity)).toEqual({ image: 1 });
  const back = toText(await runConversion("docx", "markdown", docx.bytes));
  expect(back).toContain(`![A sun over the sea](${url})`);
  expect(back).toContain("[a chart of tides](https://example.com/tides.png)");
});

test("[CV9] the signs of plain text are not read as markup", async () => {
  const text = "# not a heading\n\n- *not* a list <b>not bold</b>\n\n1. [no](link)\n";
  for (const through of ["markdown", "html", "docx", "json"] as const) {
    const there = await runConversion("txt", through, text);
    expect(there.fidelity, through).toEqual({ score: 1, losses: [] });
    expect(toText(await runConversion(through, "txt", there.bytes)), through).toBe(text);
  }
});

test("[CV10] JSON output has the closed shape of the syntax tree, and other shapes are refused at their place", async () => {
  for (const { name, markdown } of testDocuments) {
    for (const from of ["markdown", "html", "docx"] as const) {
      const source = (await runConversion("markdown", from, markdown)).bytes;
      const tree = JSON.parse(toText(await runConversion(from, "json", source))) as Root;
      expect(syntaxTree.safeParse(tree).error?.issues ?? [], `${name} from ${from}`).toEqual([]);
    }
  }
  const paragraph = { type: "paragraph", children: [{ type: "text", value: "a", script: "b" }] };
  await expect(runConversion("json", "html", JSON.stringify({ type: "root", children: [paragraph] }))).rejects.toThrow(
    /wrong at "\/children\/0\/children\/0".*script/,
  );
  await expect(runConversion("json", "html", '{"type":"root",')).rejects.toThrow("The document is not JSON");
});

test("[CV20] scripts, styles, forms and embedded objects of HTML are in no output, and the report counts them", async () => {
  const html = `<p onclick="steal()">One <script>steal()</script><style>p{}</style>two</p>
<iframe src="https://example.com/"></iframe><form action="https://example.com/"><input name="a"></form>
<a href="javascript:steal()">three</a> <img src="data:image/svg+xml,<svg onload=steal()>" alt="four"><svg onload="steal()"></svg>`;
  for (const to of conversionOutputFormats) {
    const { bytes, fidelity } = await runConversion("html", to, html);
    const output = to === "docx" || to === "pdf" ? toText(await runConversion(to, "txt", bytes)) : Buffer.from(bytes).toString("utf8");
    expect(output, to).not.toMatch(/steal|<(script|style|iframe|form|svg)|javascript:/i);
    expect(output, to).toMatch(/One\s+two/);
    expect(lostIn(fidelity), to).toMatchObject({ "script or style": 4, "form or embedded object": 3 });
  }
});

test("[CV92] a link that runs a script or opens a file is in no DOCX or PDF, and the report has its line", async () => {
  const unsafe = [
    "javascript:steal()",
    "JavaScript:steal()",
    "java&#9;script:steal()",
    "vbscript:steal()",
    "data:text/html,steal",
    "file:///steal",
  ];
  const markdown = `[kept](https://example.com/kept) [mail](mailto:a@example.com)\n\n${unsafe.map((url) => `[**bold** text](<${url}>)`).join("\n\n")}\n`;
  for (const to of ["docx", "pdf"] as const) {
    const { bytes, fidelity } = await runConversion("markdown", to, markdown);
    expect(
      fidelity.losses.find(({ construct }) => construct === "link"),
      to,
    ).toEqual({ construct: "link", count: 6, lines: [3, 5, 7, 9, 11, 13] });
    // The addresses of a PDF are not compressed.
    const addresses = to === "docx" ? toText(await runConversion("docx", "json", bytes)) : Buffer.from(bytes).toString("latin1");
    expect(addresses, to).toContain("https://example.com/kept");
    expect(addresses, to).toContain("mailto:a@example.com");
    expect(addresses, to).not.toContain("steal");
    expect(toText(await runConversion(to, "txt", bytes)), to).toContain("bold text");
  }
});

test("[CV95] a link of HTML whose scheme is not on the allow list is reported with its line", async () => {
  const html =
    '<p><a href="https://example.com/">one</a></p>\n<p><a href="tel:112">two</a></p>\n<p><a href="file:///a">three</a> <a href="/a:b">four</a></p>';
  const { bytes, fidelity } = await runConversion("html", "markdown", html);
  expect(toText({ bytes })).toBe("[one](https://example.com/)\n\ntwo\n\nthree [four](/a:b)\n");
  expect(fidelity.losses).toEqual([{ construct: "link", count: 2, lines: [2, 3] }]);
});

test("[CV96] HTML has the language of its source, and the heading of footnotes is in that language", async () => {
  const write = async (markdown: string) => toText(await runConversion("markdown", "html", `${markdown}[^1]\n\n[^1]: Note.\n`));
  const german = await write("---\nlang: de-AT\n---\n\nEins.");
  expect(german).toContain('<html lang="de-AT">');
  expect(german).toMatch(/<h2[^>]*>Fußnoten<\/h2>/);
  expect(await write("東京タワーは一九五八年に完成しました。")).toMatch(/<html lang="ja">[\s\S]*<h2[^>]*>脚注<\/h2>/);
  const unknown = await write("One.");
  expect(unknown).toContain("<html>");
  expect(unknown).toMatch(/<h2[^>]*>\*<\/h2>/);
});

test("[CV26] a document that is nested too deeply or has too many elements is refused", async () => {
  const deep = [
    ["markdown", `${">".repeat(200)} a`],
    ["html", `${"<div>".repeat(200)}a`],
    ["json", `${'{"type":"root","children":['.repeat(200)}${"]}".repeat(200)}`],
  ] as const;
  for (const [from, text] of deep) {
    await expect(runConversion(from, "txt", text), from).rejects.toThrow(/nested/);
  }
  await expect(runConversion("markdown", "html", "*a* ".repeat(3400))).rejects.toThrow("The document has more than 10000 elements");
});
