/**
 * MarkdownParts parses a long Markdown text in parts of whole blocks and joins their trees.
 *
 * The parser copies all its events at the end of each list and quote, so its time grows with the square of the text, and it
 * keeps the events of the whole text in memory. Parts bound both. The tree is the same as that of the whole text:
 *
 * - A part ends where a block at the top level begins. A window of text is cut at an empty line. Its blocks are complete, except
 *   that the next lines could continue the last one; such a block begins the next part.
 * - Definitions of links and footnotes count in the whole text. The labels that a part mentions are defined before it in a
 *   preamble, which is removed from its tree. Definitions are guessed by a pattern first; parts that mention a label for which
 *   the guess was wrong are parsed again.
 *
 * This module does not know the parser nor its extensions, except front matter, which must be at the beginning of a text.
 */
import type { Nodes, Root, RootContent } from "mdast";

type Parse = (markdown: string) => Root;
type Point = NonNullable<Root["position"]>["start"];

/** Characters after which a part ends at the next empty line. */
const defaultLength = 4096;

/** Blocks that no line after an empty line can continue. */
const endsAtEmptyLine: ReadonlySet<string> = new Set(["paragraph", "heading", "thematicBreak", "table", "blockquote", "definition"]);

interface Part {
  /** Where the part begins in the whole text, at the beginning of a line. */
  readonly start: Point;
  readonly text: string;
  readonly nodes: readonly RootContent[];
  readonly end: Point;
}

/** Labels as a definition can have them, by their identifier. The label of a footnote begins with a caret. */
type Labels = ReadonlyMap<string, string>;

/** Front matter at the beginning of a text, with the line end after it. */
export const frontMatter = /^---[ \t]*(?:\r\n|[\r\n])(?:[\s\S]*?(?:\r\n|[\r\n]))??---[ \t]*(?:\r\n|[\r\n]|$)/;
const label = /\[((?:[^[\]\\]|\\[\s\S]){1,1000})\]/g;
const definition = /\[((?:[^[\]\\]|\\[\s\S]){1,1000})\]:/g;

/** `partLength` is a parameter for tests. */
export function parseInParts(markdown: string, parse: Parse, partLength = defaultLength): Root {
  // Parsers skip a byte order mark and do not count it. They read a null character as a replacement character.
  const text = (markdown.startsWith("\ufeff") ? markdown.slice(1) : markdown).replaceAll("\0", "\ufffd");
  const frontText = frontMatter.exec(text)?.[0] ?? "";
  // The parser waits for the end of front matter and finds no quotes and lists meanwhile. A rule can look like its beginning.
  const isRule = frontText === "" && text.startsWith("---");
  if (text.length <= partLength && !isRule) return parse(markdown);
  const front = parseFrontMatter(frontText, parse);
  const guessed = toLabels(findAll(text, definition));
  let parts = parseParts(text, front.end, { labels: guessed, parse, partLength });
  const defined: Labels = new Map(parts.flatMap(({ nodes }) => findDefined(nodes)).map((name) => [name, guessed.get(name) ?? name]));
  const wrong = new Set([...guessed.keys(), ...defined.keys()].filter((name) => guessed.has(name) !== defined.has(name)));
  if (wrong.size > 0)
    parts = parts.map((part) => (findMentions(part.text).some((name) => wrong.has(name)) ? parsePart(part, defined, parse) : part));
  return {
    type: "root",
    children: [...front.nodes, ...parts.flatMap(({ nodes }) => nodes)],
    position: { start: { line: 1, column: 1, offset: 0 }, end: parts.at(-1)?.end ?? front.end },
  };
}

function parseFrontMatter(text: string, parse: Parse): Pick<Part, "nodes" | "end"> {
  const { children, position } = parse(text);
  return { nodes: children, end: position?.end ?? { line: 1, column: 1, offset: 0 } };
}

interface PartsOptions {
  readonly labels: Labels;
  readonly parse: Parse;
  readonly partLength: number;
}

function parseParts(text: string, from: Point, { labels, parse, partLength }: PartsOptions): readonly Part[] {
  const parts: Part[] = [];
  let start = from;
  let length = partLength;
  while (offsetOf(start) < text.length) {
    const endOffset = findEnd(text, offsetOf(start) + length);
    const part = parsePart({ start, text: text.slice(offsetOf(start), endOffset) }, labels, parse);
    const last = part.nodes.at(-1);
    const isComplete = endOffset === text.length || (last !== undefined && endsAtEmptyLine.has(last.type));
    if (!isComplete && part.nodes.length < 2) {
      length *= 2;
      continue;
    }
    const next = isComplete ? part.end : toLineStart(last?.position?.start ?? part.end);
    const nodes = isComplete ? part.nodes : part.nodes.slice(0, -1);
    parts.push({ ...part, text: text.slice(offsetOf(start), offsetOf(next)), nodes });
    start = next;
    length = partLength;
  }
  return parts;
}

function offsetOf({ offset }: Point): number {
  return offset ?? 0;
}

/** A block at the top level is indented by spaces only. */
function toLineStart({ line, column, offset = 0 }: Point): Point {
  return { line, column: 1, offset: offset - (column - 1) };
}

/** Returns the end of the first empty line after an offset. */
function findEnd(text: string, after: number): number {
  const emptyLine = /\n[ \t]*\r?\n/g;
  emptyLine.lastIndex = after;
  return emptyLine.exec(text) === null ? text.length : emptyLine.lastIndex;
}

/** The positions of the nodes are those in the whole text. */
function parsePart({ start, text }: Pick<Part, "start" | "text">, labels: Labels, parse: Parse): Part {
  const mentioned = findMentions(text).flatMap((name) => labels.get(name) ?? []);
  // The rule ends the last footnote, so that indented code at the beginning of the part does not become a piece of it.
  const preamble = [...mentioned.map((name) => `[${name}]: x\n\n`), "***\n"].join("");
  const preambleLines = 2 * mentioned.length + 1;
  const tree = parse(preamble + text);
  const nodes = tree.children.filter(({ position }) => (position?.start.line ?? 0) > preambleLines);
  const shift = (point: Point) => {
    point.line += start.line - 1 - preambleLines;
    point.offset = offsetOf(point) + offsetOf(start) - preamble.length;
  };
  for (const { position } of walk(nodes)) {
    if (position === undefined) continue;
    shift(position.start);
    shift(position.end);
  }
  const end = tree.position?.end ?? { line: 1, column: 1, offset: 0 };
  shift(end);
  return { start, text, nodes, end };
}

/** Yields the nodes and all nodes below them, in no order. Not recursive, because a tree can be very deep. */
function* walk(nodes: readonly Nodes[]): Iterable<Nodes> {
  const waiting = [...nodes];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    yield next;
    if ("children" in next) for (const child of next.children) waiting.push(child);
  }
}

function findDefined(nodes: readonly Nodes[]): readonly string[] {
  const labels: string[] = [];
  for (const node of walk(nodes)) {
    if (node.type === "definition") labels.push(toIdentifier(node.identifier));
    if (node.type === "footnoteDefinition") labels.push(toIdentifier(`^${node.identifier}`));
  }
  return labels;
}

/** Returns the identifiers of the texts between brackets, each once. */
function findMentions(text: string): readonly string[] {
  return text.includes("[") ? [...new Set(findAll(text, label).flatMap(toForms).map(toIdentifier))] : [];
}

function findAll(text: string, pattern: RegExp): readonly string[] {
  return Array.from(text.matchAll(pattern), ([, found = ""]) => found);
}

function toLabels(found: readonly string[]): Labels {
  return new Map(found.flatMap(toForms).map((each) => [toIdentifier(each), each]));
}

/** A label can go over several lines, which begin with markers in a quote. Returns it on one line, with and without them. */
function toForms(found: string): readonly string[] {
  const forms = [found, found.replace(/([\r\n])(?:[ \t]*>)+/g, "$1")].map((each) => each.replace(/[\t\n\r ]+/g, " "));
  return forms[0] === forms[1] ? forms.slice(1) : forms;
}

/** As the parser does. Some letters, such as "ß" and "ẞ", are equal only after both changes of case. */
function toIdentifier(each: string): string {
  return each
    .replace(/[\t\n\r ]+/g, " ")
    .replace(/^ | $/g, "")
    .toLowerCase()
    .toUpperCase();
}
