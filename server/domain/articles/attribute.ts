/**
 * Computes who wrote each character of a document, exactly, from its Yjs items. The functions are pure; articleTexts.ts runs
 * them in a worker thread for a large document.
 *
 * A Yjs item has a client id and clocks, and keeps them for ever. The log says which author sent which clocks. A client id is
 * not enough, because all edits by requests share those of the server. Items that were known at the previous attribution
 * keep their author and their commit.
 */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import * as Y from "yjs";
import type { ArticleFile, Author } from "../../../api/schema/article.ts";
import { type Attribution, decodeAttribution, encodeAttribution, type Origin } from "./attribution.ts";
import { ClockOwners, packedSize } from "./clockOwners.ts";
import { byFile } from "./fileTexts.ts";

/** The items of a document that have text. */
export interface DocumentPieces {
  /** For each file, the client id, first clock and length of each item, in the order of the text. */
  readonly files: Readonly<Record<ArticleFile, Float64Array>>;
  /** Pairs of a client id and the clock after its last integrated item. */
  readonly ends: Float64Array;
}

const pieceSize = 3;

/** Takes as long as reading the texts: about 1 ms for 50,000 items. */
export function piecesOfDocument(document: Y.Doc): DocumentPieces {
  const files = byFile((file) => {
    const pieces: number[] = [];
    for (let item = document.getText(file)._start; item !== null; item = item.right) {
      if (!item.deleted && item.content instanceof Y.ContentString) pieces.push(item.id.client, item.id.clock, item.length);
    }
    return Float64Array.from(pieces);
  });
  const ends = [...document.store.clients.keys()].flatMap((clientId) => [clientId, Y.getState(document.store, clientId)]);
  return { files, ends: Float64Array.from(ends) };
}

export interface ClaimTask {
  /** Yjs updates, oldest first. `author` is a number that the caller gives a meaning. */
  readonly updates: readonly { readonly author: number; readonly update: Uint8Array }[];
}

/** The clocks that the updates bring, in the packed form of `ClockOwners`. The first update that brings a clock owns it. */
export function claimClocks({ updates }: ClaimTask): Float64Array {
  const owners = new ClockOwners();
  for (const { author, update } of updates) {
    for (const struct of Y.decodeUpdate(update).structs) {
      const { client, clock } = struct.id;
      if (struct instanceof Y.Item) owners.claim(author, client, clock, clock + struct.length);
    }
  }
  return owners.pack();
}

export interface AttributeTask {
  /** The previous attribution as it was stored; undefined for the first one. */
  readonly before: Uint8Array | undefined;
  /** Clocks that the log brought since then, in packed form. The owner is an index of `authors`. */
  readonly claims: Float64Array;
  readonly authors: readonly Author[];
  readonly pieces: DocumentPieces;
  /** The commit that is being made; undefined when the texts equal the last commit. */
  readonly commitId: string | undefined;
  /** Origin of text that neither the previous attribution nor the log knows. */
  readonly unknown: Origin;
}

/** Returns the attribution as it is stored: deflated. */
export function attribute({ before, claims, authors, pieces, commitId, unknown }: AttributeTask): Uint8Array {
  const origins = new Origins();
  const owners = new ClockOwners();
  if (before !== undefined) {
    const known = decodeAttribution(inflateRawSync(before));
    const numbers = known.origins.map((origin) => origins.numberOf({ ...origin, commitId: origin.commitId ?? commitId }));
    owners.claimAll(withOwners(known.ranges, numbers));
  }
  owners.claimAll(
    withOwners(
      claims,
      authors.map((author) => origins.numberOf({ author, commitId })),
    ),
  );
  const unknownOrigin = origins.numberOf({ ...unknown, commitId: unknown.commitId ?? commitId });
  const alive = new ClockOwners();
  const spans = byFile((file) =>
    toSpans(pieces.files[file], (clientId, from, to, add) =>
      owners.visit(clientId, from, to, (start, end, owner = unknownOrigin) => {
        alive.claim(owner, clientId, start, end);
        add(end - start, owner);
      }),
    ),
  );
  const ranges = withoutGaps(alive.pack());
  const ends = new Map<number, number>();
  for (let at = 0; at < pieces.ends.length; at += 2) ends.set(pieces.ends[at] as number, pieces.ends[at + 1] as number);
  // Yjs keeps updates that wait for missing ones. Their text will first be in a later commit.
  owners.visitAfter(
    (clientId) => ends.get(clientId) ?? 0,
    (owner, clientId, from, to) => ranges.push(origins.numberOf({ author: origins.at(owner).author }), clientId, from, to),
  );
  return deflateRawSync(encodeAttribution(toCompact(origins, toSorted(ranges), spans)));
}

/** Origins by number. Equal origins have the same number. */
class Origins {
  readonly #list: Origin[] = [];
  readonly #numbers = new Map<string, number>();

  numberOf({ author, commitId }: { readonly author: Author; readonly commitId?: string | undefined }): number {
    const key = `${author.kind}/${author.username}/${commitId ?? ""}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.#list.length);
    return this.#list.push({ author, ...(commitId === undefined ? {} : { commitId }) }) - 1;
  }

  at(number: number): Origin {
    return this.#list[number] as Origin;
  }
}

/** Replaces the owner of each range by its new number. */
function withOwners(packed: Float64Array, numbers: readonly number[]): Float64Array {
  return packed.map((value, at) => (at % packedSize === 0 ? (numbers[value] as number) : value));
}

type AddPart = (length: number, owner: number) => void;

/** Pairs of a length and an owner. Neighbours of the same owner become one pair. */
function toSpans(pieces: Float64Array, visit: (clientId: number, from: number, to: number, add: AddPart) => void): number[] {
  const spans: number[] = [];
  const add: AddPart = (length, owner) => {
    if (spans.at(-1) === owner) spans[spans.length - 2] = (spans.at(-2) as number) + length;
    else spans.push(length, owner);
  };
  for (let at = 0; at < pieces.length; at += pieceSize) {
    const clock = pieces[at + 1] as number;
    visit(pieces[at] as number, clock, clock + (pieces[at + 2] as number), add);
  }
  return spans;
}

/** Joins ranges of one owner across the clocks of deleted text between them. */
function withoutGaps(packed: Float64Array): number[] {
  const joined: number[] = [];
  for (let at = 0; at < packed.length; at += packedSize) {
    const [owner, clientId, from, to] = packed.subarray(at, at + packedSize) as unknown as [number, number, number, number];
    const isSame = joined.at(-packedSize) === owner && joined.at(1 - packedSize) === clientId;
    if (isSame) joined[joined.length - 1] = to;
    else joined.push(owner, clientId, from, to);
  }
  return joined;
}

/** Orders packed ranges by client id and clock. */
function toSorted(numbers: readonly number[]): Float64Array {
  const ranges: (readonly number[])[] = [];
  for (let at = 0; at < numbers.length; at += packedSize) ranges.push(numbers.slice(at, at + packedSize));
  ranges.sort(([, clientA = 0, fromA = 0], [, clientB = 0, fromB = 0]) => clientA - clientB || fromA - fromB);
  return Float64Array.from(ranges.flat());
}

/** Leaves out the origins that no range refers to. A span never has an owner that no range has. */
function toCompact(origins: Origins, ranges: Float64Array, spans: Attribution["spans"]): Attribution {
  const used: Origin[] = [];
  const numbers = new Map<number, number>();
  const compact = (number: number): number => {
    const known = numbers.get(number) ?? used.push(origins.at(number)) - 1;
    numbers.set(number, known);
    return known;
  };
  const renumbered = ranges.map((value, at) => (at % packedSize === 0 ? compact(value) : value));
  const compactSpans = byFile((file) => spans[file].map((value, at) => (at % 2 === 1 ? compact(value) : value)));
  return { origins: used, ranges: renumbered, spans: compactSpans };
}

export interface SpansTask {
  /** The attribution of a commit as it is stored. */
  readonly attribution: Uint8Array;
  readonly file: ArticleFile;
  /** Index of the first span. */
  readonly first: number;
  readonly count: number;
}

/** A part of a text that has one author. Offsets are in UTF-16 code units; `end` is exclusive. */
export interface AuthoredSpan extends Origin {
  readonly start: number;
  readonly end: number;
}

/** Returns at most `count` spans of a file, in the order of the text. */
export function readSpans({ attribution, file, first, count }: SpansTask): readonly AuthoredSpan[] {
  const { origins, spans } = decodeAttribution(inflateRawSync(attribution));
  const found: AuthoredSpan[] = [];
  let start = 0;
  for (let index = 0; index * 2 < spans[file].length && found.length < count; index += 1) {
    const end = start + (spans[file][index * 2] as number);
    if (index >= first) found.push({ start, end, ...(origins[spans[file][index * 2 + 1] as number] as Origin) });
    start = end;
  }
  return found;
}
