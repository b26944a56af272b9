/**
 * DocumentSize keeps an upper bound of a document's size, so that the document is not measured at every keystroke.
 *
 * The bound is the last exact measurement plus the bytes accepted since then. Before the first measurement it is the size of
 * the encoded document, which is never smaller than its text. The document is measured only when an update would exceed a
 * limit by this bound.
 */
import * as Y from "yjs";
import { type ArticleFile, articleFiles } from "../../api/schema/article.ts";
import type { ClockRange, Insert, InspectedUpdate } from "./inspectUpdate.ts";

type Sizes = Record<ArticleFile, number>;

function noSizes(): Sizes {
  return { "content.md": 0, "outline.md": 0, "research.md": 0 };
}

export class DocumentSize {
  private readonly build: () => Y.Doc;
  /** Upper bound of the largest file, in bytes. */
  private largest: number;
  private textSince = 0;
  private isMeasured = false;
  private encoded: number;
  private encodedSince = 0;
  private isEncodedExact = false;

  /** `build` returns the document, which may have to be built for it. */
  constructor(build: () => Y.Doc, encodedBytes: number) {
    this.build = build;
    this.largest = encodedBytes;
    this.encoded = encodedBytes;
  }

  private get document(): Y.Doc {
    return this.build();
  }

  /** Upper bound of the encoded document, in bytes. */
  get encodedBytes(): number {
    return this.encoded + this.encodedSince;
  }

  /** Adds an accepted update to the bound, whether it is applied yet or not. Both sizes are in bytes. */
  growBy(encodedBytes: number, textBytes: number): void {
    this.textSince += textBytes;
    this.encodedSince += encodedBytes;
  }

  /** True when neither limit can be reached by this much more, without measuring the document. All sizes are in bytes. */
  staysBelow(encodedBytes: number, maxEncodedBytes: number, textBytes: number, maxFileBytes: number): boolean {
    return this.encodedBytes + encodedBytes <= maxEncodedBytes && this.largest + this.textSince + textBytes <= maxFileBytes;
  }

  /** True when no file can exceed `maxBytes` after `textBytes` more. `queuedBytes`: text that is accepted but not applied. */
  filesHave(textBytes: number, queuedBytes: number, maxBytes: number): boolean {
    if (this.largest + this.textSince + textBytes <= maxBytes) return true;
    if (this.isMeasured && this.textSince <= queuedBytes) return false;
    this.largest = Math.max(...Object.values(measureFiles(this.document)));
    this.textSince = queuedBytes;
    this.isMeasured = true;
    return this.largest + this.textSince + textBytes <= maxBytes;
  }

  /** True when the encoded document stays within `maxBytes` after `bytes` more. `queuedBytes`: accepted but not applied. */
  documentHas(bytes: number, queuedBytes: number, maxBytes: number): boolean {
    if (this.encodedBytes + bytes <= maxBytes) return true;
    if (this.isEncodedExact && this.encodedSince <= queuedBytes) return false;
    this.isEncodedExact = true;
    this.encoded = Y.encodeStateAsUpdate(this.document).length;
    this.encodedSince = queuedBytes;
    return this.encodedBytes + bytes <= maxBytes;
  }

  /** Sets the exact size after the current document was encoded elsewhere. `queuedBytes`: accepted but not applied. */
  encodedIs(bytes: number, queuedBytes: number): void {
    this.encoded = bytes;
    this.encodedSince = queuedBytes;
    this.isEncodedExact = true;
  }

  /** The file that the update makes larger than `maxBytes`. The result is exact when every accepted update is applied. */
  overfilledBy(update: InspectedUpdate, maxBytes: number): ArticleFile | undefined {
    const sizes = measureFiles(this.document);
    const removed = this.removedBy(update.deletes);
    const added = this.addedBy(update.inserts);
    return articleFiles.find((file) => added[file] > removed[file] && sizes[file] + added[file] - removed[file] > maxBytes);
  }

  /** The file that is larger than `maxBytes` in the current document. */
  overfilled(maxBytes: number): ArticleFile | undefined {
    const sizes = measureFiles(this.document);
    return articleFiles.find((file) => sizes[file] > maxBytes);
  }

  private addedBy(inserts: readonly Insert[]): Sizes {
    const added = noSizes();
    let before: { insert: Insert; root: string | undefined } | undefined;
    for (const insert of inserts) {
      const { neighbour } = insert;
      const continuesBefore =
        before !== undefined && neighbour?.clientId === before.insert.clientId && neighbour.clock === before.insert.to - 1;
      // Undefined when the neighbour is unknown: then the text counts for every file.
      const root = continuesBefore ? before?.root : this.rootOf(insert);
      before = { insert, root };
      const known = Y.getState(this.document.store, insert.clientId) - insert.from;
      if (known >= insert.text.length) continue;
      const bytes = Buffer.byteLength(known > 0 ? insert.text.slice(known) : insert.text);
      for (const file of articleFiles) if (root === undefined || root === file) added[file] += bytes;
    }
    return added;
  }

  private rootOf({ root, neighbour }: Insert): string | undefined {
    if (neighbour === undefined) return root;
    const item = this.find(neighbour.clientId, neighbour.clock);
    return item instanceof Y.Item ? this.fileOf(item) : undefined;
  }

  private removedBy(deletes: readonly ClockRange[]): Sizes {
    const removed = noSizes();
    // Ranges may overlap, so they are sorted in order to count each deleted clock once.
    const ranges = [...deletes].sort((a, b) => a.clientId - b.clientId || a.from - b.from);
    let clientId = -1;
    let done = 0;
    for (const range of ranges) {
      if (range.clientId !== clientId) done = 0;
      clientId = range.clientId;
      const from = Math.max(range.from, done);
      done = Math.max(done, range.to);
      const structs = this.document.store.clients.get(clientId);
      if (structs === undefined || from >= range.to || from >= Y.getState(this.document.store, clientId)) continue;
      for (let at = Y.findIndexSS(structs, from); at < structs.length; at += 1) {
        const struct = structs[at];
        if (struct === undefined || struct.id.clock >= range.to) break;
        if (!(struct instanceof Y.Item) || struct.deleted || !(struct.content instanceof Y.ContentString)) continue;
        const file = this.fileOf(struct);
        const start = struct.id.clock;
        const text = struct.content.str.slice(Math.max(0, from - start), range.to - start);
        if (file !== undefined) removed[file] += Buffer.byteLength(text);
      }
    }
    return removed;
  }

  private find(clientId: number, clock: number): Y.Item | Y.GC | undefined {
    const structs = this.document.store.clients.get(clientId);
    if (structs === undefined || clock >= Y.getState(this.document.store, clientId)) return undefined;
    return structs[Y.findIndexSS(structs, clock)];
  }

  private fileOf(item: Y.Item): ArticleFile | undefined {
    return articleFiles.find((file) => this.document.getText(file) === item.parent);
  }
}

function measureFiles(document: Y.Doc): Sizes {
  const sizes = noSizes();
  for (const file of articleFiles) sizes[file] = Buffer.byteLength(document.getText(file).toString());
  return sizes;
}
