/** Tests the panels beside the text of an article in Chromium, on the real server: reviews, history, publishing and runs. */
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startBrowser } from "../support/browser.ts";
import { createDesk, type Desk, password } from "../support/desk.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { openApp, type Person, signInAt, textOf, typeAtEnd } from "../support/webApp.ts";

let server: RunningServer;
let browser: Browser;
let desk: Desk;
const people: Person[] = [];

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer({ LIMITS: '{"rate.auth":"off"}' }), startBrowser()]);
  desk = await createDesk(server);
});
afterEach(async () => {
  await Promise.all(people.splice(0).map(({ context }) => context.close()));
});
afterAll(async () => {
  await browser?.close();
  await server?.remove();
});

async function createArticle(title: string, content: string): Promise<string> {
  const { articleId } = await desk.ana.expect(201, "POST", "/articles", { workspaceId: desk.workspaceId, title, content });
  return articleId;
}

/** Opens the article with one of its panels. Returns the page and the panel. */
async function openPanel(username: "ana" | "bo", articleId: string, panel: string, name: string): Promise<{ page: Page; panel: Locator }> {
  const person = await openApp(browser, server, `/w/${desk.workspaceId}/articles/${articleId}?panel=${panel}`);
  people.push(person);
  await signInAt(person.page, { username, password });
  await textOf(person.page).getByText(/\w/).first().waitFor();
  return { page: person.page, panel: person.page.getByRole("region", { name, exact: true }) };
}

/** Selects words that are on one line of the text, as a double click and a drag do. */
async function select(page: Page, words: string): Promise<void> {
  const place = await textOf(page).evaluate((text, wanted) => {
    const nodes = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
    for (let node = nodes.nextNode(); node !== null; node = nodes.nextNode()) {
      const at = node.textContent?.indexOf(wanted) ?? -1;
      if (at < 0) continue;
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + wanted.length);
      const { left, right, top, height } = range.getBoundingClientRect();
      return { left, right, y: top + height / 2 };
    }
    throw new Error(`“${wanted}” is not in the text`);
  }, words);
  await page.mouse.move(place.left + 1, place.y);
  await page.mouse.down();
  await page.mouse.move(place.right - 1, place.y, { steps: 5 });
  await page.mouse.up();
}

/** The text of the editor without the names at the cursors of others. */
function readEditor(page: Page): Promise<string> {
  return textOf(page).evaluate((text) => {
    const copy = document.createElement("div");
    copy.innerHTML = text.innerHTML;
    for (const caret of copy.querySelectorAll(".cm-peer")) caret.remove();
    return copy.textContent ?? "";
  });
}

async function readText(articleId: string): Promise<string> {
  return (await desk.ana.expect(200, "GET", `/articles/${articleId}/content`)).content;
}

test("[WA60] [WA61] a comment belongs to the selected words, and others see it without a reload", async () => {
  const articleId = await createArticle("Commented", "Kites need wind.\n\nKites need string.\n");
  const [ana, bo] = await Promise.all([
    openPanel("ana", articleId, "reviews", "Reviews"),
    openPanel("bo", articleId, "reviews", "Reviews"),
  ]);
  await select(ana.page, "need string");
  await ana.panel.getByRole("button", { name: "Comment on the selected text" }).click();
  await ana.page.keyboard.type("Ask @b");
  await ana.panel.getByRole("option", { name: "bo" }).waitFor();
  await ana.page.keyboard.press("Enter");
  await ana.page.keyboard.type("and @cy.out.");
  await desk.bo.expect(200, "PATCH", `/articles/${articleId}/content`, { mode: "prepend", content: "# Kites\n\n" });
  await ana.page.keyboard.press("Control+Enter");

  const card = bo.panel.getByRole("listitem").filter({ hasText: "Ask @bo and @cy.out." });
  await card.waitFor();
  await card.getByText("@cy.out cannot read this article").waitFor();
  const { reviews } = await desk.ana.expect(200, "GET", `/articles/${articleId}/reviews`);
  expect(reviews).toMatchObject([{ anchor: { quote: "need string", state: "anchored" }, mentions: ["bo"] }]);

  await textOf(bo.page).locator("[data-mark]").first().click();
  await expect.poll(() => new URL(bo.page.url()).searchParams.get("review")).toBe(reviews[0].reviewId);
  expect(await card.getAttribute("aria-current")).toBe("true");
  await card.getByRole("button", { name: "Reply", exact: true }).click();
  await bo.page.keyboard.type("Yes, they do.");
  await bo.page.keyboard.press("Control+Enter");
  await ana.panel.getByText("Yes, they do.").waitFor();
  await ana.panel.getByRole("button", { name: "Resolve" }).click();
  await bo.panel.getByText("No open reviews").waitFor();
});

test("[WA62] an accepted suggestion changes the text of every editor, and a review without its words is listed as such", async () => {
  const articleId = await createArticle("Suggested", "It is teh draft.\n\nIt ends badly.\n");
  const [ana, bo] = await Promise.all([
    openPanel("ana", articleId, "reviews", "Reviews"),
    openPanel("bo", articleId, "reviews", "Reviews"),
  ]);
  await select(bo.page, "teh");
  await bo.panel.getByRole("button", { name: "Suggest", exact: true }).click();
  await bo.panel.getByLabel("New text").fill("the");
  await bo.panel.getByRole("region", { name: "New suggestion" }).getByRole("button", { name: "Suggest" }).click();
  const card = ana.panel.getByRole("listitem").filter({ hasText: "Suggested wording." });
  await card.getByRole("button", { name: "Accept" }).click();
  for (const { page } of [ana, bo]) await expect.poll(() => readEditor(page)).toContain("It is the draft.");

  await desk.bo.expect(201, "POST", `/articles/${articleId}/reviews`, { body: "Why?", anchor: { quote: "ends badly" } });
  await desk.bo.expect(200, "PATCH", `/articles/${articleId}/content`, {
    mode: "patch",
    edits: [{ find: "It ends badly.", replace: "Nobody knows." }],
    message: "Another end",
  });
  const lost = ana.panel.getByRole("region", { name: "Place not found" });
  await lost.getByText("Why?").waitFor();
});

test("[WA63] a section returns to a commit after a question, and the text before it stays in the history", async () => {
  const articleId = await createArticle("Restored", "# Kites\n\n## Wind\n\nThey need wind.\n\n## String\n\nThey need string.\n");
  await desk.ana.expect(201, "POST", `/articles/${articleId}/commits`, { message: "First", name: "Sent to print" });
  await desk.bo.expect(200, "PATCH", `/articles/${articleId}/content`, {
    mode: "patch",
    edits: [
      { find: "They need wind.", replace: "They need a storm." },
      { find: "They need string.", replace: "They need rope." },
    ],
  });
  const { page, panel } = await openPanel("ana", articleId, "history", "History");
  await panel.getByRole("button", { name: "Commit now" }).click();
  await panel.getByLabel(/Message/).fill("Stronger");
  await page.keyboard.press("Enter");
  await panel.getByRole("button", { name: /Stronger/ }).waitFor();
  await panel.getByRole("button", { name: /Sent to print/ }).click();

  const commit = page.getByRole("region", { name: "Commit", exact: true });
  await commit.getByRole("button", { name: "Changes since" }).click();
  await commit.locator("ins", { hasText: "rope" }).waitFor();
  await commit.getByRole("button", { name: "Side by side" }).click();
  await page.getByRole("dialog").getByRole("cell", { name: "They need a storm." }).waitFor();
  await page.keyboard.press("Escape");
  await commit.getByRole("button", { name: "Restore" }).click();
  await page.getByRole("menuitem", { name: /section/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Wind" }).click();
  await page.getByRole("dialog", { name: /Wind/ }).getByRole("button", { name: "Restore" }).click();
  await expect.poll(() => readEditor(page)).toContain("They need wind.");
  expect(await readText(articleId)).toContain("They need rope.");
  await commit.getByRole("button", { name: "All commits" }).click();
  await panel
    .getByRole("button", { name: /restor/i })
    .first()
    .waitFor();
  await panel.getByRole("button", { name: /Stronger/ }).waitFor();
});

test("[WA64] the colours of the authors stand beside the lines that they wrote", async () => {
  const articleId = await createArticle("Authors", "Ana wrote this line.\n");
  await desk.bo.expect(200, "PATCH", `/articles/${articleId}/content`, {
    mode: "append",
    content: "Bo wrote that line.\n",
    message: "Two",
  });
  const { page, panel } = await openPanel("ana", articleId, "history", "History");
  await typeAtEnd(page, "Newer.");
  await panel.getByRole("button", { name: "Who wrote what" }).click();
  const legend = panel.getByRole("region", { name: "Authors of the text" });
  await expect
    .poll(() => legend.getByRole("listitem").allTextContents())
    .toEqual([expect.stringMatching(/^ana\d+%$/), expect.stringMatching(/^bo\d+%$/)]);
  await expect.poll(() => page.locator(".cm-blame-label").allTextContents()).toEqual(expect.arrayContaining(["ana", "bo"]));
  await panel.getByRole("button", { name: "Hide the authors" }).click();
  await expect.poll(() => page.locator(".cm-blame-label").count()).toBe(0);
});

test("[WA65] an article is made public, frozen, updated and unpublished, and its readers see that", async () => {
  const articleId = await createArticle("Public kites", "They need wind.\n");
  const { page, panel } = await openPanel("ana", articleId, "publish", "Publishing");
  await panel.getByRole("button", { name: "Make public" }).click();
  const address = (await panel.getByRole("link", { name: "Open the page" }).getAttribute("href")) ?? "";
  const readPage = async () => (await fetch(`${address}.md`)).text();
  await expect.poll(readPage).toBe("They need wind.\n");

  await panel.getByRole("radio", { name: /Snapshot/ }).check();
  await panel.getByText(/Readers see the text that was frozen/).waitFor();
  await typeAtEnd(page, "And string.");
  await page.getByText("Saved", { exact: true }).waitFor();
  await panel.getByRole("button", { name: "Show", exact: true }).click();
  await page.getByRole("dialog").getByRole("table").locator("ins", { hasText: "And string." }).waitFor();
  await page.keyboard.press("Escape");
  expect(await readPage()).toBe("They need wind.\n");
  await panel.getByRole("button", { name: "Update the Snapshot" }).click();
  await panel.getByText("Nothing: the page shows the newest text.").waitFor();
  expect(await readPage()).toContain("And string.");

  await panel.getByRole("button", { name: "Unpublish…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Unpublish" }).click();
  await panel.getByRole("heading", { name: "Not public" }).waitFor();
  expect((await fetch(address)).status).toBe(410);
});

test("[WA66] the checks name what is left to do with its line, and an error refuses the publication", async () => {
  const articleId = await createArticle("Unfinished", "# Kites\n\nTODO: the tail.\n");
  const { page, panel } = await openPanel("ana", articleId, "publish", "Publishing");
  await panel.getByText("Address, expiry and checks").click();
  await panel.getByLabel("Checks before publication").selectOption("block");
  await panel.getByRole("button", { name: "Make public" }).click();
  await panel
    .getByRole("alert")
    .getByText(/The text has an error/)
    .waitFor();
  await panel.getByRole("button", { name: "Line 3" }).click();
  await page.keyboard.type("Tail: ");
  await page.keyboard.press("Shift+End");
  await page.keyboard.type("long.");
  await page.getByText("Saved", { exact: true }).waitFor();
  await panel.getByRole("button", { name: "Make public" }).click();
  await panel.getByRole("link", { name: "Open the page" }).waitFor();
  expect(await readText(articleId)).toBe("# Kites\n\nTail: long.\n");
});

test("[WA67] a run is started beside the text and listed there", async () => {
  const articleId = await createArticle("Written by a run", "Kites.\n");
  const { page, panel } = await openPanel("ana", articleId, "runs", "Runs");
  await panel.getByRole("button", { name: "Start a run" }).click();
  await page.getByRole("dialog").getByLabel("Workflow").selectOption("research");
  await page.getByRole("dialog").getByRole("button", { name: "Start the run" }).click();
  await page.waitForURL(/\/runs\/run_/);
  await page.goBack();
  const run = panel.getByRole("list", { name: "Runs of this article" }).getByRole("listitem").filter({ hasText: "Research" });
  await run.getByText("Completed").waitFor();
});
