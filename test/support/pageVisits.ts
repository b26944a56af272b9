/** Publishes articles and opens their pages in a browser, for the browser tests. */
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { openContext } from "./browser.ts";
import type { Rest } from "./clients.ts";
import type { SamplePage } from "./samplePages.ts";

export const phone = { width: 390, height: 844 };
export const desk = { width: 1280, height: 900 };

export interface Visit {
  readonly page: Page;
  /** Errors that the page wrote to the console, such as violations of its policy. */
  readonly errors: readonly string[];
}

export interface Visits {
  /** Opens an address in a context of its own. `prepare` runs before the page is loaded. */
  open(url: string, options?: BrowserContextOptions, prepare?: (page: Page) => Promise<unknown>): Promise<Visit>;
  /** Closes all opened pages. */
  close(): Promise<void>;
}

export function createVisits(browser: Browser): Visits {
  const contexts: BrowserContext[] = [];
  return {
    async open(url, options, prepare) {
      const context = await openContext(browser, options);
      contexts.push(context);
      const page = await context.newPage();
      const errors: string[] = [];
      page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
      page.on("pageerror", (error) => errors.push(error.message));
      await prepare?.(page);
      await page.goto(url, { waitUntil: prepare === undefined ? "load" : "domcontentloaded" });
      return { page, errors };
    },
    async close() {
      for (const context of contexts.splice(0)) await context.close();
    },
  };
}

/** Makes an article public and returns its id. */
export async function publishPage(rest: Rest, { slug, title, content }: SamplePage, mode = "live"): Promise<string> {
  const { workspaces } = await rest.expect(200, "GET", "/workspaces");
  const { workspaceId } = workspaces[0];
  const { articleId } = await rest.expect(201, "POST", "/articles", { workspaceId, title, content });
  await rest.expect(201, "PUT", `/articles/${articleId}/public-link`, { slug, mode });
  return articleId;
}
