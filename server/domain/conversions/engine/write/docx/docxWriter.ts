/** Writes a DOCX file. Word's own styles are used where they exist, so the reader's template decides how they look. */

import { Document, Packer, Paragraph, Table } from "docx";
import type { Root } from "mdast";
import type { WrittenDocument } from "../../document.ts";
import { findFormulas } from "../../formulas.ts";
import { findDefinitions } from "../../phrasing.ts";
import { createDocxBlockWriter } from "./docxBlockWriter.ts";
import { createNumbering } from "./docxNumbering.ts";
import { characterStyles, defaultStyle, toParagraphStyles } from "./docxStyles.ts";

export async function writeDocx(tree: Root, title: string): Promise<WrittenDocument> {
  const numbering = createNumbering();
  const writer = createDocxBlockWriter({ tree, definitions: findDefinitions(tree), numbering });
  const children = writer.write(tree.children);
  const document = new Document({
    title,
    creator: "",
    lastModifiedBy: "",
    styles: { default: defaultStyle, paragraphStyles: toParagraphStyles(writer.languages), characterStyles },
    numbering: { config: numbering.config() },
    footnotes: Object.fromEntries(
      writer.footnotes().map(({ number, blocks }) => [String(number), { children: blocks.filter((block) => block instanceof Paragraph) }]),
    ),
    // A table at the end needs a paragraph after it; Word repairs the file otherwise.
    sections: [{ children: children.at(-1) instanceof Table || children.length === 0 ? [...children, new Paragraph({})] : children }],
  });
  return { bytes: await Packer.toBuffer(document), losses: findFormulas(tree) };
}
