/**
 * Attribution says who wrote each character of an article's files, at one revision. This module encodes it for a blob.
 *
 * An attribution has two parts. `spans` describes the texts, for readers. `ranges` is needed for the next attribution: the
 * clocks of Yjs items with their authors, because an item keeps its author when text is inserted before it. Clocks of
 * deleted text are not kept, because Yjs never brings a deleted item back. No other module knows the layout.
 */
import * as decoding from "lib0/decoding";
import * as encoding from "lib0/encoding";
import { type ArticleFile, type Author, AuthorKind, articleFiles } from "../../../api/schema/article.ts";
import { StorageDamagedError } from "../../platform/storage/port.ts";
import { packedSize } from "./clockOwners.ts";
import { byFile } from "./fileTexts.ts";

const layout = 1;
const kinds = AuthorKind.options;

/** An author together with the first commit that contains the text. */
export interface Origin {
  readonly author: Author;
  /** Absent while no commit contains the text. */
  readonly commitId?: string;
}

export interface Attribution {
  readonly origins: readonly Origin[];
  /**
   * Ranges of clocks in the packed form of `ClockOwners`, ordered by client id and clock. The owner is an index of `origins`.
   * A range may include clocks of deleted text. Ranges of updates that Yjs cannot integrate yet are included.
   */
  readonly ranges: Float64Array;
  /** For each file, pairs of a length in UTF-16 code units and an index of `origins`, in the order of the text. */
  readonly spans: Readonly<Record<ArticleFile, readonly number[]>>;
}

export function encodeAttribution({ origins, ranges, spans }: Attribution): Uint8Array {
  const encoder = encoding.createEncoder();
  encoding.writeUint8(encoder, layout);
  writeOrigins(encoder, origins);
  encoding.writeVarUint(encoder, ranges.length / packedSize);
  let lastClientId: number | undefined;
  let lastTo = 0;
  for (let at = 0; at < ranges.length; at += packedSize) {
    const [owner, clientId, from, to] = ranges.subarray(at, at + packedSize) as unknown as [number, number, number, number];
    const isSameClient = clientId === lastClientId;
    // The lowest bit says whether a client id follows.
    encoding.writeVarUint(encoder, owner * 2 + (isSameClient ? 0 : 1));
    if (!isSameClient) encoding.writeVarUint(encoder, clientId);
    encoding.writeVarUint(encoder, from - (isSameClient ? lastTo : 0));
    encoding.writeVarUint(encoder, to - from);
    lastClientId = clientId;
    lastTo = to;
  }
  for (const file of articleFiles) {
    encoding.writeVarUint(encoder, spans[file].length / 2);
    for (const number of spans[file]) encoding.writeVarUint(encoder, number);
  }
  return encoding.toUint8Array(encoder);
}

/** Writes each author and each commit once. */
function writeOrigins(encoder: encoding.Encoder, origins: readonly Origin[]): void {
  const authors: Author[] = [];
  const commits: string[] = [];
  const pairs = origins.flatMap(({ author, commitId = "" }) => [
    indexIn(authors, author, (other) => other.username === author.username && other.kind === author.kind),
    indexIn(commits, commitId, (other) => other === commitId),
  ]);
  encoding.writeVarUint(encoder, authors.length);
  for (const { username, kind } of authors) {
    encoding.writeUint8(encoder, kinds.indexOf(kind));
    encoding.writeVarString(encoder, username);
  }
  encoding.writeVarUint(encoder, commits.length);
  for (const commitId of commits) encoding.writeVarString(encoder, commitId);
  encoding.writeVarUint(encoder, origins.length);
  for (const number of pairs) encoding.writeVarUint(encoder, number);
}

function indexIn<Item>(list: Item[], item: Item, isSame: (other: Item) => boolean): number {
  const known = list.findIndex(isSame);
  return known >= 0 ? known : list.push(item) - 1;
}

/** Throws `StorageDamagedError` for bytes that this module did not write. */
export function decodeAttribution(bytes: Uint8Array): Attribution {
  const decoder = decoding.createDecoder(bytes);
  const found = decoding.readUint8(decoder);
  if (found !== layout) throw new StorageDamagedError(`the attribution of a text has the unknown layout ${found}`);
  const origins = readOrigins(decoder);
  const ranges = new Float64Array(decoding.readVarUint(decoder) * packedSize);
  let clientId = 0;
  let end = 0;
  for (let at = 0; at < ranges.length; at += packedSize) {
    const head = decoding.readVarUint(decoder);
    if (head % 2 === 1) {
      clientId = decoding.readVarUint(decoder);
      end = 0;
    }
    const from = end + decoding.readVarUint(decoder);
    end = from + decoding.readVarUint(decoder);
    ranges.set([Math.floor(head / 2), clientId, from, end], at);
  }
  return { origins, ranges, spans: byFile(() => readNumbers(decoder, decoding.readVarUint(decoder) * 2)) };
}

function readNumbers(decoder: decoding.Decoder, count: number): number[] {
  const numbers: number[] = [];
  for (let left = count; left > 0; left -= 1) numbers.push(decoding.readVarUint(decoder));
  return numbers;
}

function readOrigins(decoder: decoding.Decoder): Origin[] {
  const authors: Author[] = [];
  for (let left = decoding.readVarUint(decoder); left > 0; left -= 1) {
    const kind = kinds[decoding.readUint8(decoder)];
    const username = decoding.readVarString(decoder);
    if (kind === undefined) throw new StorageDamagedError("the attribution of a text has an unknown kind of author");
    authors.push({ username, kind });
  }
  const commits: string[] = [];
  for (let left = decoding.readVarUint(decoder); left > 0; left -= 1) commits.push(decoding.readVarString(decoder));
  const origins: Origin[] = [];
  for (let left = decoding.readVarUint(decoder); left > 0; left -= 1) {
    const author = authors[decoding.readVarUint(decoder)];
    const commitId = commits[decoding.readVarUint(decoder)];
    if (author === undefined) throw new StorageDamagedError("the attribution of a text refers to an author that it does not contain");
    origins.push({ author, ...(commitId === undefined || commitId === "" ? {} : { commitId }) });
  }
  return origins;
}
