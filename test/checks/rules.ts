/**
 * `npm run check:rules`: compares the rules with the tests. Every rule of docs/rules has a test with its id, every id
 * in a title is a rule, and no test is skipped.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

const root = process.cwd();
const testFolders = ["api", "machines", "realtime", "server", "test", "bench"];

const ruleLine = /^- \*\*([A-Z]{2,3}\d+)\*\* \S/;
const looksLikeRule = /^\s*[-*] \*\*[A-Z]{2,3}\d+/;
/** Matches a title that starts with one or more ids: "[ST4] …", "[ST4][ST5] …". */
const titleIds = /["'`]((?:\[[A-Z]{2,3}\d+\] ?)+)/g;
const leftOut = /\b(?:test|it|describe|suite|bench)(?:\.\w+)*\.(?:only|skip|todo|skipIf|runIf|fails)\b|\bcontext\.skip\(/;

function filesBelow(folder: string, fits: (path: string) => boolean): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .filter(fits)
    .sort();
}

const problems = new Set<string>();
const rules = new Map<string, string>();
for (const file of filesBelow("docs/rules", (path) => path.endsWith(".md"))) {
  for (const [index, line] of readFileSync(join(root, file), "utf8").split("\n").entries()) {
    const at = `${file}:${index + 1}`;
    const id = ruleLine.exec(line)?.[1];
    if (id !== undefined) {
      const earlier = rules.get(id);
      if (earlier !== undefined) problems.add(`${at} states ${id} again (first: ${earlier})`);
      rules.set(id, at);
    } else if (looksLikeRule.test(line)) problems.add(`${at} looks like a rule but is not written "- **XX1** sentence"`);
  }
}

const tested = new Map<string, string>();
const tests = testFolders.flatMap((folder) =>
  filesBelow(
    folder,
    (path) => path.endsWith(".test.ts") || (path.startsWith("test/") && !path.startsWith("test/checks/") && path.endsWith(".ts")),
  ),
);
for (const file of tests) {
  const text = readFileSync(join(root, file), "utf8");
  for (const [, ids = ""] of text.matchAll(titleIds)) {
    for (const [id] of ids.matchAll(/[A-Z]{2,3}\d+/g)) {
      tested.set(id, file);
      if (!rules.has(id)) problems.add(`${file} tests ${id}, which docs/rules does not state`);
    }
  }
  for (const [index, line] of text.split("\n").entries()) {
    if (leftOut.test(line)) problems.add(`${file}:${index + 1} leaves a test out: ${line.trim()}`);
  }
}
for (const [id, at] of rules) if (!tested.has(id)) problems.add(`${at}: no test bears [${id}]`);
if (rules.size === 0) problems.add("docs/rules states no rule at all");

for (const problem of problems) console.error(`  ${problem}`);
if (problems.size > 0) process.exitCode = 1;
else console.log(`${rules.size} rules, each with its test`);
