/** The files, settings and commands that the documents name exist. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { settings } from "../../server/platform/settings/settings.ts";
import { renderDiagram } from "../support/machineDiagram.ts";
import { findUnreachablePages, readLinks } from "./docLinks.ts";

const root = join(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");
const pages = ["README.md", ...readdirSync(join(root, "docs")).flatMap((file) => (file.endsWith(".md") ? [`docs/${file}`] : []))];

test.each(pages)("[OP19] every file that %s names exists", (page) => {
  const named = [...read(page).matchAll(/`((?:api|client|machines|realtime|server|web|test|bench|docs)\/[\w./-]*\w)`/g)].map(
    (match) => match[1] ?? "",
  );
  const linked = readLinks(read(page)).map((target) => join(page, "..", target));
  expect([...named, ...linked].filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test.each(pages)("[OP19] every script that %s mentions exists", (page) => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  const told = [...read(page).matchAll(/npm run ([\w:]+)/g)].map((match) => match[1] ?? "");
  expect(told.filter((name) => !(name in scripts))).toEqual([]);
});

test("[OP19] the README lists every setting with its default", () => {
  const table = read("README.md").split("<!-- settings -->")[1] ?? "";
  const rows = new Map([...table.matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm)].map((match) => [match[1] ?? "", match[2] ?? ""]));
  expect([...rows.keys()].toSorted()).toEqual(Object.keys(settings).toSorted());
  for (const [name, { schema, fallback }] of Object.entries(settings)) {
    const text = /^`([^`<]+)`/.exec(rows.get(name) ?? "")?.[1];
    if (text !== undefined) expect(schema.parse(text), name).toEqual(fallback);
    else expect(fallback === undefined || (Array.isArray(fallback) && fallback.length === 0), `${name} has a default to tell`).toBe(true);
  }
});

test.each([
  ["article.updated", "ArticleUpdatedData", "server/domain/articles/port.ts"],
  ["review.mentioned", "ReviewMentionedData", "server/domain/webhooks/reviewEvents.ts"],
  ["review.replied", "ReviewRepliedData", "server/domain/webhooks/reviewEvents.ts"],
])("[OP19] the page for receivers lists every field of %s", (event, name, source) => {
  const type = new RegExp(`interface ${name} \\{([\\s\\S]*?)\\n\\}`).exec(read(source))?.[1] ?? "";
  const fields = [...type.matchAll(/^ {2}readonly (\w+)/gm)].map((match) => match[1]);
  const table = read("docs/webhooks.md").split(`### ${event}\n`)[1]?.split("\n### ")[0] ?? "";
  const told = [...table.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap((row) =>
    [...(row[1] ?? "").matchAll(/`(\w+)`/g)].map((match) => match[1]),
  );
  expect(fields.length).toBeGreaterThan(6);
  expect(told.toSorted()).toEqual(fields.toSorted());
});

test("[OP44] every page of docs is linked from the README, or from a page that is", () => {
  expect(findUnreachablePages(root)).toEqual([]);
});

test("[OP44] the link check notices a page that is linked only from unreachable pages", () => {
  const planted = mkdtempSync(join(tmpdir(), "svc-docs-"));
  try {
    mkdirSync(join(planted, "docs/more"), { recursive: true });
    writeFileSync(join(planted, "README.md"), "[one](docs/one.md#part) [elsewhere](https://example.com/docs/three.md)");
    writeFileSync(join(planted, "docs/one.md"), "[two](more/two.md)");
    writeFileSync(join(planted, "docs/more/two.md"), "[back](../../README.md)");
    expect(findUnreachablePages(planted)).toEqual([]);
    writeFileSync(join(planted, "docs/three.md"), "[four](more/four.md)");
    writeFileSync(join(planted, "docs/more/four.md"), "[three](../three.md)");
    expect(findUnreachablePages(planted)).toEqual(["docs/more/four.md", "docs/three.md"]);
  } finally {
    rmSync(planted, { recursive: true });
  }
});

test("[OP19] the index of the rules links to every page of rules", () => {
  const pagesOfRules = readdirSync(join(root, "docs/rules"));
  expect(pagesOfRules.filter((file) => !read("docs/rules.md").includes(`(rules/${file})`))).toEqual([]);
});

test("[OP19] docs/architecture.svg agrees with its source; `npm run docs:architecture` redraws it", () => {
  expect(renderDiagram(read("docs/architecture.mmd"))).toBe(read("docs/architecture.svg"));
});
