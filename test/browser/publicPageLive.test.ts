/** Tests open Live pages in Chromium: how tabs at two nodes on one Redis follow edits, and how a tab connects again. */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startBrowser } from "../support/browser.ts";
import { type Rest, signIn } from "../support/clients.ts";
import { createVisits, phone, publishPage, type Visits } from "../support/pageVisits.ts";
import { type RunningServer, startServer } from "../support/server.ts";

let server: RunningServer;
/** Another node on the same Redis. */
let other: RunningServer;
let rest: Rest;
let browser: Browser;
let visits: Visits;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer({}, { store: "redis" }), startBrowser()]);
  other = await startServer(server.store?.settings);
  visits = createVisits(browser);
  rest = await signIn(server.url, server.operator);
});
afterEach(() => visits.close());
afterAll(async () => {
  await browser?.close();
  await other?.remove();
  await server?.remove();
});

/** Opens an article of 60 paragraphs and scrolls the paragraph with this number to the top of the view. */
async function readAt(page: Page, paragraph: number): Promise<void> {
  await page.evaluate((at) => document.querySelectorAll(".text > p")[at]?.scrollIntoView(), paragraph);
}
const topOf = (page: Page, text: string) => page.getByText(text, { exact: true }).evaluate((block) => block.getBoundingClientRect().top);

test("[PL56] tabs at two nodes follow an editor without a reload, and the reader keeps the place", async () => {
  const paragraphs = Array.from({ length: 60 }, (_, at) => `Paragraph ${at} ${"of the long text ".repeat(12)}`.trim());
  const details = "<details><summary>More</summary>\n\nInside.\n\n</details>";
  const content = [...paragraphs.slice(0, 30), details, ...paragraphs.slice(30)].join("\n\n");
  const articleId = await publishPage(rest, { slug: "long-read", title: "Long read", content });
  const edit = (edits: readonly { find: string; replace: string }[]) =>
    rest.expect(200, "PATCH", `/articles/${articleId}/content`, { mode: "patch", edits });
  const { page: top } = await visits.open(`${server.url}/p/long-read`, { viewport: phone });
  const { page: middle } = await visits.open(`${other.url}/p/long-read`, { viewport: phone });
  for (const page of [top, middle]) await page.evaluate("window.isTheSame = true");

  const read = paragraphs[40] ?? "";
  await middle.locator("summary").last().click();
  await readAt(middle, 41);
  const isSelected = () => middle.evaluate(() => getSelection()?.toString());
  await middle.evaluate(() => {
    const text = document.querySelectorAll(".text > p")[41]?.firstChild;
    if (text) getSelection()?.setBaseAndExtent(text, 0, text, 9);
  });
  const selected = await isSelected();
  const before = await topOf(middle, read);

  await edit([{ find: "Paragraph 3 of", replace: "A first sentence is new.\n\nParagraph 3 of" }]);
  await edit([{ find: "Paragraph 5 of", replace: "Paragraph five of" }]);
  for (const page of [top, middle]) {
    await expect.poll(() => page.getByText("A first sentence is new.").count()).toBe(1);
    await expect.poll(() => page.getByText("Paragraph five of").count()).toBe(1);
    expect(await page.evaluate("window.isTheSame")).toBe(true);
  }
  expect(Math.abs((await topOf(middle, read)) - before)).toBeLessThan(1);
  expect(
    await middle
      .locator("details")
      .last()
      .evaluate((block) => (block as HTMLDetailsElement).open),
  ).toBe(true);
  expect(selected).toBe("Paragraph");
  expect(await isSelected()).toBe(selected);
  expect(await top.evaluate(() => scrollY)).toBe(0);

  // The reader sees the text of a page that was taken down no longer.
  await rest.expect(204, "DELETE", `/articles/${articleId}/public-link`);
  await expect.poll(() => middle.locator("h1").textContent()).toBe("No longer public");
  expect(await middle.getByText("Paragraph 3").count()).toBe(0);
});

test("[PL56] a hidden tab does not ask the server, and catches up when it is shown again", async () => {
  const articleId = await publishPage(rest, { slug: "away", title: "Away", content: "Before.\n" });
  const { page } = await visits.open(`${server.url}/p/away`);
  const hide = (isHidden: boolean) =>
    page.evaluate((hidden) => {
      Object.defineProperty(document, "hidden", { configurable: true, value: hidden });
      document.dispatchEvent(new Event("visibilitychange"));
    }, isHidden);
  await hide(true);
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await rest.expect(200, "PATCH", `/articles/${articleId}/content`, { mode: "append", content: "\nAfter.\n" });
  await expect.poll(async () => (await rest.request("GET", "/p/away.md")).body).toContain("After.");
  expect(asked).toEqual([]);
  await hide(false);
  await expect.poll(() => page.getByText("After.").count()).toBe(1);
});

test("[PL56] [PL65] a tab whose event stream is refused waits twice as long each time, a minute at most", async () => {
  await publishPage(rest, { slug: "refused", title: "Refused", content: "Words.\n" });
  // Until the text is laid out, the page shows it as plain text, without an entity tag.
  await expect.poll(async () => (await rest.request("GET", "/p/refused")).headers.has("etag")).toBe(true);
  let asked = 0;
  let opens = false;
  const { page } = await visits.open(`${server.url}/p/refused`, {}, async (opened) => {
    await opened.route("**/p/refused/events", async (route) => {
      asked += 1;
      // A stream that opens and ends: the browser asks again by itself, and the next answer refuses it.
      if (opens) await route.fulfill({ contentType: "text/event-stream", body: "retry: 1\n\n" });
      else await route.fulfill({ status: 503 });
      opens = false;
    });
    // The page connects again when the test says so, and the random part of a delay is at its largest.
    await opened.addInitScript(`
      window.waiting = [];
      window.setTimeout = (run, ms) => (run.name === "connect" ? waiting.push({ run, ms }) : 0);
      Math.random = () => 1;
    `);
  });
  const nextDelay = async (): Promise<number> => {
    await expect.poll(() => page.evaluate("waiting.length")).toBe(1);
    return page.evaluate("waiting[0].ms");
  };
  const connect = () => page.evaluate("waiting.pop().run()");
  for (const delayMs of [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]) {
    expect(await nextDelay()).toBe(delayMs);
    await connect();
  }
  expect(await nextDelay()).toBe(60_000);
  expect(asked).toBe(9);
  // Each refusal made the page compare itself with the server. Its words are the same, so nothing was announced.
  expect(await page.locator("#notice").textContent()).toBe("");
  opens = true;
  await connect();
  expect(await nextDelay()).toBe(1000);
  expect(asked).toBe(11);
});
