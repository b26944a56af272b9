/** `npm run docs:conversions`: converts the test documents and writes docs/conversionFidelity.md. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { defaultLimits } from "../../api/limits.ts";
import type { ConversionFidelity, ConversionInputFormat, ConversionOutputFormat } from "../../api/schema/conversion.ts";
import { createConverter } from "../../server/domain/conversions/converter.ts";
import { measureFidelity } from "../../server/domain/conversions/engine/fidelity.ts";
import { readMarkdown } from "../../server/domain/conversions/engine/read/markdown.ts";
import { replaceRawHtml, sanitiseRawHtml } from "../../server/domain/conversions/engine/read/rawHtml.ts";
import { readTxt } from "../../server/domain/conversions/engine/read/txt.ts";
import { makeLongDocument, testDocuments } from "./documents.ts";

const bounds = { nodes: defaultLimits["conversion.nodes"], depth: defaultLimits["conversion.depth"] };
const converter = createConverter({ limits: defaultLimits, log: pino({ level: "silent" }) });

async function convert(from: ConversionInputFormat, to: ConversionOutputFormat, bytes: Uint8Array) {
  const outcome = await converter.convert({ from, to, bytes });
  if (!outcome.ok) throw new Error(`${from} → ${to}: ${outcome.detail}`);
  console.log(`${from} → ${to}: ${bytes.byteLength} → ${outcome.bytes.byteLength} bytes`);
  return outcome;
}

interface Figures {
  readonly score: string;
  readonly losses: string;
  readonly ms: number;
}

/** Markdown through another format and back, compared with the first text. */
async function measure(markdown: string, through: "docx" | "html" | "pdf"): Promise<Figures> {
  const bytes = Buffer.from(markdown, "utf8");
  const startedAt = performance.now();
  const middle = await convert("markdown", through, bytes);
  const end = await convert(through, through === "pdf" ? "txt" : "markdown", middle.bytes);
  const ms = performance.now() - startedAt;
  const read = through === "pdf" ? readTxt : readMarkdown;
  const [before, after] = await Promise.all([readMarkdown(bytes), read(end.bytes)]);
  const source = await (through === "html" ? sanitiseRawHtml : replaceRawHtml)(before.tree, bounds);
  const fidelity = measureFidelity({
    before: source.tree,
    after: after.tree,
    to: through,
    losses: [...source.losses, ...(through === "pdf" ? findPictures(middle.fidelity) : [])],
  });
  return { score: fidelity.score.toFixed(4), losses: describe(fidelity), ms: Math.round(ms) };
}

/** Losses that only the writer of a PDF knows, because they cannot be read back. */
function findPictures({ losses }: ConversionFidelity) {
  return losses.flatMap(({ construct, count }) =>
    construct === "image" || construct === "unusual character" ? Array.from({ length: count }, () => ({ construct }) as const) : [],
  );
}

function describe({ losses }: ConversionFidelity): string {
  return losses.length === 0 ? "–" : losses.map(({ construct, count }) => `${construct} ${count}`).join(", ");
}

const documents = [...testDocuments, { name: "long", markdown: makeLongDocument(250_000) }];
const rows: string[] = [];
for (const { name, markdown } of documents) {
  const html = await measure(markdown, "html");
  const docx = await measure(markdown, "docx");
  const pdf = await measure(markdown, "pdf");
  const size = (Buffer.byteLength(markdown) / 1000).toFixed(1);
  rows.push(`| ${name} | ${size} | ${html.score} | ${html.losses} | ${docx.score} | ${docx.losses} | ${pdf.score} | ${pdf.losses} |`);
}
await converter.close();

writeFileSync(
  join(import.meta.dirname, "../../docs/conversionFidelity.md"),
  `# Fidelity of conversions

\`npm run docs:conversions\` writes this page. It converts each document of \`test/documents\` from Markdown into a format and back, and compares the result
with the first text. The score is the share of words and constructs that are still there. [conversionFormats.md](conversionFormats.md) explains constructs and losses.

- **HTML** and **DOCX** are read back as Markdown, so each structure counts.
- **PDF** is read back as plain text. Its words are compared; structure that a PDF only shows is not counted.

| document | kB | HTML | lost | DOCX | lost | PDF | lost |
|---|---:|---:|---|---:|---|---:|---|
${rows.join("\n")}

The text of the largest document repeats chapters of the others with other headings.

## Pictures of outputs

Rendered by poppler from the PDF, and by LibreOffice from the DOCX:

![The first page of the Arabic document as PDF](conversionArabic.png)

![The first page of the Chinese, Japanese and Korean document as PDF](conversionChinese.png)

![The release notes as DOCX](conversionReleaseNotes.png)
`,
);
