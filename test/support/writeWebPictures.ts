/**
 * `npm run docs:web`: fills a real server with a sample workspace and takes the pictures of docs/web in Chromium: each screen
 * in both themes, and on a phone.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { openContext, startBrowser } from "./browser.ts";
import { createSampleWorkspace, type SampleWorkspace } from "./sampleWorkspace.ts";
import { type RunningServer, startServer } from "./server.ts";
import { signInAt } from "./webApp.ts";

const folder = "docs/web";
const maxKilobytes = 250;

interface Look {
  readonly name: string;
  readonly colorScheme: "light" | "dark";
  readonly width: number;
  readonly height: number;
}

const looks: readonly Look[] = [
  { name: "light", colorScheme: "light", width: 1440, height: 900 },
  { name: "dark", colorScheme: "dark", width: 1440, height: 900 },
  { name: "phone", colorScheme: "light", width: 390, height: 844 },
];

interface Screen {
  readonly name: string;
  /** Below the address of the workspace; an address of its own if it begins with a slash. */
  readonly path: string;
  /** The last thing that the screen reads. */
  readonly shows: (page: Page) => Locator;
  /** Makes the screen look as people use it. */
  readonly prepare?: (page: Page) => Promise<void>;
}

const screensOf = ({ articleId, topicId, runId }: SampleWorkspace): readonly Screen[] => [
  { name: "articles", path: "articles", shows: (page) => page.getByRole("link", { name: /How far a light reaches/ }) },
  { name: "article", path: `articles/${articleId}`, shows: (page) => page.getByText("580 words") },
  {
    name: "article-page",
    path: `articles/${articleId}?view=both`,
    shows: (page) => page.frameLocator("iframe").getByRole("heading", { name: "The line that touches the sea" }),
  },
  {
    name: "article-reviews",
    path: `articles/${articleId}?panel=reviews`,
    shows: (page) => page.getByText("Shorter, and it keeps the rhythm."),
  },
  { name: "article-history", path: `articles/${articleId}?panel=history`, shows: (page) => page.getByText("Say which beach") },
  {
    name: "article-publish",
    path: `articles/${articleId}?panel=publish`,
    shows: (page) => page.getByText("The checks found nothing in the newest text."),
  },
  { name: "topics-board", path: "topics?view=board", shows: (page) => page.getByText("Kites in high wind") },
  { name: "topics-table", path: "topics?view=table", shows: (page) => page.getByText("Kites in high wind") },
  { name: "topic", path: `topics/${topicId}`, shows: (page) => page.getByRole("button", { name: /Approve the outline/ }) },
  { name: "runs", path: "runs", shows: (page) => page.getByText("Kites in high wind") },
  { name: "run", path: `runs/${runId}`, shows: (page) => page.getByText("Waits for approval: Outline") },
  { name: "activity", path: "activity", shows: (page) => page.getByText("Waits for approval: Outline") },
  { name: "settings-general", path: "settings/general", shows: (page) => page.getByLabel("Name") },
  { name: "settings-members", path: "settings/members", shows: (page) => page.getByText("bo", { exact: true }) },
  { name: "settings-keys", path: "settings/keys", shows: (page) => page.getByText("You have no API keys") },
  { name: "settings-webhooks", path: "settings/webhooks", shows: (page) => page.getByText("There is no webhook") },
  { name: "account", path: "/account", shows: (page) => page.getByText("Accounts of this server") },
  {
    name: "palette",
    path: "articles",
    shows: (page) => page.getByRole("link", { name: /How far a light reaches/ }),
    async prepare(page) {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: /Search articles/ }).fill("light");
      await page.getByRole("option", { name: /How far a light reaches/ }).waitFor();
    },
  },
];

async function save(page: Page, name: string): Promise<void> {
  const file = join(folder, `${name}.png`);
  const { byteLength } = await page.screenshot({ path: file, animations: "disabled", caret: "hide" });
  const kilobytes = Math.ceil(byteLength / 1000);
  if (kilobytes > maxKilobytes) throw new Error(`${file} has ${kilobytes} kB; the limit is ${maxKilobytes} kB`);
  console.log(`${file}  ${kilobytes} kB`);
}

async function takePictures(browser: Browser, { url, operator }: RunningServer, sample: SampleWorkspace, look: Look): Promise<void> {
  const { colorScheme, width, height } = look;
  const context = await openContext(browser, { viewport: { width, height }, colorScheme, reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.goto(url);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await save(page, `sign-in-${look.name}`);
  await signInAt(page, { username: operator.username, password: operator.password });
  await page.locator("#content").waitFor();
  for (const { name, path, shows, prepare } of screensOf(sample)) {
    await page.goto(url + (path.startsWith("/") ? path : `/w/${sample.workspaceId}/${path}`));
    await page.getByRole("heading").first().waitFor();
    await shows(page).first().waitFor();
    await page.waitForFunction(() => [...document.images].every((image) => image.complete));
    await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
    await prepare?.(page);
    await save(page, `${name}-${look.name}`);
  }
  await context.close();
}

mkdirSync(folder, { recursive: true });
const server = await startServer({ LIMITS: '{"rate.auth":"off"}' }, { store: "embedded" });
const browser = await startBrowser();
try {
  const sample = await createSampleWorkspace(server);
  for (const look of looks) await takePictures(browser, server, sample, look);
} finally {
  await browser.close();
  await server.remove();
}
