/** Opens the web app in Chromium as a person does: signs in with the form and finds things by their accessible names. */
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { openContext } from "./browser.ts";
import type { RunningServer } from "./server.ts";

export interface Person {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Texts of errors that the page threw, and of what its policy refused. */
  readonly faults: readonly string[];
  /** Addresses of other hosts that the page asked for. */
  readonly foreign: readonly string[];
}

/** Opens a window of its own at the path. */
export async function openApp(browser: Browser, server: Pick<RunningServer, "url">, path = "/"): Promise<Person> {
  const context = await openContext(browser);
  const faults: string[] = [];
  const foreign: string[] = [];
  context.on("weberror", (error) => faults.push(error.error().message));
  context.on("console", (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) faults.push(message.text());
  });
  context.on("request", (request) => {
    if (!request.url().startsWith(server.url) && !/^(data|blob):/.test(request.url())) foreign.push(request.url());
  });
  const page = await context.newPage();
  await page.goto(server.url + path);
  return { context, page, faults, foreign };
}

/** Fills in the sign-in form, at whatever address it shows. */
export async function signInAt(
  page: Page,
  { username, password }: { readonly username: string; readonly password: string },
): Promise<void> {
  await page.getByLabel("Username").fill(username);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** The text of the open article, where the person types. */
export function textOf(page: Page): Locator {
  return page.getByRole("textbox", { name: "Text of content.md" });
}

/** Clicks at the end of the text and types there. */
export async function typeAtEnd(page: Page, typed: string): Promise<void> {
  const text = textOf(page);
  await text.click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type(typed);
}
