/**
 * `npm run docs:pages`: publishes the sample articles on a real server, takes the pictures of docs/pages in Chromium, and
 * prints what a page costs its reader.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { openContext, startBrowser } from "./browser.ts";
import { signIn } from "./clients.ts";
import { arabicPage, chinesePage, richPage, type SamplePage } from "./samplePages.ts";
import { startServer } from "./server.ts";

const folder = "docs/pages";
const maxKilobytes = 200;

interface Picture {
  readonly name: string;
  readonly sample: SamplePage;
  readonly width: number;
  readonly height: number;
  readonly colorScheme: "light" | "dark";
  /** Heading at the top of the picture; absent: the picture begins with the page. */
  readonly from?: string;
}

const pictures: readonly Picture[] = [
  { name: "desk-light", sample: richPage, width: 1280, height: 1000, colorScheme: "light" },
  { name: "desk-dark", sample: richPage, width: 1280, height: 1000, colorScheme: "dark", from: "The line that touches the sea" },
  { name: "phone-light", sample: richPage, width: 390, height: 844, colorScheme: "light" },
  { name: "phone-dark", sample: richPage, width: 390, height: 844, colorScheme: "dark", from: "From a formula to a program" },
  { name: "rtl", sample: arabicPage, width: 1280, height: 1000, colorScheme: "light" },
  { name: "cjk", sample: chinesePage, width: 1280, height: 1000, colorScheme: "light" },
];

async function publish(url: string, account: { readonly username: string; readonly password: string }): Promise<void> {
  const rest = await signIn(url, account);
  const { workspaceId } = (await rest.expect(200, "GET", "/workspaces")).workspaces[0];
  for (const { slug, title, content } of [richPage, arabicPage, chinesePage]) {
    const { articleId } = await rest.expect(201, "POST", "/articles", { workspaceId, title, content });
    await rest.expect(201, "PUT", `/articles/${articleId}/public-link`, { slug });
  }
}

async function withPage<Result>(browser: Browser, options: BrowserContextOptions, use: (page: Page) => Promise<Result>): Promise<Result> {
  const context = await openContext(browser, options);
  try {
    return await use(await context.newPage());
  } finally {
    await context.close();
  }
}

async function takePicture(browser: Browser, url: string, picture: Picture): Promise<void> {
  const { name, sample, width, height, colorScheme, from } = picture;
  const file = join(folder, `${name}.png`);
  const options = { viewport: { width, height }, colorScheme, reducedMotion: "reduce", deviceScaleFactor: 1 } as const;
  const bytes = await withPage(browser, options, async (page) => {
    await page.goto(`${url}/p/${sample.slug}`);
    if (from !== undefined) {
      await page.getByRole("heading", { name: from }).evaluate((heading) => {
        heading.scrollIntoView();
        scrollBy(0, -24);
      });
    }
    await page.waitForFunction(() =>
      [...document.images].every((image) => image.complete || image.getBoundingClientRect().top > innerHeight),
    );
    return page.screenshot({ path: file });
  });
  const kilobytes = Math.ceil(bytes.byteLength / 1000);
  if (kilobytes > maxKilobytes) throw new Error(`${file} has ${kilobytes} kB; the limit is ${maxKilobytes} kB`);
  console.log(`${file}  ${kilobytes} kB`);
}

interface Cost {
  readonly requests: number;
  readonly bytes: number;
  readonly readable: boolean;
  /** Without scripts, the browser measures neither. */
  readonly timing?: { readonly shift: number; readonly paintMs: number };
}

/** Loads the page with an empty cache. Pictures of the article are not counted, because they come from other servers. */
async function measure(browser: Browser, address: string, javaScriptEnabled: boolean): Promise<Cost> {
  const options = { viewport: { width: 390, height: 844 }, javaScriptEnabled };
  return withPage(browser, options, async (page) => {
    const session = await page.context().newCDPSession(page);
    const own = new Set<string>();
    let bytes = 0;
    session.on("Network.requestWillBeSent", ({ requestId, request }) => {
      if (new URL(request.url).origin === new URL(address).origin && !request.url.endsWith("/events")) own.add(requestId);
    });
    session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
      if (own.has(requestId)) bytes += encodedDataLength;
    });
    await session.send("Network.enable");
    await page.goto(address, { waitUntil: "load" });
    const readable = ((await page.locator(".text").boundingBox())?.height ?? 0) > 1000;
    if (!javaScriptEnabled) return { requests: own.size, bytes, readable };
    const timing = await page.evaluate(
      () =>
        new Promise<{ shift: number; paintMs: number }>((resolve) => {
          let shift = 0;
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) shift += (entry as PerformanceEntry & { value: number }).value;
          }).observe({ type: "layout-shift", buffered: true });
          const [paint] = performance.getEntriesByName("first-contentful-paint");
          requestAnimationFrame(() => requestAnimationFrame(() => resolve({ shift, paintMs: paint?.startTime ?? Number.NaN })));
        }),
    );
    return { requests: own.size, bytes, readable, timing };
  });
}

mkdirSync(folder, { recursive: true });
const [server, browser] = await Promise.all([startServer({}, { store: "embedded" }), startBrowser()]);
try {
  await publish(server.url, server.operator);
  for (const picture of pictures) await takePicture(browser, server.url, picture);
  const card = await fetch(`${server.url}/p/${arabicPage.slug}/card.png`);
  writeFileSync(join(folder, "card.png"), Buffer.from(await card.arrayBuffer()));
  for (const scripts of [true, false]) {
    const { requests, bytes, timing, readable } = await measure(browser, `${server.url}/p/${richPage.slug}`, scripts);
    const times = timing === undefined ? "" : `, layout shift ${timing.shift}, first paint ${Math.round(timing.paintMs)} ms`;
    const figures = `${requests} requests, ${(bytes / 1000).toFixed(1)} kB${times}, ${readable ? "readable" : "NOT readable"}`;
    console.log(`scripts ${scripts ? "on " : "off"}: ${figures}`);
  }
} finally {
  await browser.close();
  await server.remove();
}
