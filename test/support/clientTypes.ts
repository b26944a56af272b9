/**
 * ClientTypes prints the types of `client/contract.ts` as a declaration file that imports nothing.
 *
 * The compiler works out the input and the output of each operation, and this module prints them as plain object types.
 * Therefore a client needs neither zod, nor these sources, nor their compiler options. A bundler of declarations would
 * keep every schema as a zod type, and each client would infer the whole contract again.
 */
import { join } from "node:path";
import ts from "typescript";

const root = join(import.meta.dirname, "../..");
const contractFile = join(root, "client/contract.ts");

const head = `/** The operations of the server, and the body of its refusals. Written by \`npm run build:client\`. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
`;

const { Unknown, String: Text, Number: Numeric, Boolean: Truth, Void, Undefined, Null, Never, Literal } = ts.TypeFlags;
const plainFlags = Unknown | Text | Numeric | Truth | Void | Undefined | Null | Never | Literal;
const isPlain = (type: ts.Type): boolean => !type.isUnion() && (type.flags & plainFlags) !== 0;

/** Prints types without names. Throws on a type that it does not know, so that no new kind of schema is printed wrongly. */
class TypePrinter {
  private readonly checker: ts.TypeChecker;
  /** The types that are being printed, outermost first. */
  private readonly open: ts.Type[] = [];

  constructor(checker: ts.TypeChecker) {
    this.checker = checker;
  }

  /** The members of an object type, in the order of their declaration. */
  members(type: ts.Type): readonly { readonly name: string; readonly type: ts.Type; readonly isOptional: boolean }[] {
    return this.checker.getPropertiesOfType(type).map((symbol) => ({
      name: symbol.name,
      type: this.checker.getTypeOfSymbol(symbol),
      isOptional: (symbol.flags & ts.SymbolFlags.Optional) !== 0,
    }));
  }

  print(type: ts.Type): string {
    // zod's name for any JSON value: the only recursive type of the contract.
    if (type.aliasSymbol?.name === "JSONType") return "JsonValue";
    if (this.open.includes(type)) throw new Error(`the type ${this.checker.typeToString(type)} contains itself`);
    this.open.push(type);
    const text = this.printParts(type);
    this.open.pop();
    return text;
  }

  private printParts(type: ts.Type): string {
    const { checker } = this;
    if (isPlain(type)) return checker.typeToString(type);
    if ((type.flags & ts.TypeFlags.Any) !== 0) throw new Error("a part of the contract has the type any");
    if (type.isUnion()) return this.printUnion(type);
    // A branded string or number: the brand is for the server only.
    const plain = type.isIntersection() ? type.types.find(isPlain) : undefined;
    if (plain !== undefined) return checker.typeToString(plain);
    if (checker.isTupleType(type)) throw new Error(`${checker.typeToString(type)} is a tuple`);
    if (checker.isArrayType(type)) return `Array<${this.printArgument(type)}>`;
    if (type.symbol?.name === "AsyncIterable") return `AsyncIterable<${this.printArgument(type)}, void, unknown>`;
    if (checker.getSignaturesOfType(type, ts.SignatureKind.Call).length > 0) throw new Error(`${checker.typeToString(type)} is a function`);
    const indexes = checker
      .getIndexInfosOfType(type)
      .map((info) => `[key: ${checker.typeToString(info.keyType)}]: ${this.print(info.type)}`);
    const members = this.members(type).map((member) => {
      const name = /^[A-Za-z_]\w*$/.test(member.name) ? member.name : JSON.stringify(member.name);
      return `${name}${member.isOptional ? "?" : ""}: ${this.print(member.type)}`;
    });
    return `{ ${[...indexes, ...members].join("; ")} }`;
  }

  /** With `undefined` at the end, and `boolean` instead of its two values. */
  private printUnion(type: ts.UnionType): string {
    const parts = new Set(type.types.map((part) => this.print(part)));
    if (parts.has("true") && parts.has("false")) {
      parts.delete("true");
      parts.delete("false");
      parts.add("boolean");
    }
    if (parts.delete("undefined")) parts.add("undefined");
    return [...parts].join(" | ");
  }

  private printArgument(type: ts.Type): string {
    const [argument] = this.checker.getTypeArguments(type as ts.TypeReference);
    if (argument === undefined) throw new Error(`${this.checker.typeToString(type)} has no type argument`);
    return this.print(argument);
  }
}

/** The options of this repository, for a program of the given files. */
export function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
  return ts.parseJsonConfigFileContent({ ...config, include: [], files: [contractFile] }, ts.sys, root).options;
}

/** The text of the declaration file. `program` must contain `client/contract.ts`. */
export function toClientTypes(program: ts.Program = ts.createProgram([contractFile], compilerOptions())): string {
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(program.getSourceFile(contractFile) as ts.SourceFile) as ts.Symbol;
  const exported = new Map(checker.getExportsOfModule(module).map((symbol) => [symbol.name, symbol]));
  const typeOf = (name: string) => checker.getDeclaredTypeOfSymbol(exported.get(name) as ts.Symbol);
  const printer = new TypePrinter(checker);
  const resources = printer
    .members(typeOf("Contract"))
    .flatMap(({ name, type }) => [
      `  ${name}: {`,
      ...printer.members(type).map((operation) => `    ${operation.name}: ${printer.print(operation.type)};`),
      "  };",
    ]);
  return [
    head,
    `export type ErrorShape = ${printer.print(typeOf("ErrorShape"))};`,
    'export type Problem = ErrorShape["data"]["problem"];\n',
    "export interface Contract {",
    ...resources,
    "}",
    "",
  ].join("\n");
}
