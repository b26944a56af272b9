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
  // A note may refer to itself, or be referred to many times.
  const visitedNotes = new Set<string>();
  const addAll = (nodes: readonly unknown[]) => {
    for (const node of nodes) waiting.push(node);
  };
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const node = next as { type?: string; children?: readonly unknown[]; noteType?: string; noteId?: string };
    if (node.type === "image") images.push(next as DocxImage);
    if (node.children !== undefined) addAll(node.children);
    if (node.type !== "noteReference" || node.noteType === undefined || node.noteId === undefined) continue;
    const { noteType, noteId } = node;
    if (visitedNotes.has(`${noteType}/${noteId}`)) continue;
    visitedNotes.add(`${noteType}/${noteId}`);
    addAll(document.notes.resolve({ noteType, noteId })?.body ?? []);
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
