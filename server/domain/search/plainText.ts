/**
 * `toPlainText` removes the syntax of Markdown from a text, so that a snippet reads as text.
 *
 * A parser would be exact, but a search reads megabytes while the caller waits. The time of this pass is linear in the length
 * of any text. Characters that may be text are kept: an unpaired asterisk, brackets without an address, and all of code.
 */
import { frontMatter } from "../call/markdownParts.ts";

const fence = /^[ \t]*(`{3,}|~{3,})(.*)$/;
/** The mark of a quote, a bullet or a task. The number of a list item is kept, because it may be part of a sentence. */
const markers = /^[ \t]*(?:>[ \t]?|[-+*][ \t]+|\[[ xX]\][ \t]+)/;
const maxNesting = 20;
const headingMarks = /^[ \t]*#{1,6}(?:[ \t]+|$)/;
/** A rule, the line below a heading, or the second row of a table, without its spaces. */
const ornament = /^(?:=+|-{2,}|\*{3,}|_{3,}|\|?:?-+:?(?:\|:?-+:?)*\|?)$/;
const definition = /^[ \t]*\[[^\]^][^\]]{0,200}\]:[ \t]*\S/;
const noteMark = /\[\^[^\]\s]{1,100}\]:?/y;
const target =
  /\((?:<[^<>\n]{0,2000}>|[^\s()<>]{0,2000}(?:\([^\s()]{0,200}\)[^\s()]{0,200})?)(?:\s+(?:"[^"]{0,500}"|'[^']{0,500}'))?\s?\)/y;
const reference = /\[[^[\]]{0,200}\]/y;
const address = /<((?:https?|mailto):[^<>\s]*)>/y;
const tag = /<\/?[a-z][a-z0-9-]*(?:\s[^<>]*|\/)?>|<!--/y;
const plain = /[^\\`![\]*_~<]+/y;
const escapable = /[!-/:-@[-`{-~\n]/;
const wordCharacter = /[\p{L}\p{N}]/u;

export function toPlainText(markdown: string): string {
  const parts: string[] = [];
  let paragraph: string[] = [];
  let open: string | undefined;
  const endParagraph = () => {
    if (paragraph.length > 0) parts.push(toPlainLines(paragraph.join("\n")));
    paragraph = [];
  };
  for (const line of markdown.replace(frontMatter, "").split("\n")) {
    if (line === "") {
      endParagraph();
      parts.push("");
      continue;
    }
    const [, mark, rest = ""] = fence.exec(line) ?? [];
    if (open !== undefined) {
      if (mark?.startsWith(open) && rest.trim() === "") open = undefined;
      else parts.push(line);
    } else if (mark !== undefined && (mark.startsWith("~") || !rest.includes("`"))) {
      // A line with further backticks begins inline code.
      endParagraph();
      open = mark;
    } else {
      const text = toLineText(line);
      const isHeading = headingMarks.test(line);
      if (text === "" || isHeading) endParagraph();
      paragraph.push(text);
      if (isHeading) endParagraph();
    }
  }
  endParagraph();
  return parts.join("\n");
}

/** Removes the marks at the beginning of a line that say what its block is. */
function toLineText(line: string): string {
  if (ornament.test(line.replaceAll(/[ \t]/g, "")) || definition.test(line)) return "";
  let text = line;
  for (let depth = 0; depth < maxNesting && markers.test(text); depth += 1) text = text.replace(markers, "");
  if (headingMarks.test(text)) return text.replace(headingMarks, "").replace(/[ \t]#+[ \t]*$/, "");
  return text.trimStart().startsWith("|") ? text.replaceAll(/(?<!\\)\|/g, " ") : text;
}

/** A run of `*`, `_` or `~` that may begin emphasis. A later run that ends the emphasis removes characters from its piece. */
interface Delimiter {
  readonly piece: number;
  length: number;
}

/** Removes links, emphasis, code marks and HTML tags of one paragraph. */
function toPlainLines(text: string): string {
  const pieces: string[] = [];
  const brackets: number[] = [];
  const openers: Readonly<Record<string, Delimiter[]>> = { "*": [], _: [], "~": [] };
  let at = 0;

  /** Returns the text that the sticky pattern matches at the current place, and moves behind it. */
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };
  const keep = (length: number) => {
    pieces.push(text.slice(at, at + length));
    at += length;
  };

  function takeCode(): void {
    const marks = /^`+/.exec(text.slice(at, at + 100))?.[0] ?? "`";
    const end = text.indexOf(marks, at + marks.length);
    if (end === -1) keep(marks.length);
    else {
      pieces.push(text.slice(at + marks.length, end));
      at = end + marks.length;
    }
  }

  function closeBracket(): void {
    const opened = brackets.pop();
    at += 1;
    if (opened !== undefined && (take(target) ?? take(reference)) !== null) pieces[opened] = "";
    else pieces.push("]");
  }

  function takeDelimiter(mark: string): void {
    let end = at;
    while (text[end] === mark) end += 1;
    const [before = " ", after = " "] = [text[at - 1], text[end]];
    const isInWord = mark === "_" && wordCharacter.test(before) && wordCharacter.test(after);
    const closers = openers[mark] ?? [];
    let length = end - at;
    if (!isInWord && /\S/.test(before)) {
      for (let opener = closers.at(-1); opener !== undefined && length > 0; opener = closers.at(-1)) {
        const paired = Math.min(opener.length, length);
        opener.length -= paired;
        length -= paired;
        pieces[opener.piece] = mark.repeat(opener.length);
        if (opener.length === 0) closers.pop();
      }
    }
    if (length > 0 && !isInWord && /\S/.test(after)) closers.push({ piece: pieces.length, length });
    pieces.push(mark.repeat(length));
    at = end;
  }

  function takeAngle(): void {
    const found = take(address);
    if (found !== null) {
      pieces.push(found[1] ?? "");
      return;
    }
    const taken = take(tag)?.[0];
    if (taken === undefined) keep(1);
    if (taken !== "<!--") return;
    const end = text.indexOf("-->", at);
    at = end === -1 ? text.length : end + 3;
  }

  while (at < text.length) {
    const letter = text[at] ?? "";
    const words = take(plain);
    if (words !== null) pieces.push(words[0]);
    else if (letter === "\\" && escapable.test(text[at + 1] ?? "")) {
      at += 1;
      keep(1);
    } else if (letter === "`") takeCode();
    else if (letter === "[" && take(noteMark) !== null) continue;
    else if (letter === "[" || text.startsWith("![", at)) {
      brackets.push(pieces.length);
      keep(letter === "[" ? 1 : 2);
    } else if (letter === "]") closeBracket();
    else if (letter in openers) takeDelimiter(letter);
    else if (letter === "<") takeAngle();
    else keep(1);
  }
  return pieces.join("");
}
