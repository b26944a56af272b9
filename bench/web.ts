/**
 * `npm run bench:web` measures the web app in Chromium on a processor that is slowed four times. It measures the size of
 * the scripts before the editor, the time until the list of articles shows, and the time until a keystroke shows in a text of 200 kB. It prints the figures
 * and writes `bench/web.json`.
 */
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import type { Browser, CDPSession, Page } from "playwright-core";
import { openContext, startBrowser } from "../test/support/browser.ts";
import { signIn } from "../test/support/clients.ts";
import { type RunningServer, startServer } from "../test/support/server.ts";
import { signInAt, textOf } from "../test/support/webApp.ts";
import { percentile } from "./live/load.ts";

const slowdown = 4;
const rounds = 5;
const textBytes = 200_000;
const keys = 120;
const articles = 200;

/** Marks the frame that shows the first article. It is text, because the compiler adds names to functions that a page does not have. */
const markList = {
  content: `requestAnimationFrame(function look() {
    if (document.querySelector('ul[aria-label="Articles"] li') === null) requestAnimationFrame(look);
    else requestAnimationFrame(() => performance.mark("list"));
  });`,
};

/** Collects the milliseconds from each keystroke to the end of its frame; the message arrives after the frame was painted. */
const timeKeys = `globalThis.keyTimes = [];
  addEventListener("keydown", () => {
    const startMs = performance.now();
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => keyTimes.push(performance.now() - startMs);
      port2.postMessage(undefined);
    });
  }, { capture: true });`;

interface Loaded {
  /** Bytes as they went over the wire. */
  readonly scriptBytes: number;
  readonly styleBytes: number;
  /** From the start of the navigation to the frame that shows the first article. */
  readonly listMs: number;
}

function toParagraphs(bytes: number): string {
  let text = "# A long text\n\n";
  for (let at = 1; text.length < bytes; at += 1) {
    text +=
      at % 12 === 0
        ? `## Part ${at / 12}\n\n`
        : `Paragraph ${at} has **strong** words, a [link](https://example.com/${at}) and \`code\`, and goes on for a while.\n\n`;
  }
  return text;
}

async function openSignedIn(browser: Browser, server: RunningServer): Promise<{ readonly page: Page; readonly cdp: CDPSession }> {
  const context = await openContext(browser, { viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.goto(server.url);
  await signInAt(page, server.operator);
  await page.getByRole("navigation", { name: "Workspace" }).waitFor();
  const cdp = await context.newCDPSession(page);
  await cdp.send("Network.enable");
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
  return { page, cdp };
}

async function measureLoad(browser: Browser, server: RunningServer, path: string): Promise<Loaded> {
  const { page, cdp } = await openSignedIn(browser, server);
  await cdp.send("Network.clearBrowserCache");
  const types = new Map<string, string>();
  const bytes = { Script: 0, Stylesheet: 0 };
  cdp.on("Network.responseReceived", ({ requestId, type }) => types.set(requestId, type));
  cdp.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    const type = types.get(requestId);
    if (type === "Script" || type === "Stylesheet") bytes[type] += encodedDataLength;
  });
  await page.addInitScript(markList);
  await page.goto(server.url + path);
  await page.waitForFunction(() => performance.getEntriesByName("list").length > 0);
  const listMs = await page.evaluate(() => performance.getEntriesByName("list")[0]?.startTime ?? Number.NaN);
  await page.context().close();
  return { scriptBytes: bytes.Script, styleBytes: bytes.Stylesheet, listMs };
}

/** Milliseconds from each keystroke to the end of the frame that shows it. */
async function measureKeys(browser: Browser, server: RunningServer, path: string): Promise<readonly number[]> {
  const { page } = await openSignedIn(browser, server);
  await page.goto(server.url + path);
  await textOf(page).click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("End");
  await page.evaluate(timeKeys);
  await page.keyboard.type("The quick brown fox. ".repeat(Math.ceil(keys / 21)).slice(0, keys), { delay: 60 });
  const times = await page.evaluate(() => (globalThis as unknown as { readonly keyTimes: readonly number[] }).keyTimes);
  await page.context().close();
  // The first ones compile the code.
  return times.slice(20);
}

const median = (values: readonly number[]): number =>
  percentile(
    values.toSorted((one, other) => one - other),
    0.5,
  );

const server = await startServer({ LIMITS: '{"rate.auth":"off"}' }, { store: "embedded" });
const browser = await startBrowser();
try {
  const rest = await signIn(server.url, server.operator);
  const { workspaceId } = (await rest.expect(200, "GET", "/workspaces")).workspaces[0];
  for (let at = 0; at < articles; at += 1) await rest.expect(201, "POST", "/articles", { workspaceId, title: `Article ${at}` });
  const { articleId } = await rest.expect(201, "POST", "/articles", { workspaceId, title: "Long", content: toParagraphs(textBytes) });

  const loads: Loaded[] = [];
  for (let round = 0; round < rounds; round += 1) loads.push(await measureLoad(browser, server, `/w/${workspaceId}/articles`));
  const times = (await measureKeys(browser, server, `/w/${workspaceId}/articles/${articleId}`)).toSorted((one, other) => one - other);
  const figures = {
    scriptKilobytes: median(loads.map(({ scriptBytes }) => scriptBytes)) / 1000,
    styleKilobytes: median(loads.map(({ styleBytes }) => styleBytes)) / 1000,
    listMs: median(loads.map(({ listMs }) => listMs)),
    keyP50Ms: percentile(times, 0.5),
    keyP95Ms: percentile(times, 0.95),
  };
  console.table(figures);
  const measuredOn = {
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} × ${cpus()[0]?.model ?? "unknown"}`,
    node: process.version,
    browser: browser.version(),
  };
  writeFileSync(join(import.meta.dirname, "web.json"), `${JSON.stringify({ ...measuredOn, slowdown, rounds, figures }, null, 2)}\n`);
} finally {
  await browser.close();
  await server.remove();
}
