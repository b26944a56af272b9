/**
 * Computes the differences of two texts as replacements on the older text, in bounded time.
 *
 * Lines are compared first, then the words inside the differing lines. Offsets are UTF-16 units, as in Yjs, and no
 * surrogate pair is ever split. The same two texts always give the same hunks, so that a merge can recognise an identical
 * change on both sides.
 */
import { type DiffBudget, diffSequences, type Span } from "./sequenceDiff.ts";

/** `base.slice(start, end)` becomes `text`. */
export interface Hunk {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const stepsForLines = 4_000_000;
const stepsForWords = 2_000_000;
/** A longer replacement is not compared word by word. */
const maxRefined = 100_000;
/** A longer pure insertion or pure deletion is not compared word by word. */
const maxRefinedGrowth = 1000;
/** The text after this many lines counts as a single line. */
const maxLines = 100_000;

/** Pieces of the word comparison. Scripts without spaces between words are split into characters; a CR LF is one piece. */
const pieces =
  /\r\n|[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}]|(?:(?![\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}])[\p{L}\p{M}\p{N}_])+|[\s\S]/gu;

/** Returns ascending hunks that never touch; applied to `base` they give `next`. Only tests set `longFrom`, the length of a long piece. */
export function diffTexts(base: string, next: string, longFrom = maxRefined): Hunk[] {
  if (base === next) return [];
  const { start, baseEnd, nextEnd } = findChanged(base, next);
  const words: DiffBudget = { steps: stepsForWords };
  const hunks: Hunk[] = [];
  const changed = toHunks(base.slice(start, baseEnd), next.slice(start, nextEnd), toLines, { steps: stepsForLines });
  for (const part of changed) {
    const lines = { start: part.start + start, end: part.end + start, text: part.text };
    const trimmed = trim(base, lines);
    const isLong = trimmed.end - trimmed.start + trimmed.text.length > longFrom;
    if (!isLong || isGrowth(trimmed)) refine(base, trimmed, words, hunks);
    else for (const line of pairLines(base, lines)) refine(base, trim(base, line), words, hunks);
  }
  return hunks;
}

export interface ChangedRange {
  readonly start: number;
  readonly baseEnd: number;
  readonly nextEnd: number;
}

/** Finds the range of whole lines outside of which both texts are equal, so that a small change in a long text is compared quickly. */
export function findChanged(base: string, next: string): ChangedRange {
  const shorter = Math.min(base.length, next.length);
  const same = commonLength(shorter, (from, to) => base.slice(from, to) === next.slice(from, to));
  const start = base.slice(0, same).lastIndexOf("\n") + 1;
  const fromEnd = (text: string, from: number, to: number) => text.slice(text.length - to, text.length - from);
  const sameAtEnd = commonLength(shorter - start, (from, to) => fromEnd(base, from, to) === fromEnd(next, from, to));
  const lineEnd = base.indexOf("\n", base.length - sameAtEnd);
  const rest = sameAtEnd === 0 || lineEnd < 0 ? 0 : base.length - lineEnd - 1;
  return { start, baseEnd: base.length - rest, nextEnd: next.length - rest };
}

/** Length of the common part of two texts, at most `end`. It compares pieces of 4096 characters, then halves the piece size. */
function commonLength(end: number, isSamePiece: (from: number, to: number) => boolean): number {
  let length = 0;
  for (let step = 4096; step >= 1; ) {
    const to = Math.min(length + step, end);
    if (to > length && isSamePiece(length, to)) length = to;
    else step = step === 1 ? 0 : Math.floor(step / 2);
  }
  return length;
}

/** Splits a long piece into pairs of lines to compare. Lines with the same first 16 characters count as the same line. */
function pairLines(base: string, { start, end, text }: Hunk): Hunk[] {
  const older = toLines(base.slice(start, end));
  const newer = toLines(text);
  const { a, b } = intern(older, newer, toBeginning);
  const pairs: Hunk[] = [];
  let offset = start;
  const add = (aFrom: number, aTo: number, bFrom: number, bTo: number) => {
    const [before, after] = [older.slice(aFrom, aTo).join(""), newer.slice(bFrom, bTo).join("")];
    if (before !== after) pairs.push({ start: offset, end: offset + before.length, text: after });
    offset += before.length;
  };
  let from = { a: 0, b: 0 };
  const afterAll = { aStart: older.length, aEnd: older.length, bStart: newer.length, bEnd: newer.length };
  for (const span of [...diffSequences(a, b, { steps: stepsForLines }), afterAll]) {
    for (; from.a < span.aStart; from = { a: from.a + 1, b: from.b + 1 }) add(from.a, from.a + 1, from.b, from.b + 1);
    add(span.aStart, span.aEnd, span.bStart, span.bEnd);
    from = { a: span.aEnd, b: span.bEnd };
  }
  return pairs;
}

function toBeginning(line: string): string {
  return line.slice(0, 16);
}

function toWholePart(part: string): string {
  return part;
}

/** Adds the hunks of one differing piece. They are found word by word, unless the piece is too long for that. */
function refine(base: string, piece: Hunk, words: DiffBudget, hunks: Hunk[]): void {
  const size = piece.end - piece.start + piece.text.length;
  if (size > (isGrowth(piece) ? maxRefinedGrowth : maxRefined)) {
    push(hunks, piece);
    return;
  }
  const { start, end, text } = toWholeWords(base, piece);
  const older = base.slice(start, end);
  for (const part of joinWhereRewritten(older, toHunks(older, text, toPieces, words))) {
    const rewritten = { start: start + part.start, end: start + part.end, text: part.text };
    const grown = trim(base, rewritten);
    // Replace a changed word as a whole. Otherwise a merge could combine parts of two different words.
    push(hunks, isGrowth(grown) ? grown : rewritten);
  }
}

/** Appends a hunk, or joins it to the last hunk if they touch, so that each offset is in at most one hunk. */
function push(hunks: Hunk[], hunk: Hunk): void {
  const last = hunks.at(-1);
  if (last?.end === hunk.start) hunks[hunks.length - 1] = { start: last.start, end: hunk.end, text: last.text + hunk.text };
  else hunks.push(hunk);
}

function isGrowth({ start, end, text }: Hunk): boolean {
  return start === end || text === "";
}

const wordAtEnd = /[\p{L}\p{M}\p{N}_]*$/u;
const wordAtStart = /^[\p{L}\p{M}\p{N}_]*/u;
const longestWord = 100;

/** Extends the hunk on both sides to word boundaries, by at most `longestWord` characters. */
function toWholeWords(base: string, { start, end, text }: Hunk): Hunk {
  const before = wordAtEnd.exec(base.slice(Math.max(0, start - longestWord), start))?.[0] ?? "";
  const after = wordAtStart.exec(base.slice(end, end + longestWord))?.[0] ?? "";
  return { start: start - before.length, end: end + after.length, text: before + text + after };
}

export interface LineDiff {
  readonly older: readonly string[];
  readonly newer: readonly string[];
  /** Ranges of lines in `older` and the ranges in `newer` that replace them. */
  readonly spans: readonly Span[];
}

/** Compares two texts by lines. Each line includes its line end; the text after `maxLines` lines counts as a single line. */
export function diffLines(base: string, next: string): LineDiff {
  const [older, newer] = [toLines(base), toLines(next)];
  const { a, b } = intern(older, newer, toWholePart);
  return { older, newer, spans: diffSequences(a, b, { steps: stepsForLines }) };
}

/** Counts the lines that the newer text adds and removes. */
export function countLines({ spans }: LineDiff): { readonly added: number; readonly removed: number } {
  let [added, removed] = [0, 0];
  for (const span of spans) {
    added += span.bEnd - span.bStart;
    removed += span.aEnd - span.aStart;
  }
  return { added, removed };
}

export function applyHunks(base: string, hunks: readonly Hunk[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const { start, end, text } of hunks) {
    parts.push(base.slice(from, start), text);
    from = end;
  }
  return parts.join("") + base.slice(from);
}

/** Splits into lines that include their line ends; joined, they give the text. */
function toLines(text: string): string[] {
  const lines: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = lines.length === maxLines ? text.length : text.indexOf("\n", start) + 1 || text.length;
    lines.push(text.slice(start, end));
    start = end;
  }
  return lines;
}

function toPieces(text: string): string[] {
  return text.match(pieces) ?? [];
}

/** Replaces the parts by numbers: parts with the same key get the same number on both sides. */
function intern(
  a: readonly string[],
  b: readonly string[],
  keyOf: (part: string) => string,
): { readonly a: Int32Array; readonly b: Int32Array } {
  const numbers = new Map<string, number>();
  const toNumber = (part: string) => {
    const key = keyOf(part);
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, numbers.size);
    return numbers.size - 1;
  };
  return { a: Int32Array.from(a, toNumber), b: Int32Array.from(b, toNumber) };
}

function toHunks(base: string, next: string, split: (text: string) => string[], budget: DiffBudget): Hunk[] {
  const older = split(base);
  const newer = split(next);
  const { a, b } = intern(older, newer, toWholePart);
  const offsets = new Int32Array(older.length + 1);
  for (const [at, part] of older.entries()) offsets[at + 1] = (offsets[at] as number) + part.length;
  return diffSequences(a, b, budget).map((span: Span) => ({
    start: offsets[span.aStart] as number,
    end: offsets[span.aEnd] as number,
    text: newer.slice(span.bStart, span.bEnd).join(""),
  }));
}

const separator = /^[^\p{L}\p{N}]{1,2}$/u;

/**
 * Joins neighbouring replacements with only one or two separator characters between them into one rewritten phrase. When two
 * authors rewrite the same phrase, the merge then keeps both phrases one after the other and does not mix their words.
 */
function joinWhereRewritten(base: string, hunks: readonly Hunk[]): Hunk[] {
  const joined: Hunk[] = [];
  const rewrites = ({ start, end, text }: Hunk) => end > start && text !== "";
  for (const hunk of hunks) {
    const last = joined.at(-1);
    const between = last === undefined ? "" : base.slice(last.end, hunk.start);
    if (last !== undefined && rewrites(last) && rewrites(hunk) && separator.test(between)) {
      joined[joined.length - 1] = { start: last.start, end: hunk.end, text: last.text + between + hunk.text };
    } else {
      joined.push(hunk);
    }
  }
  return joined;
}

/** Removes the common start and end of the replaced and the new text from a hunk. */
export function trim(base: string, { start, end, text }: Hunk): Hunk {
  let from = 0;
  let [baseEnd, textEnd] = [end, text.length];
  while (start + from < baseEnd && from < textEnd && base.charCodeAt(start + from) === text.charCodeAt(from)) from += 1;
  if (from > 0 && isHighSurrogate(text.charCodeAt(from - 1))) from -= 1;
  while (baseEnd > start + from && textEnd > from && base.charCodeAt(baseEnd - 1) === text.charCodeAt(textEnd - 1)) {
    baseEnd -= 1;
    textEnd -= 1;
  }
  if (textEnd < text.length && isLowSurrogate(text.charCodeAt(textEnd))) {
    baseEnd += 1;
    textEnd += 1;
  }
  return { start: start + from, end: baseEnd, text: text.slice(from, textEnd) };
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
