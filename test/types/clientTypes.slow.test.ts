/** Compares the types of the client package with the contract from which they are printed. */
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { compilerOptions, toClientTypes } from "../support/clientTypes.ts";

/** Files that exist only for the compiler. */
const printed = join(import.meta.dirname, "client.d.ts");
const program = join(import.meta.dirname, "comparison.ts");

/** Assigns the inputs and outputs of each router to those of the other one. */
const comparison = `
import type { inferRouterInputs, inferRouterOutputs } from "@trpc/server";
import type { AppRouter } from "../../api/derive/trpc.ts";
import type { AppRouter as Typed } from "../../client/router.ts";
import type { Contract } from "../../client/contract.ts";
import type { Contract as Printed, Problem as PrintedProblem } from "./client.d.ts";
import type { Problem } from "../../client/contract.ts";

type Same<One, Other> = { [Resource in keyof (One & Other)]: { [Name in keyof ((One & Other)[Resource])]: readonly [
  Resource extends keyof One ? Name extends keyof One[Resource] ? One[Resource][Name] : never : never,
  Resource extends keyof Other ? Name extends keyof Other[Resource] ? Other[Resource][Name] : never : never,
] } };
type IsSame<Pair> = Pair extends readonly [infer One, infer Other] ? [One] extends [Other] ? [Other] extends [One] ? true : false : false : false;
type Check<One, Other, S = Same<One, Other>> = { [R in keyof S]: { [N in keyof S[R]]: IsSame<S[R][N]> } };
type AllTrue<T> = { [R in keyof T]: { [N in keyof T[R]]: true } };

declare const printed: Check<Contract, Printed>;
declare const inputs: Check<inferRouterInputs<AppRouter>, inferRouterInputs<Typed>>;
declare const outputs: Check<inferRouterOutputs<AppRouter>, inferRouterOutputs<Typed>>;
export const samePrinted: AllTrue<typeof printed> = printed;
export const sameInputs: AllTrue<typeof inputs> = inputs;
export const sameOutputs: AllTrue<typeof outputs> = outputs;
export const sameProblem: IsSame<readonly [Problem, PrintedProblem]> = true;
export const difference: IsSame<readonly [{ title: string }, { title?: string }]> = false;
`;

/** Returns the compiler's messages about the comparison, with `text` as the printed file. */
function compare(text: string): readonly string[] {
  const files = new Map([
    [printed, text],
    [program, comparison],
  ]);
  const options = { ...compilerOptions(), noEmit: true };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (file) => files.has(file) || fileExists(file);
  host.readFile = (file) => files.get(file) ?? readFile(file);
  host.getSourceFile = (file, language, ...rest) => {
    const own = files.get(file);
    return own === undefined ? getSourceFile(file, language, ...rest) : ts.createSourceFile(file, own, language);
  };
  const compiled = ts.createProgram([program], options, host);
  const found = [printed, program].flatMap((file) => ts.getPreEmitDiagnostics(compiled, compiled.getSourceFile(file)));
  return found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}

test("[OP41] the declaration file for clients has the inputs and outputs of the contract, and imports nothing", () => {
  const text = toClientTypes();
  expect(ts.preProcessFile(text).importedFiles).toEqual([]);
  expect(compare(text)).toEqual([]);
}, 180_000);
