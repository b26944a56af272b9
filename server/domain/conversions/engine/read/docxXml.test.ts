import { expect, test } from "vitest";
import { parseXml, type XmlNode } from "./docxXml.ts";

const prefixes = { "urn:word": "w", "urn:rel": "r" };

/** The tree as nested arrays: name, attributes, children. */
const toArrays = (node: XmlNode): unknown =>
  node.type === "text" ? node.value : [node.name, { ...node.attributes }, ...node.children.map(toArrays)];

test("[CV105] names are resolved by their namespaces, whatever prefix the file uses", () => {
  const xml = `<?xml version="1.0"?><!-- a --><x:p xmlns:x="urn:word" xmlns="urn:other" xmlns:r="urn:rel" x:val='1' r:id="2" plain="3">
<q/><x:r xmlns:x="urn:else">one</x:r><x:t xmlns="">two</x:t><s xmlns=""/></x:p>`;
  expect(toArrays(parseXml(xml, prefixes))).toEqual([
    "w:p",
    { "w:val": "1", "r:id": "2", plain: "3" },
    "\n",
    ["{urn:other}q", {}],
    ["{urn:else}r", {}, "one"],
    ["w:t", {}, "two"],
    ["s", {}],
  ]);
});

test("[CV105] entities, character references, sections of characters and line ends become text", () => {
  const xml = `<a b="x&#10;&quot;\ty">1 &lt; 2 &amp;&#x1F600;<!-- no --><![CDATA[<&>]]>\r\nend\r</a>`;
  expect(toArrays(parseXml(xml, prefixes))).toEqual(["a", { b: 'x "\ty'.replace("\t", " ") }, "1 < 2 &😀<&>\nend\n"]);
});

test.each([
  ["", "there is no element"],
  ["<a>", "the element a does not end"],
  ["<a></b>", "the end of b has no beginning"],
  ["</a>", "the end of a has no beginning"],
  ["<a/><b/>", "there is a second root element"],
  ["<a/>text", "there is text outside of the root element"],
  ["<a b=c/>", "the tag a does not end"],
  ["<a b='<'/>", "the tag a does not end"],
  ["<a>&nbsp;</a>", "an entity is unknown"],
  ["<a>&</a>", "an entity is unknown"],
  ["<a>&#x110000;</a>", "an entity is unknown"],
  ["<a>&#0;</a>", "an entity is unknown"],
  ["<a>&#xD800;</a>", "an entity is unknown"],
  ["<a b='1' b='2'/>", "the attribute b occurs twice"],
  ["<a><!-- open</a>", '"-->" is missing'],
  ["<a><!ENTITY b></a>", "the tag !ENTITY does not end"],
  ["<", "the name of an element is missing"],
])("[CV105] XML that is not well-formed is refused with the reason: %s", (xml, reason) => {
  expect(() => parseXml(xml, prefixes)).toThrow(reason);
});

test("[CV105] names of built-in properties of objects are only names", () => {
  const xml = '<constructor xmlns:toString="constructor" __proto__="1" toString:a="2"><toString:hasOwnProperty/></constructor>';
  expect(toArrays(parseXml(xml, prefixes))).toEqual(["constructor", { "{constructor}a": "2" }, ["{constructor}hasOwnProperty", {}]]);
});

test("[CV105] a deep document and a tag without an end are read in a time proportional to their length", () => {
  const depth = 100_000;
  let node: XmlNode | undefined = parseXml("<a>".repeat(depth) + "</a>".repeat(depth), prefixes);
  let levels = 0;
  for (; node?.type === "element"; node = node.children[0]) levels += 1;
  expect(levels).toBe(depth);
  expect(() => parseXml(`<a ${" b='c'".repeat(depth)}${" ".repeat(depth)}`, prefixes)).toThrow("the tag a does not end");
});
