/**
 * `npm run check:rules` compares docs/rules with the tests: every rule has a test with its id in the title, every id in a
 * title is a rule, and no test is skipped.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

const root = process.cwd();
const testFolders = ["api", "client", "machines", "realtime", "server", "web", "test", "bench"];

const ruleLine = /^- \*\*([A-Z]{2,3}\d+)\*\* \S/;
const looksLikeRule = /^\s*[-*] \*\*[A-Z]{2,3}\d+/;
/** Matches a title that starts with one or more ids: "[ST4] …", "[ST4][ST5] …". */
const titleIds = /["'`]((?:\[[A-Z]{2,3}\d+\] ?)+)/g;
const skipped = /\b(?:test|it|describe|suite|bench)(?:\.\w+)*\.(?:only|skip|todo|skipIf|runIf|fails)\b|\bcontext\.skip\(/;

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
      if (earlier !== undefined) problems.add(`${at} repeats the rule ${id} of ${earlier}`);
      rules.set(id, at);
    } else if (looksLikeRule.test(line)) problems.add(`${at} looks like a rule but does not have the form "- **XX1** sentence"`);
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
      if (!rules.has(id)) problems.add(`${file} tests ${id}, which is not a rule of docs/rules`);
    }
  }
  for (const [index, line] of text.split("\n").entries()) {
    if (skipped.test(line)) problems.add(`${file}:${index + 1} skips a test: ${line.trim()}`);
  }
}
for (const [id, at] of rules) if (!tested.has(id)) problems.add(`${at}: no test has [${id}] in its title`);
if (rules.size === 0) problems.add("docs/rules has no rules");

for (const problem of problems) console.error(`  ${problem}`);
if (problems.size > 0) process.exitCode = 1;
else console.log(`${rules.size} rules, each with its test`);
