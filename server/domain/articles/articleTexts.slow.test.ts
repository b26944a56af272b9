import { afterAll, expect, test } from "vitest";
import { defaultLimits } from "../../../api/limits.ts";
import { createTangledPatch } from "../../../test/support/tangledPatch.ts";
import { createArticleTexts } from "./articleTexts.ts";

const texts = createArticleTexts({ "edit.workMs": 1500 });
afterAll(() => texts.close());

test("[AR23] edits over edit.workMs are refused with edit_too_complex, and the next edits succeed", async () => {
  const { text, edits } = createTangledPatch(defaultLimits["article.file"]);
  const bounds = { base: text, live: text, maxFileBytes: defaultLimits["article.file"] };
  const tangled = texts.planEdit("ws_a", { request: { mode: "patch", edits }, ...bounds });
  await expect(tangled).rejects.toMatchObject({ code: "edit_too_complex", message: expect.stringContaining("1.5 s") });
  const plain = { mode: "patch", edits: [{ find: "a", replace: "b", occurrence: "first" }] } as const;
  expect(await texts.planEdit("ws_a", { request: { ...plain, edits: [...plain.edits] }, ...bounds })).toMatchObject({ applied: 1 });
});

test("[AR7] a syntax tree has GitHub's Markdown constructs and the front matter, without positions", async () => {
  const tree = JSON.parse(await texts.toSyntaxTree("ws_a", "---\na: 1\n---\n\n| x |\n| - |\n| ~~y~~ |\n"));
  expect(tree).toEqual({
    type: "root",
    children: [
      { type: "yaml", value: "a: 1" },
      {
        type: "table",
        align: [null],
        children: [
          { type: "tableRow", children: [{ type: "tableCell", children: [{ type: "text", value: "x" }] }] },
          { type: "tableRow", children: [{ type: "tableCell", children: [{ type: "delete", children: [{ type: "text", value: "y" }] }] }] },
        ],
      },
    ],
  });
});

test("[AR7] a text that is too long or too deep for a tree is refused, and the next one succeeds", async () => {
  await expect(texts.toSyntaxTree("ws_a", "x".repeat(512 * 1024 + 1))).rejects.toMatchObject({ code: "content_too_large" });
  await expect(texts.toSyntaxTree("ws_a", ">".repeat(20_000))).rejects.toMatchObject({ code: "content_too_large" });
  expect(JSON.parse(await texts.toSyntaxTree("ws_a", "after"))).toMatchObject({ type: "root" });
});

test("[AR7] texts beyond the queue limit are refused at once, and the queued ones succeed", async () => {
  const asked = await Promise.allSettled(Array.from({ length: 60 }, (_, at) => texts.toSyntaxTree("ws_a", `text ${at}`)));
  const served = asked.flatMap((outcome) =>
    outcome.status === "fulfilled" ? [JSON.parse(outcome.value).children[0].children[0].value] : [],
  );
  // One text is being processed and fifty wait.
  expect(served).toEqual(Array.from({ length: 51 }, (_, at) => `text ${at}`));
  const refused = asked.filter((outcome) => outcome.status === "rejected" && outcome.reason.code === "rate_limited");
  expect(refused).toHaveLength(9);
});
