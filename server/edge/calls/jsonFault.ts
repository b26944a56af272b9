/**
 * `findJsonFault` finds the first place at which a text is not JSON (RFC 8259), and says what JSON allows there.
 *
 * `JSON.parse` names no position for short texts and never says what it expects. Only texts that it refuses are examined
 * here. Nesting is kept on an array, so a deep text cannot exhaust the call stack. No message quotes the text.
 */

export interface JsonFault {
  /** Offset in UTF-16 units. The length of the text if the text ends too early. */
  readonly at: number;
  /** What JSON allows there: "a value". */
  readonly expected: string;
}

type Container = "{" | "[";
type Wanted = "value" | "value or end" | "name" | "name or end" | "colon" | "comma or end" | "end of text";

const closing = { "{": "}", "[": "]" } as const;
const aValue = "a value (an object, a list, a string in double quotes, a number, true, false or null)";
const aName = "a name in double quotes";
const spaces = /[ \t\n\r]*/y;
const scalar = /(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)/y;
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Returns undefined if the text is JSON. */
export function findJsonFault(text: string): JsonFault | undefined {
  const open: Container[] = [];
  let wanted: Wanted = "value";
  let at = 0;
  const afterValue = (): Wanted => (open.length === 0 ? "end of text" : "comma or end");
  for (;;) {
    at = endOf(spaces, text, at) ?? at;
    const letter = text[at];
    const inside = open.at(-1);
    const close = inside === undefined ? undefined : closing[inside];
    if (wanted === "end of text") return letter === undefined ? undefined : { at, expected: "the end" };
    const isName = wanted.startsWith("name");
    if (wanted === "colon") {
      if (letter !== ":") return { at, expected: "a colon after the name" };
      wanted = "value";
      at += 1;
    } else if (wanted !== "value" && wanted !== "name" && letter === close) {
      open.pop();
      wanted = afterValue();
      at += 1;
    } else if (wanted === "comma or end") {
      if (letter !== ",") return { at, expected: `a comma or '${close}'` };
      wanted = inside === "{" ? "name" : "value";
      at += 1;
    } else if (letter === '"') {
      const end = endOfString(text, at);
      if (typeof end === "object") return end;
      wanted = isName ? "colon" : afterValue();
      at = end;
    } else if (isName) {
      return { at, expected: wanted === "name" ? `${aName} after the comma` : `${aName} or '}'` };
    } else if (letter === "{" || letter === "[") {
      open.push(letter);
      wanted = letter === "{" ? "name or end" : "value or end";
      at += 1;
    } else {
      const end = endOf(scalar, text, at);
      if (end === undefined) return { at, expected: wanted === "value" ? aValue : `${aValue} or ']'` };
      wanted = afterValue();
      at = end;
    }
  }
}

/** Returns the offset after the match of a sticky pattern; undefined if it does not match there. */
function endOf(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** Returns the offset after the string that begins at `start`, or its first fault. */
function endOfString(text: string, start: number): number | JsonFault {
  for (let at = start + 1; at < text.length; ) {
    const letter = text[at] ?? "";
    if (letter === '"') return at + 1;
    if (letter < " ") return { at, expected: "an escape such as \\n or \\t instead of a control character in a string" };
    const end = letter === "\\" ? endOf(escaped, text, at) : at + 1;
    if (end === undefined) return { at, expected: 'an escape of JSON such as \\" \\\\ \\n or \\u00e9' };
    at = end;
  }
  return { at: text.length, expected: "a double quote that ends the string" };
}
