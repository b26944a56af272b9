/** Plants one violation of every import rule in a copy of the house's shape and demands that the check names it. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import extractDepcruiseOptions from "dependency-cruiser/config-utl/extract-depcruise-options";
import { afterEach, expect, test } from "vitest";

const project = resolve(import.meta.dirname, "../..");
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function checkImports(files: Readonly<Record<string, string>>): { status: number | null; output: string } {
  const root = mkdtempSync(join(tmpdir(), "svc-imports-"));
  folders.push(root);
  symlinkSync(join(project, "node_modules"), join(root, "node_modules"));
  for (const file of [".dependency-cruiser.mjs", "tsconfig.json", "package.json"]) cpSync(join(project, file), join(root, file));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const run = spawnSync(process.execPath, ["--import", "tsx", join(project, "test/checks/imports.ts")], { cwd: root, encoding: "utf8" });
  return { status: run.status, output: run.stdout + run.stderr };
}

const something = "export const something = 1;\n";
const importing = (path: string): string => `import * as it from "${path}";\nexport const use = it;\n`;

/** Rule → the file that breaks it and what it imports. */
const planted: Readonly<Record<string, readonly [file: string, imported: string]>> = {
  "no cycles": ["server/b.ts", "./c.ts"],
  "everything resolves": ["server/d.ts", "./nowhere.ts"],
  "nobody imports test or bench": ["server/e.ts", "../test/support/thing.ts"],
  "api imports nothing of ours": ["api/a.ts", "../machines/thing.ts"],
  "machines import api/schema": ["machines/a.ts", "../api/limits.ts"],
  "realtime imports api/schema and machines": ["realtime/a.ts", "../server/ids.ts"],
  "handlers never import storage": ["server/handlers/a.ts", "../storage/port.ts"],
  "storage adapters are named in compose": ["server/articles/a.ts", "../storage/lmdb.ts"],
  "host adapters are named in compose": ["server/pages/a.ts", "../host/uws.ts"],
  "outbound network only in server/outbound": ["server/webhooks/a.ts", "node:https"],
};

const partRule = (part: string): string => `server/${part} is reached through its door`;

test("[OP1] the import check catches a planted violation of every rule", async () => {
  const { ruleSet } = await extractDepcruiseOptions(join(project, ".dependency-cruiser.mjs"));
  const ruleNames = (ruleSet?.forbidden ?? []).map((rule) => rule.name ?? "");
  const parts = ruleNames.flatMap((name) => /^server\/(\w+) is reached/.exec(name)?.[1] ?? []);
  const plants: Record<string, readonly [string, string]> = { ...planted };
  for (const part of parts.filter((name) => name !== "calls")) plants[partRule(part)] = [`server/other/${part}.ts`, `../${part}/inside.ts`];

  const files: Record<string, string> = {
    "server/c.ts": importing("./b.ts"),
    "test/support/thing.ts": something,
    "machines/thing.ts": something,
    "api/limits.ts": something,
    "server/ids.ts": something,
    "server/storage/port.ts": something,
    "server/storage/lmdb.ts": something,
    "server/host/uws.ts": something,
  };
  for (const [file, imported] of Object.values(plants)) files[file] = importing(imported);
  for (const part of parts) files[`server/${part}/inside.ts`] = something;
  const { status, output } = checkImports(files);

  expect(status).toBe(1);
  for (const [rule, [file]] of Object.entries(plants)) expect(output).toContain(`${rule}: ${file} → `);
  expect(Object.keys(plants).sort()).toEqual(ruleNames.filter((name) => name !== partRule("calls")).sort());
});

test("[OP1] the import check fails when it saw hardly any modules", () => {
  const { status, output } = checkImports({ "api/limits.ts": something });
  expect(status).toBe(1);
  expect(output).toContain("only 1 modules were read");
});
