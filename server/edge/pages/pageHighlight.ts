/**
 * PageHighlight colours the code of a public page. Each coloured part becomes a span with classes, which the style of the
 * page maps to colours. Code without a known language, and code beyond the limits, keeps one colour.
 */
import type { Element, Root } from "hast";
import { common, createLowlight } from "lowlight";
import { eachElement, textOf } from "./pageTree.ts";

const highlighter = createLowlight(common);
/** 1,000 characters of TypeScript take about 4 ms (measured with warm code). Larger blocks are data rather than code that people read. */
const maxBlockCharacters = 32 * 1024;
const maxPageCharacters = 256 * 1024;
const classPrefix = "code-";

function languageOf(code: Element): string | undefined {
  const [name] = Array.isArray(code.properties.className) ? code.properties.className : [];
  const language = typeof name === "string" ? name.replace(/^language-/, "").toLowerCase() : "";
  return highlighter.registered(language) ? language : undefined;
}

/** The highlighter also writes classes without the prefix, such as the name of an embedded language. */
function keepOwnClasses({ properties }: Element): void {
  if (!Array.isArray(properties.className)) return;
  properties.className = properties.className.filter((name) => String(name).startsWith(classPrefix));
}

export function rehypeHighlight() {
  return (tree: Root): void => {
    let left = maxPageCharacters;
    eachElement(tree, (pre) => {
      if (pre.tagName !== "pre") return;
      for (const code of pre.children) {
        if (code.type !== "element" || code.tagName !== "code") continue;
        const language = languageOf(code);
        const text = textOf(code);
        if (language === undefined || text.length > Math.min(maxBlockCharacters, left)) continue;
        left -= text.length;
        const { children } = highlighter.highlight(language, text, { prefix: classPrefix });
        code.children = children.filter((child) => child.type === "element" || child.type === "text");
        eachElement(code, keepOwnClasses);
      }
    });
  };
}
