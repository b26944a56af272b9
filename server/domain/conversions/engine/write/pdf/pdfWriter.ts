/**
 * Writes a PDF with embedded fonts. Pictures come from `data:` URLs only: pdfmake may open neither an address nor a file.
 */
import type { Root } from "mdast";
import type { Loss, WrittenDocument } from "../../document.ts";
import { findDefinitions, findFootnotes } from "../../phrasing.ts";
import { type FontChoice, loadFonts } from "./fontChoice.ts";
import type { FontFamily, FontStyle } from "./fontFiles.ts";
import { createPdfBlockWriter } from "./pdfBlocks.ts";
import { installPdfLines } from "./pdfLines.ts";
import { type PdfNode, pdfmake } from "./pdfmake.ts";
import { createPdfRunWriter } from "./pdfRuns.ts";
import { installPdfSpeed } from "./pdfSpeed.ts";

export async function writePdf(tree: Root, title: string): Promise<WrittenDocument> {
  installPdfLines();
  installPdfSpeed();
  // All strings of the tree: text, code, and the alternative texts of pictures.
  const fonts = await loadFonts(JSON.stringify(tree, (name, value) => (name === "position" ? undefined : value)));
  try {
    return await render(tree, title, fonts, true);
  } catch (error) {
    // pdfkit refuses a damaged or unusual picture; the document is still worth having.
    if (!(error instanceof Error) || !error.message.startsWith("Invalid image")) throw error;
    return render(tree, title, fonts, false);
  }
}

async function render(tree: Root, title: string, fonts: FontChoice, withImages: boolean): Promise<WrittenDocument> {
  const losses: Loss[] = [];
  const used = new Map<string, FontFamily>();
  const choice: FontChoice = {
    choose(cluster, isMonospaced) {
      const family = fonts.choose(cluster, isMonospaced);
      if (family !== undefined) used.set(family.name, family);
      return family;
    },
  };
  for (const isMonospaced of [true, false]) choice.choose("a", isMonospaced);
  const definitions = findDefinitions(tree);
  const footnotes = findFootnotes(tree);
  const numbers = new Map<string, number>();
  const footnoteNumber = (id: string): number | undefined => {
    if (!footnotes.has(id)) return undefined;
    const number = numbers.get(id) ?? numbers.size + 1;
    numbers.set(id, number);
    return number;
  };
  const runs = createPdfRunWriter({ fonts: choice, losses, footnoteNumber });
  const write = createPdfBlockWriter({ definitions, runs, losses, withImages });
  const content = write(tree.children);
  const notes: PdfNode[] = [];
  // A footnote can refer to a further one, which is then appended to the map.
  for (const [id, number] of numbers) {
    const label = { text: `${number}`, width: 14, alignment: "right" } as const;
    notes.push({ columns: [label, { stack: write(footnotes.get(id)?.children ?? []), width: "*" }], columnGap: 6 });
  }
  if (notes.length > 0) {
    const line = { type: "line", x1: 0, y1: 0, x2: 120, y2: 0, lineWidth: 0.5, lineColor: "#999999" } as const;
    content.push({ canvas: [line], margin: [0, 10, 0, 6] }, { stack: notes, fontSize: 8.5 });
  }
  pdfmake.setFonts(Object.fromEntries([...used].map(([name, family]) => [name, toFontFiles(family)])));
  const bytes = await pdfmake
    .createPdf({
      content: content.length === 0 ? [{ text: " " }] : content,
      defaultStyle: { font: "sans", fontSize: 10, lineHeight: 1.25 },
      info: { title, creator: "", producer: "" },
      pageSize: "A4",
      pageMargins: [56, 56, 56, 60],
    })
    .getBuffer();
  return { bytes, losses };
}

const styles: readonly FontStyle[] = ["normal", "bold", "italics", "bolditalics"];

/** Puts the files of a family into pdfmake's virtual file system. pdfmake finds them there by name. */
function toFontFiles(family: FontFamily): Readonly<Record<string, string>> {
  return Object.fromEntries(
    styles.map((style) => {
      const { name, bytes } = family.styles[style];
      if (!pdfmake.virtualfs.existsSync(name)) pdfmake.virtualfs.writeFileSync(name, bytes);
      return [style, name];
    }),
  );
}
