/**
 * Parses a block of code and reports where it does not parse. It runs in a worker thread.
 *
 * JSON, YAML, TOML and SQL have dedicated parsers with exact messages. All other languages use tree-sitter grammars.
 * Those recover from errors, so they only report where an error began. A grammar is loaded when its language is first
 * used. No code is executed.
 */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { loadModule, parse as parseSql } from "@libpg-query/parser";
import { type ParseError, parse as parseJson, printParseErrorCode } from "jsonc-parser";
import { parse as parseToml, TomlError } from "smol-toml";
import { Language, type Node, Parser } from "web-tree-sitter";
import { parseAllDocuments } from "yaml";

export interface CodeDiagnostic {
  readonly message: string;
  /** Line within the block, from 1. */
  readonly line?: number;
  readonly column?: number;
}

export interface CodeToParse {
  /** A value of `parserOfLanguage`. */
  readonly parser: string;
  readonly code: string;
}

/** Errors of the block; `undefined` if the parser exceeded its time limit. */
export type CodeDiagnostics = readonly CodeDiagnostic[] | undefined;

const grammarBudgetMs = 2000;
const maxDiagnostics = 5;
const grammars = join(dirname(createRequire(import.meta.url).resolve("@vscode/tree-sitter-wasm/package.json")), "wasm");

function toPlace(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, Math.max(0, offset)).split("\n");
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

function readJson(code: string, comments: boolean): CodeDiagnostics {
  const errors: ParseError[] = [];
  parseJson(code, errors, { disallowComments: !comments, allowTrailingComma: comments });
  return errors.map(({ error, offset }) => ({
    message: printParseErrorCode(error).replace(/(?<=[a-z])(?=[A-Z])/g, " "),
    ...toPlace(code, offset),
  }));
}

function readYaml(code: string): CodeDiagnostics {
  return [parseAllDocuments(code, { logLevel: "silent" })].flat().flatMap((document) =>
    ("errors" in document ? document.errors : []).map(({ message, linePos }) => ({
      message: (message.split("\n")[0] ?? "").replace(/ at line \d+, column \d+:?$/, ""),
      ...(linePos === undefined ? {} : { line: linePos[0].line, column: linePos[0].col }),
    })),
  );
}

function readToml(code: string): CodeDiagnostics {
  try {
    parseToml(code);
    return [];
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const message = (error.message.split("\n")[0] ?? "").replace(/^Invalid TOML document: /, "");
    return [{ message, line: error.line, column: error.column }];
  }
}

async function readSql(code: string): Promise<CodeDiagnostics> {
  await loadModule();
  try {
    await parseSql(code);
    return [];
  } catch (error) {
    const { message, sqlDetails } = error as Error & { sqlDetails?: { readonly cursorPosition: number } };
    // The reported position is in bytes, not characters.
    const before = sqlDetails === undefined ? undefined : Buffer.from(code).subarray(0, sqlDetails.cursorPosition).toString();
    return [{ message, ...(before === undefined ? {} : toPlace(code, before.length)) }];
  }
}

let initialised: Promise<void> | undefined;
const parsers = new Map<string, Parser>();

async function toParser(name: string): Promise<Parser> {
  initialised ??= Parser.init();
  await initialised;
  const known = parsers.get(name);
  if (known !== undefined) return known;
  const parser = new Parser();
  parser.setLanguage(await Language.load(join(grammars, `tree-sitter-${name}.wasm`)));
  parsers.set(name, parser);
  return parser;
}

/** Diagnostics for the innermost nodes that did not parse, in document order. */
function toDiagnostics(root: Node, linesBefore: number): readonly CodeDiagnostic[] {
  const found: CodeDiagnostic[] = [];
  const waiting: Node[] = root.hasError ? [root] : [];
  for (let node = waiting.pop(); node !== undefined && found.length < maxDiagnostics; node = waiting.pop()) {
    const children = node.children.filter((child) => child?.hasError === true) as Node[];
    if (children.length === 0 && (node.isError || node.isMissing)) {
      const { row, column } = node.startPosition;
      const message = node.isMissing ? `missing ${node.type}` : `does not parse near ${JSON.stringify(node.text.slice(0, 40))}`;
      found.push({ message, line: Math.max(1, row + 1 - linesBefore), column: column + 1 });
    }
    waiting.push(...children.toReversed());
  }
  return found.length === 0 && root.hasError ? [{ message: "does not parse" }] : found;
}

async function readTree(name: string, code: string): Promise<CodeDiagnostics> {
  const parser = await toParser(name);
  const lead = name === "php" && !code.includes("<?") ? "<?php\n" : "";
  const endMs = performance.now() + grammarBudgetMs;
  const tree = parser.parse(lead + code, null, { progressCallback: () => performance.now() > endMs });
  if (tree === null) {
    parser.reset();
    return undefined;
  }
  try {
    return toDiagnostics(tree.rootNode, lead === "" ? 0 : 1);
  } finally {
    // Trees are outside the garbage-collected heap, so they must be freed explicitly.
    tree.delete();
  }
}

export async function parseCode({ parser, code }: CodeToParse): Promise<CodeDiagnostics> {
  const read = (): CodeDiagnostics | Promise<CodeDiagnostics> => {
    if (parser === "json" || parser === "jsonc") return readJson(code, parser === "jsonc");
    if (parser === "yaml") return readYaml(code);
    if (parser === "toml") return readToml(code);
    if (parser === "sql") return readSql(code);
    return readTree(parser, code);
  };
  return (await read())?.slice(0, maxDiagnostics);
}
