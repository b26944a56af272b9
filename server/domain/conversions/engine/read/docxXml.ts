/**
 * DocxXml reads the XML parts of a DOCX file into the elements of mammoth, in one pass.
 *
 * mammoth parses XML into a document of the DOM and copies that into its own elements. For a long document both take more time
 * and memory than all other reading, so `installDocxXml` replaces the parser. The parts have no document type, which the caller
 * checks; therefore only the five entities of XML and character references exist.
 */
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

export interface XmlElement {
  readonly type: "element";
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlNode[];
}

export interface XmlText {
  readonly type: "text";
  value: string;
}

export type XmlNode = XmlElement | XmlText;

/** Namespace → prefix that the name of an element gets. The name of another namespace is written as `{namespace}name`. */
type Prefixes = Readonly<Record<string, string>>;

interface MammothXml {
  readonly Element: new (name: string, attributes: Record<string, string>, children: XmlNode[]) => XmlElement;
  readString: (xml: string, prefixes: Prefixes) => Promise<XmlElement>;
}

const mammothXml = require("mammoth/lib/xml") as MammothXml;
const promises = require("mammoth/lib/promises") as {
  resolve<Value>(value: Value): Promise<Value>;
  reject(error: unknown): Promise<never>;
};

export function installDocxXml(): void {
  mammothXml.readString = (xml, prefixes) => {
    try {
      return promises.resolve(parseXml(xml, prefixes));
    } catch (error) {
      return promises.reject(error);
    }
  };
}

const tagName = /[^\s/>=<"'&]+/y;
const attribute = /\s+([^\s/>=<"'&]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y;
const tagEnd = /\s*(\/?)>/y;
const reference = /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));|&/gi;
/** What a character reference may name: the characters of XML 1.0, without halves of surrogate pairs. */
const character = /[\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u;
const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

/** The namespaces of a prefix at one place, and the names that were already resolved there. */
interface Scope {
  readonly namespaces: ReadonlyMap<string, string>;
  readonly elementNames: Map<string, string>;
  readonly attributeNames: Map<string, string>;
}

interface Open {
  /** Name as it is written. */
  readonly name: string;
  readonly element: XmlElement;
  readonly scope: Scope;
}

/** Throws `Error` with the reason and the offset if the text is not well-formed. */
export function parseXml(source: string, prefixes: Prefixes): XmlElement {
  const xml = source.includes("\r") ? source.replace(/\r\n?/g, "\n") : source;
  const outermost = toScope(new Map([["xml", "http://www.w3.org/XML/1998/namespace"]]));
  const open: Open[] = [];
  let root: XmlElement | undefined;
  let at = 0;

  const fail = (reason: string): never => {
    throw new Error(`the XML is not well-formed: ${reason} at ${at}`);
  };
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(xml);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };
  const skip = (end: string): string => {
    const endAt = xml.indexOf(end, at);
    if (endAt === -1) return fail(`${JSON.stringify(end)} is missing`);
    const skipped = xml.slice(at, endAt);
    at = endAt + end.length;
    return skipped;
  };

  const addText = (value: string): void => {
    const children = open.at(-1)?.element.children;
    if (children === undefined) {
      if (value.trim() !== "") fail("there is text outside of the root element");
      return;
    }
    const last = children.at(-1);
    if (last?.type === "text") last.value += value;
    else children.push({ type: "text", value });
  };

  const decode = (value: string): string => {
    if (!value.includes("&")) return value;
    return value.replace(reference, (_, decimal?: string, hexadecimal?: string, entity?: string) => {
      const codePoint = decimal !== undefined ? Number(decimal) : Number.parseInt(hexadecimal ?? "", 16);
      const decoded = entity !== undefined ? entities[entity] : codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : "";
      return decoded !== undefined && character.test(decoded) ? decoded : fail("an entity is unknown");
    });
  };

  const readTag = (): void => {
    const name = match(tagName)?.[0] ?? fail("the name of an element is missing");
    let scope = open.at(-1)?.scope ?? outermost;
    let namespaces: Map<string, string> | undefined;
    let written: string[] | undefined;
    for (let found = match(attribute); found !== null; found = match(attribute)) {
      const [, key = "", double, single = ""] = found;
      const value = decode(double ?? single);
      if (key === "xmlns" || key.startsWith("xmlns:")) {
        namespaces ??= new Map(scope.namespaces);
        namespaces.set(key.slice(6), value);
      } else {
        written ??= [];
        written.push(key, value.replace(/[\t\n]/g, " "));
      }
    }
    const isEmpty = (match(tagEnd) ?? fail(`the tag ${name} does not end`))[1] === "/";
    if (namespaces !== undefined) scope = toScope(namespaces);
    const attributes: Record<string, string> = {};
    for (let index = 0; written !== undefined && index < written.length; index += 2) {
      const attributeName = toAttributeName(written[index] ?? "", scope, prefixes);
      if (Object.hasOwn(attributes, attributeName)) fail(`the attribute ${attributeName} occurs twice`);
      attributes[attributeName] = written[index + 1] ?? "";
    }
    const element = new mammothXml.Element(toElementName(name, scope, prefixes), attributes, []);
    const parent = open.at(-1);
    if (parent !== undefined) parent.element.children.push(element);
    else if (root !== undefined) fail("there is a second root element");
    else root = element;
    if (!isEmpty) open.push({ name, element, scope });
  };

  const readMarkup = (): void => {
    at += 1;
    if (xml.startsWith("/", at)) {
      at += 1;
      const name = skip(">").trimEnd();
      if (open.pop()?.name !== name) fail(`the end of ${name} has no beginning`);
    } else if (xml.startsWith("!--", at)) {
      at += 3;
      skip("-->");
    } else if (xml.startsWith("![CDATA[", at)) {
      at += 8;
      addText(skip("]]>"));
    } else if (xml.startsWith("?", at)) skip("?>");
    else readTag();
  };

  while (at < xml.length) {
    const next = xml.indexOf("<", at);
    const end = next === -1 ? xml.length : next;
    if (end > at) addText(decode(xml.slice(at, end)));
    at = end;
    if (next !== -1) readMarkup();
  }
  if (open.length > 0) fail(`the element ${open.at(-1)?.name} does not end`);
  return root ?? fail("there is no element");
}

function toScope(namespaces: ReadonlyMap<string, string>): Scope {
  return { namespaces, elementNames: new Map(), attributeNames: new Map() };
}

function toElementName(name: string, { namespaces, elementNames }: Scope, prefixes: Prefixes): string {
  const known = elementNames.get(name);
  if (known !== undefined) return known;
  const resolved = resolveName(name, namespaces, prefixes);
  elementNames.set(name, resolved);
  return resolved;
}

/** An attribute without a prefix has no namespace. */
function toAttributeName(name: string, { namespaces, attributeNames }: Scope, prefixes: Prefixes): string {
  const known = attributeNames.get(name);
  if (known !== undefined) return known;
  const resolved = name.includes(":") ? resolveName(name, namespaces, prefixes) : name;
  attributeNames.set(name, resolved);
  return resolved;
}

function resolveName(name: string, namespaces: ReadonlyMap<string, string>, prefixes: Prefixes): string {
  const colon = name.indexOf(":");
  const namespace = namespaces.get(colon === -1 ? "" : name.slice(0, colon)) ?? "";
  const local = name.slice(colon + 1);
  if (namespace === "") return local;
  return Object.hasOwn(prefixes, namespace) ? `${prefixes[namespace]}:${local}` : `{${namespace}}${local}`;
}
