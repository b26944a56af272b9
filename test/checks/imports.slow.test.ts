/** Plants one violation of each import rule in a folder with the layout of the repository, and expects the check to report it. */
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

/** Maps each rule to the file that breaks it and to what that file imports. */
const planted: Readonly<Record<string, readonly [file: string, imported: string]>> = {
  "no cycles": ["server/b.ts", "./c.ts"],
  "everything resolves": ["server/d.ts", "./nowhere.ts"],
  "no product code imports test or bench": ["server/e.ts", "../test/support/thing.ts"],
  "api imports no other layer": ["api/a.ts", "../machines/thing.ts"],
  "machines import api/schema": ["machines/a.ts", "../api/limits.ts"],
  "realtime imports api/schema and machines": ["realtime/a.ts", "../server/platform/thing.ts"],
  "client imports no layer but api": ["client/a.ts", "../machines/thing.ts"],
  "client imports only types of api": ["client/b.ts", "../api/limits.ts"],
  "web imports client, machines and api": ["web/src/a.ts", "../../realtime/thing.ts"],
  "web imports only types of api": ["web/src/b.tsx", "../../api/limits.ts"],
  "no layer imports web": ["server/h.ts", "../web/src/c.tsx"],
  "no layer imports client": ["server/g.ts", "../client/c.ts"],
  "platform imports no domain and no edge": ["server/platform/actors/a.ts", "../../domain/articles/inside.ts"],
  "domain imports no edge": ["server/domain/runs/a.ts", "../../edge/host/port.ts"],
  "edge imports no process": ["server/edge/streams/a.ts", "../../f.ts"],
  "domains import entry points": ["server/domain/topics/a.ts", "../articles/inside.ts"],
  "handlers never import storage": ["server/edge/handlers/a.ts", "../../platform/storage/port.ts"],
  "storage adapters are named in server/store.ts": ["server/compose.ts", "./platform/storage/lmdb/lmdbStorage.ts"],
  "host adapters are named in server/edge/host": ["server/start.ts", "./edge/host/uws.ts"],
  "outbound network only in server/platform/outbound": ["server/domain/webhooks/a.ts", "node:https"],
};

test("[OP1] the import check catches a planted violation of every rule", async () => {
  const { ruleSet } = await extractDepcruiseOptions(join(project, ".dependency-cruiser.mjs"));
  const ruleNames = (ruleSet?.forbidden ?? []).map((rule) => rule.name ?? "");
  const files: Record<string, string> = {
    "server/c.ts": importing("./b.ts"),
    "server/f.ts": something,
    "test/support/thing.ts": something,
    "machines/thing.ts": something,
    "api/limits.ts": something,
    "client/c.ts": something,
    "realtime/thing.ts": something,
    "web/src/c.tsx": something,
    "server/platform/thing.ts": something,
    "server/platform/storage/port.ts": something,
    "server/platform/storage/lmdb/lmdbStorage.ts": something,
    "server/domain/articles/inside.ts": something,
    "server/edge/host/port.ts": something,
    "server/edge/host/uws.ts": something,
  };
  for (const [file, imported] of Object.values(planted)) files[file] = importing(imported);
  const { status, output } = checkImports(files);

  expect(status).toBe(1);
  for (const [rule, [file]] of Object.entries(planted)) expect(output).toContain(`${rule}: ${file} → `);
  expect(Object.keys(planted).sort()).toEqual(ruleNames.sort());
});

test("[OP1] the import check catches folders that import each other, even by types alone", () => {
  const { status, output } = checkImports({
    "server/domain/articles/port.ts": `export type { Some } from "../topics/records.ts";\n`,
    "server/domain/topics/records.ts": "export type Some = string;\n",
    "server/domain/topics/service.ts": importing("../articles/records.ts"),
    "server/domain/articles/records.ts": something,
  });
  expect(status).toBe(1);
  expect(output).toContain("folders import each other: server/domain/articles, server/domain/topics");
});

test("[OP1] the import check catches modules that import each other by types alone", () => {
  const { status, output } = checkImports({
    "server/edge/streams/a.ts": `import type { Two } from "./b.ts";\nexport type One = Two;\n`,
    "server/edge/streams/b.ts": `import type { One } from "./a.ts";\nexport type Two = One | string;\n`,
  });
  expect(status).toBe(1);
  expect(output).toContain("no cycles: server/edge/streams/a.ts → server/edge/streams/b.ts");
});

test("[OP1] the import check fails when it has read too few modules", () => {
  const { status, output } = checkImports({ "api/limits.ts": something });
  expect(status).toBe(1);
  expect(output).toContain("only 1 modules were read");
});
