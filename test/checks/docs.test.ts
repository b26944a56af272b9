/** The files, settings and commands that the documents name exist. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { settings } from "../../server/platform/settings/settings.ts";

const root = join(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");
const pages = ["README.md", ...readdirSync(join(root, "docs")).flatMap((file) => (file.endsWith(".md") ? [`docs/${file}`] : []))];

test.each(pages)("[OP19] every file that %s names exists", (page) => {
  const named = [...read(page).matchAll(/`((?:api|machines|realtime|server|test|bench|docs)\/[\w./-]*\w)`/g)].map(
    (match) => match[1] ?? "",
  );
  const linked = [...read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)].map((match) => join(page, "..", match[1] ?? ""));
  expect([...named, ...linked].filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test.each(pages)("[OP19] every script that %s tells to run is there", (page) => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  const told = [...read(page).matchAll(/npm run ([\w:]+)/g)].map((match) => match[1] ?? "");
  expect(told.filter((name) => !(name in scripts))).toEqual([]);
});

test("[OP19] the README tells every setting with its default", () => {
  const table = read("README.md").split("<!-- settings -->")[1] ?? "";
  const rows = new Map([...table.matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm)].map((match) => [match[1] ?? "", match[2] ?? ""]));
  expect([...rows.keys()].toSorted()).toEqual(Object.keys(settings).toSorted());
  for (const [name, { schema, fallback }] of Object.entries(settings)) {
    const text = /^`([^`<]+)`/.exec(rows.get(name) ?? "")?.[1];
    if (text !== undefined) expect(schema.parse(text), name).toEqual(fallback);
    else expect(fallback === undefined || (Array.isArray(fallback) && fallback.length === 0), `${name} has a default to tell`).toBe(true);
  }
});

test("[OP19] the receivers' page tells every field of article.updated", () => {
  const type = /interface ArticleUpdatedData \{([\s\S]*?)\n\}/.exec(read("server/domain/articles/port.ts"))?.[1] ?? "";
  const fields = [...type.matchAll(/^ {2}readonly (\w+)/gm)].map((match) => match[1]);
  const table = read("docs/webhooks.md").split("## article.updated")[1] ?? "";
  const told = [...table.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap((row) =>
    [...(row[1] ?? "").matchAll(/`(\w+)`/g)].map((match) => match[1]),
  );
  expect(fields.length).toBeGreaterThan(8);
  expect(told.toSorted()).toEqual(fields.toSorted());
});

test("[OP44] every page of docs is linked from the README, or from a page that is", () => {
  const reached = new Set(["README.md"]);
  for (const page of reached) {
    for (const [, target = ""] of read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)) {
      const linked = join(page, "..", target);
      if (linked.endsWith(".md")) reached.add(linked);
    }
  }
  const all = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".md"));
  expect(all.map((file) => `docs/${file}`).filter((page) => !reached.has(page))).toEqual([]);
});

test("[OP19] the rulebook's index leads to every page of rules", () => {
  const pagesOfRules = readdirSync(join(root, "docs/rules"));
  expect(pagesOfRules.filter((file) => !read("docs/rules.md").includes(`(rules/${file})`))).toEqual([]);
});
