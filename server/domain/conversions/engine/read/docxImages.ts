/** Reads the pictures of a DOCX file into `data:` URLs, before the synchronous conversion of its blocks. */
import type { Loss } from "../document.ts";
import { embeddableTypes } from "../images.ts";
import type { DocxDocument, DocxImage } from "./docxDocument.ts";

export interface DocxImages {
  /** Pictures without a URL could not be read. */
  readonly urls: ReadonlyMap<DocxImage, string>;
  readonly losses: readonly Loss[];
}

export async function loadImages(document: DocxDocument): Promise<DocxImages> {
  const images: DocxImage[] = [];
  const waiting: unknown[] = [...document.children];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const node = next as { type?: string; children?: readonly unknown[]; noteType?: string; noteId?: string };
    if (node.type === "image") images.push(next as DocxImage);
    if (node.children !== undefined) waiting.push(...node.children);
    if (node.type === "noteReference" && node.noteType !== undefined && node.noteId !== undefined)
      waiting.push(...(document.notes.resolve({ noteType: node.noteType, noteId: node.noteId })?.body ?? []));
  }
  const urls = new Map<DocxImage, string>();
  const losses: Loss[] = [];
  for (const image of images) {
    const type = image.contentType ?? "";
    if (!embeddableTypes.has(type)) {
      losses.push({ construct: "image" });
      continue;
    }
    try {
      urls.set(image, `data:${type};base64,${await image.readAsBase64String()}`);
    } catch {
      // The picture is outside of the file, and mammoth was told not to read it.
      losses.push({ construct: "external image" });
    }
  }
  return { urls, losses };
}
