/** Tests that docs/documentStream.md describes every event of an article's stream with its fields. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { articleEventData, articleSignalData } from "../../api/schema/articleEvent.ts";

const page = readFileSync("docs/documentStream.md", "utf8");
const rows = page.split("\n").filter((line) => line.startsWith("| `"));
const described = { ...articleEventData, ...articleSignalData };
const names = Object.keys(described) as (keyof typeof described)[];

test("[OP19] docs/documentStream.md has each event once, and no other", () => {
  const shown = rows.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`((?:document|presence|public_link|review)\.\w+)`/g)]);
  expect(shown.map(([, name]) => name).toSorted()).toEqual(names.toSorted());
});

test.each(names)("[OP19] the row of %s in docs/documentStream.md names its fields", (name) => {
  const row = rows.find((line) => line.split("|")[1]?.includes(`\`${name}\``)) ?? "";
  const whole = row.includes("the same") ? rows.find((line) => line.includes("`document.committed`")) : row;
  for (const field of Object.keys(described[name].shape)) expect(whole).toMatch(new RegExp(`\`${field}\\??\``));
});
