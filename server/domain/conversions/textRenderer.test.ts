import { createHash } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { createTextRenderer, type RenderedFormat } from "./textRenderer.ts";

const limits = { "conversion.nodes": 1000, "conversion.depth": 20 };
const renderer = createTextRenderer({ limits });
afterAll(() => renderer.close());

async function render(text: string, format: RenderedFormat): Promise<string> {
  const contentHash = createHash("sha256").update(text).digest("hex");
  return Buffer.from(await renderer.render("ws", { text, contentHash }, format)).toString();
}

const hostile = `---
title: Kept out
---
# Kites & *wings*

<script>alert(1)</script><img src="x" onerror="alert(2)"><a href="javascript:alert(3)" style="color:red">tap</a>

[run](javascript:alert(4)) <iframe src="https://frames.example"></iframe>

- [x] fly
`;

test("[AR34] HTML is a whole document with the first heading as its title and without anything that runs", async () => {
  const html = await render(hostile, "html");
  expect(html).toMatch(/^<!doctype html>\s*<html>/i);
  expect(html).toContain("<title>Kites &#x26; wings</title>");
  expect(html).toContain("<h1>Kites &#x26; <em>wings</em></h1>");
  expect(html).not.toMatch(/<script|onerror|javascript:|<iframe|style=|alert|Kept out/);
});

test("[AR34] plain text has the words without markup and without HTML", async () => {
  const text = await render(hostile, "text");
  expect(text).toMatch(/^Kites & wings\n/);
  expect(text).toMatch(/- \[x\] fly\n$/);
  expect(text).not.toMatch(/<|onerror|Kept out/);
  expect(await render("", "text")).toBe("");
});

test("[AR36] a text that is too long, nested too deeply or has too many elements is refused as too large", async () => {
  const tooMuch = ["long ".repeat(110_000), `${"> ".repeat(30)}deep`, "- item\n".repeat(600)];
  for (const text of tooMuch) {
    await expect(render(text, "html")).rejects.toMatchObject({
      code: "content_too_large",
      message: expect.stringContaining("as Markdown"),
    });
  }
});
