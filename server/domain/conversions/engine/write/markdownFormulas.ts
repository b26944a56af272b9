/**
 * MarkdownFormulas writes formulas into Markdown, and escapes a `$` of the text that would begin one.
 *
 * Prices stay as they are: `$5 and $10` is no formula by the rule of formulaSyntax.ts. A `$` is escaped only if a later `$` of
 * the same block could close the formula.
 */
import type { Nodes, Root, Text } from "mdast";
import { type InlineMath, mathToMarkdown } from "mdast-util-math";
import type { Processor } from "unified";

const oneDollar = mathToMarkdown().handlers;
const twoDollars = mathToMarkdown({ singleDollarTextMath: false }).handlers;

const word = /[\p{Script=Latin}\p{N}]/u;
const phrasing: ReadonlySet<string> = new Set(["paragraph", "heading", "tableCell"]);
/** Replaces the Markdown signs around marks, code and links in the text that is searched. */
const sign = "\u0001";

export function remarkFormulas(this: Processor): void {
  const escapes = new WeakMap<Text, readonly number[]>();
  const data = this.data();
  data.toMarkdownExtensions ??= [];
  data.toMarkdownExtensions.push({
    unsafe: [
      { character: "$", inConstruct: "mathFlowMeta" },
      { atBreak: true, character: "$", after: "\\$" },
    ],
    handlers: {
      ...oneDollar,
      inlineMath(node: InlineMath, parent, state, info) {
        // Nothing begins a formula after a letter or another formula, so the source becomes code.
        const previous = parent?.children[(state.indexStack.at(-1) ?? 0) - 1];
        if (word.test(lastCharacter(info.before)) || previous?.type === "inlineMath")
          return state.handle({ type: "inlineCode", value: node.value }, parent, state, info);
        const isPlain = /^[^\s$](?:[^$]*[^\s$])?$/.test(node.value) && !word.test(firstCharacter(info.after));
        return (isPlain ? oneDollar : twoDollars)?.inlineMath?.(node, parent, state, info) ?? node.value;
      },
      root(node: Root, _, state, info) {
        findEscapes(node, escapes);
        return state.containerFlow(node, info);
      },
      text(node: Text, _, state, info) {
        const offsets = escapes.get(node) ?? [];
        const parts = [0, ...offsets].map((start, at) => node.value.slice(at === 0 ? 0 : start + 1, offsets[at] ?? node.value.length));
        return parts
          .map((part, at) =>
            state.safe(part, { ...info, before: at === 0 ? info.before : "$", after: at === parts.length - 1 ? info.after : "\\" }),
          )
          .join("\\$");
      },
    },
  });
}

/** Finds the offsets of the `$` that would begin a formula, in each text of the tree. */
function findEscapes(tree: Root, escapes: WeakMap<Text, readonly number[]>): void {
  const visit = (node: Nodes): void => {
    if (phrasing.has(node.type)) findInBlock(node, escapes);
    else if ("children" in node) for (const child of node.children) visit(child);
  };
  visit(tree);
}

function findInBlock(block: Nodes, escapes: WeakMap<Text, readonly number[]>): void {
  const texts: { readonly node: Text; readonly start: number }[] = [];
  let whole = "";
  const visit = (node: Nodes): void => {
    if (node.type === "text") {
      texts.push({ node, start: whole.length });
      whole += node.value;
      return;
    }
    const border = node.type === "inlineMath" ? "$" : sign;
    whole += node.type === "break" ? "\n" : border;
    if ("children" in node) for (const child of node.children) visit(child);
    if ("value" in node) whole += node.value;
    if ("url" in node) whole += node.url;
    whole += border;
  };
  for (const child of "children" in block ? block.children : []) visit(child);
  const lastClosing = Math.max(-1, ...[...whole.matchAll(closing)].slice(-1).map(({ index }) => index + 1));
  for (const { node, start } of texts) {
    const offsets = [...node.value.matchAll(/\$/g)]
      .map(({ index }) => index)
      .filter((offset) => mayBegin(whole, start + offset, lastClosing));
    if (offsets.length > 0) escapes.set(node, offsets);
  }
}

/** A `$` that could close a formula, with the character before it. */
const closing = /\S\$(?![\p{Script=Latin}\p{N}])/gu;

/** The rule of the parser, but with any later `$` that could close a formula: the next `$` may be escaped itself. */
function mayBegin(text: string, at: number, lastClosing: number): boolean {
  const next = text[at + 1] ?? " ";
  if (next === "$" || text[at - 1] === "$") return true;
  return lastClosing > at && !/\s/.test(next) && !word.test(lastCharacter(text.slice(Math.max(0, at - 2), at)));
}

function firstCharacter(text: string): string {
  return [...text].at(0) ?? "";
}

function lastCharacter(text: string): string {
  return [...text].at(-1) ?? "";
}
