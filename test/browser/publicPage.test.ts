/** Tests public pages in Chromium: what a reader sees with and without scripts, in light, dark, print and forced colours. */
import axe from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startBrowser } from "../support/browser.ts";
import { type Rest, signIn } from "../support/clients.ts";
import { createVisits, desk, phone, publishPage, type Visits } from "../support/pageVisits.ts";
import { arabicPage, chinesePage, pictureHost, picturesPage, richPage, type SamplePage, samplePicture } from "../support/samplePages.ts";
import { type RunningServer, startServer } from "../support/server.ts";

let server: RunningServer;
let rest: Rest;
let browser: Browser;
let visits: Visits;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
  visits = createVisits(browser);
  rest = await signIn(server.url, server.operator);
  for (const sample of [richPage, arabicPage, chinesePage]) await publishPage(rest, sample);
  await publishPage(rest, picturesPage, "snapshot");
});
afterEach(() => visits.close());
afterAll(async () => {
  await browser?.close();
  await server?.remove();
});

const visit = (slug: SamplePage["slug"], options?: BrowserContextOptions, prepare?: (page: Page) => Promise<unknown>) =>
  visits.open(`${server.url}/p/${slug}`, options, prepare);

/** Number of times that something moved without an action of the reader. */
const countShifts = (page: Page) =>
  page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        new PerformanceObserver((list) => resolve(list.getEntries().length)).observe({ type: "layout-shift", buffered: true });
        // Without any shift there is no entry and no call. Two frames later every shift of the load is recorded.
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(0)));
      }),
  );

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
    const { page } = await visit(sample.slug, { viewport, colorScheme });
    await page.evaluate(axe.source);
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
    expect(await countShifts(page), sample.slug).toBe(0);
  }
});

test("[PL63] a picture without a size moves nothing when it is loaded, wherever it stands", async () => {
  for (const viewport of [phone, { width: 1280, height: 2400 }]) {
    let load = () => {};
    const released = new Promise<void>((resolve) => {
      load = resolve;
    });
    const { page } = await visit(picturesPage.slug, { viewport }, (opened) =>
      opened.route(`${pictureHost}/**`, async (route) => {
        await released;
        await route.fulfill({ contentType: "image/svg+xml", body: samplePicture });
      }),
    );
    const boxes = () =>
      page.locator(".text *").evaluateAll((all) => all.map((each) => JSON.stringify([each.tagName, each.getBoundingClientRect()])));
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    const before = await boxes();
    load();
    const loaded = () =>
      page.locator(".text img").evaluateAll((all) => all.filter((each) => (each as HTMLImageElement).naturalWidth > 0).length);
    await page.locator(".text img").evaluateAll((all) => {
      for (const each of all) each.setAttribute("loading", "eager");
    });
    await expect.poll(loaded).toBe(7);
    expect(await boxes()).toEqual(before);
    expect(await countShifts(page)).toBe(0);
    const { scrollWidth, clientWidth } = await page.evaluate(() => document.documentElement);
    expect(scrollWidth).toBe(clientWidth);
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

test("[PL57] a Snapshot has no script", async () => {
  await publishPage(rest, { slug: "frozen", title: "Frozen", content: "Frozen.\n" }, "snapshot");
  const { page, errors } = await visit("frozen");
  expect(await page.locator("script:not([type])").count()).toBe(0);
  expect(errors).toEqual([]);
});

test("[PL64] a printed page has the addresses of its links and no controls, black on white", async () => {
  const { page } = await visit(richPage.slug, { viewport: desk, colorScheme: "dark" });
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  const styleOf = (selector: string, property: string, pseudo?: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((each, [name, part]) => getComputedStyle(each, part).getPropertyValue(name as string), [property, pseudo] as const);
  for (const hidden of [".contents", ".anchor", ".notice"]) expect(await styleOf(hidden, "display"), hidden).toBe("none");
  expect([await styleOf("body", "color"), await styleOf("body", "background-color")]).toEqual(["rgb(0, 0, 0)", "rgb(255, 255, 255)"]);
  expect(await styleOf('.text a[href^="http"]', "content", "::after")).toContain("https://charts.example/symbols");
  expect(await page.getByText("The eye averages what it cannot separate.").isVisible()).toBe(true);
});

test("[PL64] with forced colours, marked words and code keep a visible border", async () => {
  const { page } = await visit(richPage.slug, { viewport: desk, forcedColors: "active" });
  for (const selector of ["mark", "p code"]) {
    const border = page
      .locator(selector)
      .first()
      .evaluate((each) => getComputedStyle(each).borderTopStyle);
    expect(await border, selector).toBe("solid");
  }
});
