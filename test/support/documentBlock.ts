/** Reads code from a document, for tests that run it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** Returns the fenced block that follows `<!-- mark -->` in a file of this repository. Throws if there is none. */
export function readDocumentBlock(file: string, mark: string): string {
  const after = readFileSync(join(root, file), "utf8").split(`<!-- ${mark} -->`)[1] ?? "";
  const code = /^\n```\w+\n([\s\S]*?)```/.exec(after)?.[1];
  if (code === undefined) throw new Error(`${file} has no block under <!-- ${mark} -->`);
  return code;
}
