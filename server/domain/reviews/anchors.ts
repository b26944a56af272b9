/**
 * Anchors makes the anchors of reviews and finds their places in the live text.
 *
 * The quote decides: an anchor has a place only where the text equals the quote. The ids of the first and the last
 * character say which of several equal texts was meant; they survive every edit around the quote. Where these characters
 * are deleted, for example because the whole text was written again, the context decides (`anchorPlaces.ts`).
 * Reading stores nothing. `followText.ts` updates the stored places after commits.
 */
import type * as Y from "yjs";
import type { ArticleFile } from "../../../api/schema/article.ts";
import { AppError } from "../../../api/schema/error.ts";
import type { AnchorRequest } from "../../../api/schema/review.ts";
import type { CharacterId, TextAnchor } from "../../../machines/reviewContext.ts";
import type { Rooms } from "../../../realtime/room/rooms.ts";
import type { Documents } from "../articles/port.ts";
import { contextOf, placeQuotes, type QuotePlace } from "./anchorPlaces.ts";
import { locateQuote, locateRange } from "./anchorRequests.ts";
import { toCharacterIds, toOffsets } from "./characterIds.ts";
import type { ReviewTexts } from "./reviewTexts.ts";

export interface FileAnchor {
  readonly file: ArticleFile;
  readonly anchor: TextAnchor;
}

export interface LiveAnchors {
  /** Revision of the live text. */
  readonly revision: number;
  /** The live text of each file that has an anchor. */
  readonly texts: ReadonlyMap<ArticleFile, string>;
  /** The anchors at their places, in the given order. An orphaned anchor keeps the offsets of its last place. */
  readonly anchors: readonly TextAnchor[];
}

export interface Anchors {
  /**
   * Makes the anchor of a new review. Throws `anchor_not_found`, `anchor_ambiguous`, `validation_failed`, and
   * `revision_conflict` for a revision that is not available.
   */
  create(articleId: string, file: ArticleFile, request: AnchorRequest): Promise<TextAnchor>;
  /** Finds the places in the live text, with their context. Without anchors the document is not opened, and the revision is 0. */
  place(articleId: string, owner: string, anchors: readonly FileAnchor[]): Promise<LiveAnchors>;
  /**
   * The anchors at their places, with the character ids of these places, for storing them; undefined for
   * an anchor that would be stored as it is. Nothing is returned for places that the document has left meanwhile.
   */
  follow(articleId: string, owner: string, anchors: readonly FileAnchor[]): Promise<readonly (TextAnchor | undefined)[]>;
}

export interface AnchorsOptions {
  readonly rooms: Pick<Rooms, "read">;
  readonly documents: Pick<Documents, "readAt">;
  readonly texts: Pick<ReviewTexts, "placeQuotes">;
}

/**
 * Returns the anchor at a place, with the context of the place in the live text. An anchor that was moved once stays
 * `moved`, because only a person can say whether the place is right.
 */
function at(anchor: TextAnchor, { start, state }: QuotePlace, text: string, revision: number): TextAnchor {
  const isMoved = anchor.isMoved || state === "moved";
  const end = start + anchor.quote.length;
  return { ...anchor, ...contextOf(text, start, end), start, end, revision, isMoved, state: isMoved ? "moved" : "anchored" };
}

function orphaned(anchor: TextAnchor): TextAnchor {
  return { ...anchor, state: "orphaned" };
}

/** Returns the start of each quote of which the first or the last character is where it was; undefined for all others. */
function startsById(
  text: string,
  anchors: readonly TextAnchor[],
  offsets: readonly (number | undefined)[],
): readonly (number | undefined)[] {
  return anchors.map(({ quote }, index) => {
    const [first, last] = [offsets[2 * index], offsets[2 * index + 1]];
    const starts = [first, last === undefined ? undefined : last + 1 - quote.length];
    return starts.find((start) => start !== undefined && start >= 0 && text.startsWith(quote, start));
  });
}

function idsOf(anchors: readonly TextAnchor[]) {
  return anchors.flatMap(({ first, last }) => [first, last]);
}

/** Makes an anchor for a place of the document. */
function toAnchor(document: Y.Doc, file: ArticleFile, revision: number, text: string, start: number, end: number): TextAnchor {
  const [first, last] = toCharacterIds(document.getText(file), [start, end - 1]);
  if (first === undefined || last === undefined) throw new Error("an anchor needs at least one character");
  const quote = text.slice(start, end);
  return { quote, ...contextOf(text, start, end), start, end, revision, state: "anchored", isMoved: false, first, last };
}

/** Finds the place of one anchor in a document, at once. For the transaction of an edit. */
export function placeIn(document: Y.Doc, file: ArticleFile, revision: number, anchor: TextAnchor): TextAnchor {
  const shared = document.getText(file);
  const text = shared.toString();
  const [start] = startsById(text, [anchor], toOffsets(shared, idsOf([anchor])));
  if (start !== undefined) return at(anchor, { start, state: "anchored" }, text, revision);
  const [place] = placeQuotes(text, [anchor]);
  return place === undefined ? orphaned(anchor) : at(anchor, place, text, revision);
}

/** The places of the anchors of one file in the live text, as far as they are known without a search. */
interface FileRead {
  readonly file: ArticleFile;
  /** Indexes in the list of all anchors. */
  readonly indexes: readonly number[];
  readonly text: string;
  readonly starts: readonly (number | undefined)[];
}

export function createAnchors({ rooms, documents, texts }: AnchorsOptions): Anchors {
  function readFiles(articleId: string, all: readonly FileAnchor[]) {
    const files = groupByFile(all);
    return rooms.read(articleId, (document, revision) => ({
      revision,
      files: [...files].map(([file, indexes]): FileRead => {
        const shared = document.getText(file);
        const anchors = indexes.map((index) => (all[index] as FileAnchor).anchor);
        const text = shared.toString();
        return { file, indexes, text, starts: startsById(text, anchors, toOffsets(shared, idsOf(anchors))) };
      }),
    }));
  }

  async function place(articleId: string, owner: string, all: readonly FileAnchor[]): Promise<LiveAnchors> {
    if (all.length === 0) return { revision: 0, texts: new Map(), anchors: [] };
    const { revision, files } = await readFiles(articleId, all);
    const placed: TextAnchor[] = all.map(({ anchor }) => orphaned(anchor));
    for (const { indexes, text, starts } of files) {
      const lost: number[] = [];
      for (const [nth, index] of indexes.entries()) {
        const start = starts[nth];
        if (start === undefined) lost.push(index);
        else placed[index] = at((all[index] as FileAnchor).anchor, { start, state: "anchored" }, text, revision);
      }
      const quotes = lost.map((index) => (all[index] as FileAnchor).anchor).map(({ quote, prefix, suffix }) => ({ quote, prefix, suffix }));
      const places = await texts.placeQuotes(owner, text, quotes);
      for (const [nth, index] of lost.entries()) {
        const found = places[nth];
        if (found !== undefined) placed[index] = at((all[index] as FileAnchor).anchor, found, text, revision);
      }
    }
    return { revision, texts: new Map(files.map(({ file, text }) => [file, text])), anchors: placed };
  }

  return {
    async create(articleId, file, request) {
      const base = "quote" in request ? undefined : (await documents.readAt(articleId, request.revision))?.[file];
      return rooms.read(articleId, (document, revision) => {
        const text = document.getText(file).toString();
        if ("quote" in request) {
          const start = locateQuote(text, request);
          return toAnchor(document, file, revision, text, start, start + request.quote.length);
        }
        if (base === undefined) {
          const detail = `Revision ${request.revision} is not available: it does not exist, or it was never committed and its text is no longer kept. Read the article again.`;
          throw new AppError("revision_conflict", detail, { currentRevision: revision });
        }
        const start = locateRange(base, text, request);
        return toAnchor(document, file, revision, text, start, start + request.end - request.start);
      });
    },

    place,

    async follow(articleId, owner, all) {
      const { revision, anchors } = await place(articleId, owner, all);
      if (anchors.length === 0) return [];
      return rooms.read(articleId, (document, now) => {
        if (now !== revision) return [];
        const followed: (TextAnchor | undefined)[] = anchors.map(() => undefined);
        for (const [file, indexes] of groupByFile(all)) {
          const placed = indexes.filter((index) => anchors[index]?.state !== "orphaned");
          const bounds = placed.flatMap((index) => {
            const { start, end } = anchors[index] as TextAnchor;
            return [start, end - 1];
          });
          const ids = toCharacterIds(document.getText(file), bounds);
          for (const index of indexes) followed[index] = anchors[index];
          for (const [nth, index] of placed.entries()) {
            const [first, last] = [ids[2 * nth] as CharacterId, ids[2 * nth + 1] as CharacterId];
            followed[index] = { ...(anchors[index] as TextAnchor), first, last };
          }
        }
        return followed.map((anchor, index) => (anchor !== undefined && isSame(anchor, all[index]?.anchor) ? undefined : anchor));
      });
    },
  };
}

/** Maps each file to the indexes of its anchors. */
function groupByFile(all: readonly FileAnchor[]): ReadonlyMap<ArticleFile, readonly number[]> {
  const files = new Map<ArticleFile, number[]>();
  for (const [index, { file }] of all.entries()) {
    const indexes = files.get(file);
    if (indexes === undefined) files.set(file, [index]);
    else indexes.push(index);
  }
  return files;
}

/** True if an anchor needs no new write: offsets are computed when they are read, so they may differ. */
function isSame(a: TextAnchor, b: TextAnchor | undefined): boolean {
  if (b === undefined || a.state !== b.state || a.prefix !== b.prefix || a.suffix !== b.suffix) return false;
  return isSameId(a.first, b.first) && isSameId(a.last, b.last);
}

function isSameId(a: CharacterId, b: CharacterId): boolean {
  return a.client === b.client && a.clock === b.clock;
}
