/**
 * `npm run build:client` builds the package of `client/` into `client/dist`: one ES module and one declaration file for each
 * entry. Packages that users install stay imports, and the types of the contract become one file that imports nothing.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build } from "esbuild";
import ts from "typescript";
import { compilerOptions, toClientTypes } from "./clientTypes.ts";
import { root } from "./docExamples.ts";

const folder = join(root, "client");
const output = join(folder, "dist");

interface ClientPackage {
  readonly exports: Readonly<Record<string, { readonly default: string }>>;
}

const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as ClientPackage;
const sources = Object.values(exports).map((entry) => join(folder, entry.default.replace("./dist/", "").replace(/\.js$/, ".ts")));

/** Emits the declarations of the entries, and those that they import from this folder. */
function writeDeclarations(): void {
  const options = { ...compilerOptions(), noEmit: false, declaration: true, emitDeclarationOnly: true };
  const program = ts.createProgram(sources, { ...options, rootDir: root, outDir: output });
  const emitted = new Map([["contract", toClientTypes(program)]]);
  program.emit(undefined, (path, text) => {
    const [, name] = /\/client\/([^/]+)\.d\.ts$/.exec(path) ?? [];
    // The compiler keeps the extensions of the sources.
    if (name !== undefined && name !== "contract") emitted.set(name, text.replaceAll(/(from "\.\/\w+)\.ts"/g, '$1.js"'));
  });
  const needed = new Set(sources.map((source) => basename(source, ".ts")));
  // The set grows while it is read.
  for (const name of needed) {
    const text = emitted.get(name) ?? "";
    writeFileSync(join(output, `${name}.d.ts`), text);
    for (const [, imported = ""] of text.matchAll(/from "\.\/(\w+)\.js"/g)) needed.add(imported);
  }
}

rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
await build({
  absWorkingDir: root,
  entryPoints: sources,
  outdir: output,
  bundle: true,
  packages: "external",
  platform: "neutral",
  format: "esm",
  target: "es2022",
  logLevel: "warning",
});
writeDeclarations();
console.log(`built ${sources.length} entries into client/dist`);
