import { randomBytes } from "node:crypto";
import { strToU8, zipSync } from "fflate";
import { expect, test } from "vitest";
import { convert } from "../../runConversion.ts";
import type { ArchiveCaps, ConversionCaps } from "../caps.ts";
import { unpackArchive } from "./archive.ts";

const caps: ArchiveCaps = { entries: 5, totalBytes: 4_000_000, entryBytes: 3_000_000, ratio: 100 };
const conversionCaps: ConversionCaps = { nodes: 10_000, depth: 100, outputBytes: 10_000_000, archive: { ...caps, entries: 20 } };

const zip = (entries: Record<string, Uint8Array | string>): Uint8Array =>
  zipSync(
    Object.fromEntries(Object.entries(entries).map(([name, content]) => [name, typeof content === "string" ? strToU8(content) : content])),
  );

/** Writes a small size into all headers of the archive. */
function lieAboutSizes(archive: Uint8Array, size: number): Uint8Array {
  const bytes = Buffer.from(archive);
  for (let at = 0; at + 4 < bytes.length; at += 1) {
    const signature = bytes.readUInt32LE(at);
    if (signature === 0x04034b50) bytes.writeUInt32LE(size, at + 22);
    if (signature === 0x02014b50) bytes.writeUInt32LE(size, at + 24);
  }
  return bytes;
}

test("[CV23] an archive is unpacked by names, and strange names stay names", async () => {
  const entries = await unpackArchive(zip({ "a.xml": "<a/>", "b/": "", "b/c.xml": "<c/>" }), caps);
  expect([...entries].map(([name, content]) => [name, Buffer.from(content).toString()])).toEqual([
    ["a.xml", "<a/>"],
    ["b/c.xml", "<c/>"],
  ]);
  await expect(unpackArchive(zip({ "../../etc/passwd": "x" }), caps)).rejects.toThrow("The archive is damaged: invalid relative path");
});

test("[CV23] too many entries, too large entries, too large archives and bombs are refused", async () => {
  const many = Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`${at}.xml`, "x"]));
  await expect(unpackArchive(zip(many), caps)).rejects.toThrow("The archive has more than 5 entries.");
  const large = randomBytes(3_000_001);
  await expect(unpackArchive(zip({ "a.bin": large }), caps)).rejects.toThrow(
    'The entry "a.bin" of the archive inflates to more than 3000000 bytes.',
  );
  const half = large.subarray(0, 2_100_000);
  await expect(unpackArchive(zip({ "a.bin": half, "b.bin": half }), caps)).rejects.toThrow(
    "makes the archive inflate to more than 4000000 bytes",
  );
  await expect(unpackArchive(zip({ "a.xml": new Uint8Array(2_000_000) }), caps)).rejects.toThrow(
    "inflates to more than 100 times its size",
  );
});

test("[CV23] sizes in the headers are not believed", async () => {
  const bomb = lieAboutSizes(zip({ "a.xml": new Uint8Array(1_900_000) }), 100);
  await expect(unpackArchive(bomb, caps)).rejects.toThrow(/entry "a.xml" of the archive/);
});

test("[CV24] a part with a document type or entities is refused", async () => {
  const bomb = `<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><w:document>&b;</w:document>`;
  const relation = (target: string) =>
    `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="${target}"/></Relationships>`;
  const cases: readonly (readonly [string, Record<string, string>])[] = [
    ["word/document.xml", { "word/document.xml": bomb }],
    ["word/document.xml", { "word/document.xml": bomb.replace("<!DOCTYPE", "<!doctype") }],
    ["_rels/.rels", { "_rels/.rels": bomb, "word/document.xml": "<w:document/>" }],
    ["[Content_Types].xml", { "[Content_Types].xml": bomb, "word/document.xml": "<w:document/>" }],
    // A relationship may give any name to a part that is read as XML.
    ["word/picture.png", { "_rels/.rels": relation("word/picture.png"), "word/picture.png": bomb }],
    ["word/document", { "_rels/.rels": relation("word/document"), "word/document": bomb }],
  ];
  for (const [part, entries] of cases) {
    const source = zip({ "[Content_Types].xml": "<Types/>", ...entries });
    await expect(convert({ from: "docx", to: "markdown" }, source, conversionCaps)).rejects.toThrow(
      `The part ${JSON.stringify(part)} has a document type declaration`,
    );
  }
});

test("[CV25] a file that is no archive or no DOCX is refused with the reason", async () => {
  const read = (bytes: Uint8Array) => convert({ from: "docx", to: "markdown" }, bytes, conversionCaps);
  await expect(read(strToU8("# Markdown"))).rejects.toThrow(/^The document is not a DOCX file: .*end of central directory/i);
  await expect(read(zip({ "a.txt": "a" }))).rejects.toThrow(/^The document is not a DOCX file: Could not find main document part/);
});

test("[CV8] paragraphs of Word, LibreOffice and pandoc are read by the names of their styles", async () => {
  const namespace = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
  const names = ["Title", "heading 2", "Preformatted Text", "Source Code", "Intense Quote", "Block Text", "Quotations"];
  const styles = names.map((name, at) => `<w:style w:type="paragraph" w:styleId="s${at}"><w:name w:val="${name}"/></w:style>`).join("");
  const paragraph = (text: string, at?: number) =>
    `<w:p>${at === undefined ? "" : `<w:pPr><w:pStyle w:val="s${at}"/></w:pPr>`}<w:r><w:t>${text}</w:t></w:r></w:p>`;
  const body = [
    paragraph("Report", 0),
    paragraph("Part", 1),
    paragraph("a = 1", 2),
    paragraph("b = 2", 2),
    paragraph("Text"),
    paragraph("c = 3", 3),
    paragraph("Quoted", 4),
    paragraph("again", 5),
    "<w:p/>",
    paragraph("apart", 6),
  ].join("");
  const source = zip({
    "[Content_Types].xml": "<Types/>",
    "word/document.xml": `<w:document ${namespace}><w:body>${body}</w:body></w:document>`,
    "word/styles.xml": `<w:styles ${namespace}>${styles}</w:styles>`,
  });
  const { bytes } = await convert({ from: "docx", to: "markdown" }, source, conversionCaps);
  expect(Buffer.from(bytes).toString("utf8")).toBe(
    "# Report\n\n## Part\n\n```\na = 1\nb = 2\n```\n\nText\n\n```\nc = 3\n```\n\n> Quoted\n>\n> again\n\n> apart\n",
  );
});

test("[CV8] a DOCX footnote that refers to itself is read once", { timeout: 10_000 }, async () => {
  const main = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
  const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
  const reference = '<w:r><w:footnoteReference w:id="2"/></w:r>';
  const source = zip({
    "[Content_Types].xml": "<Types/>",
    "word/document.xml": `<w:document xmlns:w="${main}"><w:body><w:p><w:r><w:t>Text</w:t></w:r>${reference}</w:p></w:body></w:document>`,
    "word/footnotes.xml": `<w:footnotes xmlns:w="${main}"><w:footnote w:id="2"><w:p><w:r><w:t>Note</w:t></w:r>${reference}</w:p></w:footnote></w:footnotes>`,
    "word/_rels/document.xml.rels": `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="${office}/footnotes" Target="footnotes.xml"/></Relationships>`,
  });
  const { bytes } = await convert({ from: "docx", to: "txt" }, source, conversionCaps);
  expect(Buffer.from(bytes).toString("utf8")).toContain("Text");
});
