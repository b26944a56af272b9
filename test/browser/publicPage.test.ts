/** Tests public pages in Chromium: what a reader sees with and without scripts, and how an open Live page follows edits. */
import { createRequire } from "node:module";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openContext, startBrowser } from "../support/browser.ts";
import { type Rest, signIn } from "../support/clients.ts";
import { arabicPage, chinesePage, richPage, type SamplePage } from "../support/samplePages.ts";
import { type RunningServer, startServer } from "../support/server.ts";

let server: RunningServer;
let rest: Rest;
let browser: Browser;
let workspaceId: string;
const contexts: BrowserContext[] = [];

const phone = { width: 390, height: 844 };
const desk = { width: 1280, height: 900 };

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
  rest = await signIn(server.url, server.operator);
  workspaceId = (await rest.expect(200, "GET", "/workspaces")).workspaces[0].workspaceId;
  for (const sample of [richPage, arabicPage, chinesePage]) await publish(sample);
});
afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close();
});
afterAll(async () => {
  await browser?.close();
  await server?.remove();
});

async function publish({ slug, title, content }: SamplePage, mode = "live"): Promise<string> {
  const { articleId } = await rest.expect(201, "POST", "/articles", { workspaceId, title, content });
  await rest.expect(201, "PUT", `/articles/${articleId}/public-link`, { slug, mode });
  return articleId;
}

interface Visit {
  readonly page: Page;
  /** Errors that the page wrote to the console, such as violations of its policy. */
  readonly errors: readonly string[];
}

async function visit(slug: string, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await openContext(browser, options);
  contexts.push(context);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(error.message));
  await page.goto(`${server.url}/p/${slug}`);
  return { page, errors };
}

/** Opens an article of 60 paragraphs and scrolls the paragraph with this number to the top of the view. */
async function readAt(page: Page, paragraph: number): Promise<void> {
  await page.evaluate((at) => document.querySelectorAll(".text > p")[at]?.scrollIntoView(), paragraph);
}
const topOf = (page: Page, text: string) => page.getByText(text, { exact: true }).evaluate((block) => block.getBoundingClientRect().top);

const axeFile = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

test("[PL58] axe finds no violation, on phone and desk, light and dark, in three scripts", async () => {
  const findings: unknown[] = [];
  for (const [sample, viewport, colorScheme] of [
    [richPage, phone, "light"],
    [richPage, desk, "dark"],
    [richPage, desk, "light"],
    [arabicPage, phone, "dark"],
    [chinesePage, desk, "light"],
    [{ slug: "nothing-here" }, phone, "dark"],
  ] as const) {
    // The policy of the page forbids the scripts of a test as well.
    const { page } = await visit(sample.slug, { viewport, colorScheme, bypassCSP: true });
    await page.addScriptTag({ path: axeFile });
    const violations = await page.evaluate("axe.run(document).then(({ violations }) => violations)");
    for (const { id, nodes } of violations as { id: string; nodes: { html: string }[] }[]) {
      findings.push({ page: sample.slug, colorScheme, id, html: nodes.map(({ html }) => html.slice(0, 200)) });
    }
  }
  expect(findings).toEqual([]);
});

test("[PL57] without scripts, the page shows formulas, coloured code, contents, footnotes and details", async () => {
  const { page, errors } = await visit(richPage.slug, { viewport: phone, javaScriptEnabled: false });
  const look = async (selector: string) => (await page.locator(selector).first().boundingBox())?.height ?? 0;
  for (const selector of [".text", "math[display=block]", ".code-keyword", ".footnotes", ".table", ".task-list-item", "img"]) {
    expect(await look(selector), selector).toBeGreaterThan(0);
  }
  expect(await page.locator(".contents ol").first().isVisible()).toBe(false);
  await page.locator(".contents summary").click();
  await page.getByRole("link", { name: "What a keeper can change", exact: true }).click();
  await expect.poll(() => page.locator("h2:target").textContent()).toBe("What a keeper can change");
  expect(errors).toEqual([]);
});

test("[PL57] scripts on: the policy of the page blocks nothing of its own, and one script runs", async () => {
  const { page, errors } = await visit(richPage.slug, { viewport: desk });
  const scripts = await page.locator("script:not([type])").evaluateAll((all) => all.map((script) => script.getAttribute("integrity")));
  expect(scripts).toEqual([expect.stringMatching(/^sha256-/)]);
  expect(await page.locator(".contents ol").first().isVisible()).toBe(true);
  expect(errors.filter((error) => /policy|integrity/i.test(error))).toEqual([]);
});

test("[PL59] nothing on the page is wider than a small screen, and nothing moves after it was shown", async () => {
  for (const sample of [richPage, arabicPage, chinesePage]) {
    const { page } = await visit(sample.slug, { viewport: { width: 320, height: 640 } });
    const { scrollWidth, clientWidth } = await page.evaluate(() => document.documentElement);
    expect(scrollWidth, sample.slug).toBe(clientWidth);
    const shifts = await page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          new PerformanceObserver((list) => resolve(list.getEntries().length)).observe({ type: "layout-shift", buffered: true });
          // Without any shift there is no entry and no call. Two frames later every shift of the load is recorded.
          requestAnimationFrame(() => requestAnimationFrame(() => resolve(0)));
        }),
    );
    expect(shifts, sample.slug).toBe(0);
  }
});

test("[PL59] the direction and the language of a page follow its text", async () => {
  const arabic = (await visit(arabicPage.slug, { viewport: desk })).page;
  const sides = await arabic.evaluate(() => {
    const box = (selector: string) => document.querySelector(selector)?.getBoundingClientRect();
    return { contents: box(".contents")?.left ?? 0, text: box(".text")?.left ?? 0 };
  });
  expect(sides.contents).toBeGreaterThan(sides.text);
  expect(await arabic.locator("html").getAttribute("lang")).toBe("ar");
  const chinese = (await visit(chinesePage.slug)).page;
  expect(await chinese.locator(".date").textContent()).toMatch(/^\d{4}年\d{1,2}月\d{1,2}日$/);
});

test("[PL56] two open tabs follow an editor without a reload, and the reader keeps the place", async () => {
  const paragraphs = Array.from({ length: 60 }, (_, at) => `Paragraph ${at} ${"of the long text ".repeat(12)}`.trim());
  const details = "<details><summary>More</summary>\n\nInside.\n\n</details>";
  const content = [...paragraphs.slice(0, 30), details, ...paragraphs.slice(30)].join("\n\n");
  const articleId = await publish({ slug: "long-read", title: "Long read", content });
  const edit = (edits: readonly { find: string; replace: string }[]) =>
    rest.expect(200, "PATCH", `/articles/${articleId}/content`, { mode: "patch", edits });
  const [{ page: top }, { page: middle }] = [await visit("long-read", { viewport: phone }), await visit("long-read", { viewport: phone })];
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
  const articleId = await publish({ slug: "away", title: "Away", content: "Before.\n" });
  const { page } = await visit("away");
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

test("[PL57] a Snapshot has no script and makes no request after it was shown", async () => {
  await publish({ slug: "frozen", title: "Frozen", content: "Frozen.\n" }, "snapshot");
  const { page, errors } = await visit("frozen");
  expect(await page.locator("script:not([type])").count()).toBe(0);
  expect(errors).toEqual([]);
});
