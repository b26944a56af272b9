/** Tests the editor of the web app in Chromium: two editors of one document, their preview, pasting, presence and access. */
import { createRequire } from "node:module";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openContext, startBrowser } from "../support/browser.ts";
import { bundleEditor, type EditorBundle, editorOrigin, openEditorPage } from "../support/editorPage.ts";

const axePath = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

let browser: Browser;
let bundle: EditorBundle;
let context: BrowserContext;
/** Exceptions, also those that the editor catches and logs. */
let faults: string[];

beforeAll(async () => {
  [browser, bundle] = await Promise.all([startBrowser(), bundleEditor()]);
});
beforeEach(async () => {
  context = await openContext(browser, { viewport: { width: 1400, height: 800 } });
  faults = [];
  context.on("weberror", (fault) => faults.push(String(fault.error())));
  context.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) faults.push(message.text());
  });
});
afterEach(async () => {
  await context.close();
  expect(faults).toEqual([]);
});
afterAll(() => browser?.close());

const readText = (page: Page, index: 0 | 1 = 0) => page.evaluate((at) => globalThis.editorPage.texts[at].toString(), index);
const content = (page: Page, index: 0 | 1 = 0) => page.locator(`#editor${index} .cm-content`);

/** Puts the cursor behind the last occurrence of a text. */
async function putCursor(page: Page, index: 0 | 1, behind: string): Promise<void> {
  await page.evaluate(
    ([at, text]) => {
      const { view } = globalThis.editorPage.editors[at];
      const anchor = view.state.doc.toString().lastIndexOf(text) + text.length;
      view.dispatch({ selection: { anchor } });
      view.focus();
    },
    [index, behind] as const,
  );
}

function paste(page: Page, data: Readonly<Record<string, string>>): Promise<void> {
  return content(page).evaluate((element, given) => {
    const clipboardData = new DataTransfer();
    for (const [type, value] of Object.entries(given)) clipboardData.setData(type, value);
    element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, data);
}

test("[WA38] two editors come to the same text, and undo reverts only changes made in the same editor", async () => {
  const page = await openEditorPage(context, bundle, "First\r\n\r\nSecond");
  await putCursor(page, 0, "First");
  await page.keyboard.type(" by Ada");
  await putCursor(page, 1, "Second");
  await page.keyboard.type(" by the writer");
  const both = "First by Ada\r\n\r\nSecond by the writer";
  expect([await readText(page, 0), await readText(page, 1)]).toEqual([both, both]);
  await putCursor(page, 0, "Ada");
  await page.keyboard.press("Control+z");
  const undone = "First\r\n\r\nSecond by the writer";
  await expect.poll(() => readText(page, 1)).toBe(undone);
  await page.keyboard.press("Control+y");
  await expect.poll(() => readText(page, 1)).toBe(both);
});

test("[WA38] what a reader types, pastes, clicks or undoes changes nothing, and changes of others appear", async () => {
  const page = await openEditorPage(context, bundle, "- [ ] task\n\nText");
  await putCursor(page, 0, "Text");
  await page.keyboard.type(" more");
  await page.evaluate(() => globalThis.editorPage.editors[0].setReadOnly(true));
  await content(page).focus();
  for (const key of ["x", "Enter", "Backspace", "Delete", "Control+b", "Control+z", "Alt+ArrowUp", "Control+Enter", "Tab"])
    await page.keyboard.press(key);
  await content(page).focus();
  await paste(page, { "text/plain": "pasted" });
  await page.locator("#editor0 .cm-md-task input").click({ force: true });
  expect(await page.evaluate(() => globalThis.editorPage.editors[0].runCommand("undo"))).toBe(false);
  expect(await readText(page)).toBe("- [ ] task\n\nText more");
  await putCursor(page, 1, "more");
  await page.keyboard.type("!");
  await expect.poll(() => content(page).textContent()).toContain("Text more!");
});

test("[WA33] a click on a cell puts the cursor into its source, and a click on a task box changes the text", async () => {
  const page = await openEditorPage(context, bundle, "Text\n\n| a | b |\n| - | -: |\n| one | **two** |\n\n- [ ] task\n\nEnd");
  const editor = page.locator("#editor0");
  await expect.poll(() => editor.locator("td").allInnerTexts()).toEqual(["one", "two"]);
  await editor.locator("td", { hasText: "two" }).click();
  await page.keyboard.type("!");
  expect(await readText(page)).toContain("| one | **two**! |");
  expect(await editor.locator("table").count()).toBe(0);
  await page.keyboard.press("Control+End");
  await expect.poll(() => editor.locator("td").allInnerTexts()).toEqual(["one", "two!"]);
  await editor.locator(".cm-md-task input").click();
  expect(await readText(page)).toContain("- [x] task");
  // The arrow keys enter the table too.
  await putCursor(page, 0, "Text");
  for (const key of ["ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
  await expect.poll(() => editor.locator("table").count()).toBe(0);
  await putCursor(page, 0, "task");
  await page.keyboard.press("Control+Enter");
  expect(await readText(page)).toContain("- [ ] task");
});

test("[WA32] nothing moves under a pressed mouse button, and a tap puts the cursor where it is", async () => {
  const text = "Intro\n\nA **bold** word";
  const page = await openEditorPage(context, bundle, text);
  const line = page.locator("#editor0 .cm-line", { hasText: "word" });
  const box = await line.locator(".cm-md-strong").boundingBox();
  if (box === null) throw new Error("the word is not drawn");
  await page.mouse.move(box.x + 4, box.y + 8);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 2, box.y + 8, { steps: 3 });
  expect(await line.textContent()).toBe("A bold word");
  await page.mouse.up();
  await expect.poll(() => line.textContent()).toBe("A **bold** word");
  expect(await page.evaluate(() => getSelection()?.toString())).toBe("bold");

  const phone = await openContext(browser, { viewport: { width: 390, height: 700 }, hasTouch: true, isMobile: true });
  const touched = await openEditorPage(phone, bundle, text);
  const tapped = touched.locator("#editor0 .cm-line", { hasText: "word" });
  await tapped.locator(".cm-md-strong").tap();
  await expect.poll(() => tapped.textContent()).toBe("A **bold** word");
  await phone.close();
});

test("[WA34] HTML in a text stays text, and a link opens with Ctrl in a tab that cannot reach the app", async () => {
  const hostile = '<img src=x onerror="globalThis.hacked=1">';
  const text = `End\n\n${hostile} ![${hostile}](https://pictures.invalid/a.png)\n\n| ${hostile} |\n| - |\n| <br>${hostile} |\n\n[site](${editorOrigin}/other) [bad](javascript:globalThis.hacked=1)`;
  const page = await openEditorPage(context, bundle, text);
  await expect.poll(() => page.locator("#editor0 th").textContent()).toBe(hostile);
  expect(await page.locator("#editor0 [onerror]").count()).toBe(0);
  expect(await page.locator("#editor0 [data-address^=javascript]").count()).toBe(0);
  const [opened] = await Promise.all([
    context.waitForEvent("page"),
    page.locator("#editor0 .cm-md-link", { hasText: "site" }).click({ modifiers: ["Control"] }),
  ]);
  expect(await opened.evaluate(() => window.opener)).toBeNull();
  expect(opened.url()).toBe(`${editorOrigin}/other`);
  await page
    .locator("#editor0", { hasText: "bad" })
    .getByText("bad", { exact: true })
    .click({ modifiers: ["Control"] });
  expect(await page.evaluate(() => "hacked" in globalThis)).toBe(false);
});

test("[WA37] formatted text becomes Markdown when it is pasted", async () => {
  const page = await openEditorPage(context, bundle, "");
  const rows: readonly (readonly [string, string])[] = [
    ["<h2>Title</h2><p>One <b>two</b> <i>three</i> <s>four</s> <code>f`x</code></p>", "## Title\n\nOne **two** *three* ~~four~~ `` f`x ``"],
    ["<ul><li>a<ul><li>b</li></ul></li><li><p>c</p></li></ul><ol start=3><li>d</li></ol>", "- a\n  - b\n- c\n\n3. d"],
    ['<ul><li><input type="checkbox" checked> done</li><li><input type="checkbox">open</li></ul>', "- [x] done\n- [ ] open"],
    ["<blockquote><p>a</p><p>b</p></blockquote><hr>", "> a\n>\n> b\n\n---"],
    ['<pre><code class="language-js">let a = 1;\n  b();\n</code></pre>', "```js\nlet a = 1;\n  b();\n```"],
    ["<table><tr><th>a<th>b<tr><td>1 | 2<td></table>", "| a | b |\n| --- | --- |\n| 1 \\| 2 |  |"],
    ['<a href="https://a.example/(b)">link</a> <a href="javascript:x">text</a>', "[link](https://a.example/%28b%29) text"],
    ['<p><img src="https://a.example/b.png" alt="c"><img src="data:image/png;base64,AA" alt="d"></p>', "![c](https://a.example/b.png)d"],
    [
      '<b style="font-weight:normal"><p><span style="font-weight:700">bold</span> 2 * 3 snake_case _x_</p></b>',
      "**bold** 2 \\* 3 snake_case \\_x\\_",
    ],
    ["<p><em>1</em>. a</p><p># <em>b</em></p><p>- c<br>d</p>", "*1*. a\n\n\\# *b*\n\n\\- c\\\nd"],
    ["<script>globalThis.hacked=1</script><style>a{}</style><p onclick=x><b>a</b><img src=x onerror='globalThis.hacked=1'></p>", "**a**"],
  ];
  for (const [html, markdown] of rows) {
    await content(page).focus();
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Delete");
    await paste(page, { "text/html": html, "text/plain": "plain" });
    expect(await readText(page), html).toBe(markdown);
  }
  expect(await page.evaluate(() => "hacked" in globalThis)).toBe(false);
  await page.keyboard.press("Control+a");
  await paste(page, { "text/html": "<span>plain</span>", "text/plain": "one\r\ntwo" });
  expect(await readText(page)).toBe("one\ntwo");
});

test("[WA39] cursors of others have names, agents have a sign, and presence of any shape breaks nothing", async () => {
  const page = await openEditorPage(context, bundle, "One two three");
  await putCursor(page, 0, "One");
  const seenByWriter = page.locator("#editor1 .cm-peer");
  await expect.poll(() => seenByWriter.allTextContents()).toEqual(["Ada Lovelace"]);
  await putCursor(page, 1, "two");
  const seenByAda = page.locator("#editor0 .cm-peer.cm-peer-agent");
  await expect.poll(() => seenByAda.allTextContents()).toEqual(["Outline writer"]);
  expect(await seenByAda.locator("svg").count()).toBe(1);
  await page.evaluate(() => globalThis.editorPage.editors[1].view.dispatch({ selection: { anchor: 0, head: 7 } }));
  await expect.poll(() => page.locator("#editor0 .cm-peer-selection").allInnerTexts()).toEqual(["One two"]);
  for (const cursor of [
    1,
    "x",
    [],
    { anchor: {}, head: { item: { client: -1, clock: "x" } } },
    { anchor: { tname: "other" }, head: { tname: "other" } },
    { anchor: { type: { client: 1e20, clock: 5 } }, head: null },
    { anchor: { item: "x" }, head: { item: [] } },
  ]) {
    await page.evaluate((given) => globalThis.editorPage.awareness[1].setLocalStateField("cursor", given), cursor);
    await expect.poll(() => seenByAda.count()).toBe(0);
  }
  await page.evaluate(() => globalThis.editorPage.awareness[1].setLocalStateField("user", 7));
  await putCursor(page, 1, "three");
  await page.keyboard.type("!");
  await expect.poll(() => page.locator("#editor0 .cm-peer").count()).toBe(1);
  await page.evaluate(() => globalThis.editorPage.editors[1].destroy());
  await expect.poll(() => page.locator("#editor0 .cm-peer").count()).toBe(0);
});

test("[WA40] marks and blame move with the text, and a click on a mark reports the innermost one", async () => {
  const page = await openEditorPage(context, bundle, "One two three\n\nFour");
  await page.evaluate(() => {
    const [editor] = globalThis.editorPage.editors;
    editor.setMarks([
      { id: "outer", from: 0, to: 13, kind: "comment", isActive: false },
      { id: "inner", from: 4, to: 7, kind: "suggestion", isActive: true },
      { id: "gone", from: 5, to: 5, kind: "comment", isActive: false },
      { id: "last", from: 15, to: 999, kind: "comment", isActive: false },
    ]);
    editor.setBlame([
      { fromLine: 1, toLine: 1, colour: 1, label: "Ada" },
      { fromLine: 3, toLine: 9, colour: 2, label: "Bob" },
    ]);
    globalThis.editorPage.texts[0].insert(0, "Zero\n\n");
  });
  const placeOf = (id: string) => page.evaluate((given) => globalThis.editorPage.editors[0].positionOf(given), id);
  expect([await placeOf("inner"), await placeOf("gone"), await placeOf("last")]).toEqual([
    { from: 10, to: 13 },
    undefined,
    { from: 21, to: 25 },
  ]);
  await page.locator("#editor0 .cm-mark-suggestion").click();
  expect(await page.evaluate(() => globalThis.editorPage.reports.marks)).toEqual(["inner"]);
  const top = (await page.evaluate(() => globalThis.editorPage.editors[0].marginTop("last"))) ?? 0;
  const drawn = await page.locator("#editor0 .cm-mark", { hasText: "Four" }).boundingBox();
  expect(Math.abs(top - (drawn?.y ?? 0))).toBeLessThan(8);
  expect(await page.locator("#editor0 .cm-blame-line").allInnerTexts()).toEqual(["Ada", "Bob"]);
});

test("[WA31] Tab leaves the text, Escape and Tab leave a list, and Tab alone nests an item", async () => {
  const page = await openEditorPage(context, bundle, "- a\n- b\n\nText");
  const hasFocus = () => content(page).evaluate((element) => element === document.activeElement);
  await putCursor(page, 0, "b");
  await page.keyboard.press("Tab");
  expect(await readText(page)).toBe("- a\n  - b\n\nText");
  await page.keyboard.press("Shift+Tab");
  expect(await readText(page)).toBe("- a\n- b\n\nText");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Tab");
  expect(await hasFocus()).toBe(false);
  await putCursor(page, 0, "Text");
  await page.keyboard.press("Tab");
  expect(await hasFocus()).toBe(false);
});

test("[WA41] axe finds nothing in both themes, and the keyboard finds, replaces and closes", async () => {
  const text =
    "# Title\n\nText **bold** [link](https://a.example) `code`\n\n- [ ] task\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n```js\ncode\n```\n\nEnd Text";
  for (const theme of ["light", "dark"]) {
    const page = await openEditorPage(context, bundle, text, theme);
    await putCursor(page, 1, "Title");
    await putCursor(page, 0, "End");
    await page.keyboard.press("Control+f");
    await page.keyboard.type("text");
    const count = page.locator("#editor0 .cm-find-count");
    await expect.poll(() => count.textContent()).toBe("2 found");
    await page.keyboard.press("Enter");
    await expect.poll(() => count.textContent()).toBe("2 of 2");
    await page.addScriptTag({ path: axePath });
    const violations = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as {
        axe: { run(part: string): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
      };
      return (await axe.run("main")).violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
    });
    expect(violations).toEqual([]);
    for (const label of ["Match case", "Whole words", "Regular expression", "Previous match", "Next match", "Close", "Replace with"]) {
      await page.keyboard.press("Tab");
      expect(await page.evaluate(() => document.activeElement?.ariaLabel)).toBe(label);
    }
    await page.keyboard.type("words");
    await page.keyboard.press("Enter");
    expect(await readText(page)).toMatch(/End words$/);
    await page.keyboard.press("Escape");
    expect(await content(page).evaluate((element) => element === document.activeElement)).toBe(true);
    await page.close();
    await context.unroute(`${editorOrigin}/**`);
  }
});
