/**
 * Starts Debian's Chromium for the browser tests and for the pictures in docs. Nothing but the server under test and the
 * pictures of the samples is reachable from a page.
 */
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from "playwright-core";
import { pictureHost, samplePicture } from "./samplePages.ts";

const executablePath = "/usr/bin/chromium";

export function startBrowser(): Promise<Browser> {
  const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
  return chromium.launch({ executablePath, args: [...args, "--disable-component-update", "--disable-sync", "--font-render-hinting=none"] });
}

export async function openContext(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext({ locale: "en-GB", timezoneId: "UTC", ...options });
  await context.route(`${pictureHost}/**`, (route) => route.fulfill({ contentType: "image/svg+xml", body: samplePicture }));
  return context;
}
