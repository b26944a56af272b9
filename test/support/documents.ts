/** The test documents of conversions: prose of many kinds, and one of 1 MB that is made from them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = join(import.meta.dirname, "../documents");

export interface TestDocument {
  readonly name: string;
  readonly markdown: string;
}

export const testDocuments: readonly TestDocument[] = readdirSync(folder)
  .filter((file) => file.endsWith(".md"))
  .sort()
  .map((file) => ({ name: file.replace(/\.md$/, ""), markdown: readFileSync(join(folder, file), "utf8") }));

export function testDocument(name: string): string {
  const found = testDocuments.find((document) => document.name === name);
  if (found === undefined) throw new Error(`there is no document ${name} in test/documents`);
  return found.markdown;
}

/** Chapters of the prose documents with numbered headings, until the text has `bytes` bytes. */
export function makeLongDocument(bytes: number): string {
  const parts = ["releaseNotes", "tables", "nestedLists", "code", "letter"].map((name) =>
    testDocument(name).replace(/^---\n[\s\S]*?\n---\n/, ""),
  );
  const chapters: string[] = [];
  for (let size = 0, chapter = 1; size < bytes; chapter += 1) {
    const text = `# Chapter ${chapter}\n\n${parts[chapter % parts.length]?.replace(/^# /m, "## ")}`;
    chapters.push(text);
    size += Buffer.byteLength(text) + 1;
  }
  return chapters.join("\n");
}
