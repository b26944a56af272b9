/** Tests the web app in Chromium, on the real server: sessions, and writing together over faults. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startBrowser } from "../support/browser.ts";
import { createDesk, type Desk, password } from "../support/desk.ts";
import { startFaultProxy } from "../support/faultProxy.ts";
import { freePort, type RunningServer, startServer } from "../support/server.ts";
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

async function open(username: "ana" | "bo", path: string): Promise<Person> {
  const person = await openApp(browser, server, path);
  people.push(person);
  await signInAt(person.page, { username, password });
  return person;
}

async function createArticle(title: string, content = ""): Promise<{ readonly articleId: string; readonly path: string }> {
  const { articleId } = await desk.ana.expect(201, "POST", "/articles", { workspaceId: desk.workspaceId, title, content });
  return { articleId, path: `/w/${desk.workspaceId}/articles/${articleId}` };
}

async function readText(articleId: string): Promise<string> {
  const { content } = await desk.ana.expect(200, "GET", `/articles/${articleId}/content`);
  return content;
}

test("[WA50] the setup link of a new server leads to an account, a workspace and a first article", async () => {
  const fresh = await startServer({ SVC_ADMIN_USERNAME: "", SVC_ADMIN_PASSWORD: "" });
  try {
    const linkOf = () => /http:\S+\/setup#\S+/.exec(fresh.stderr)?.[0] ?? "";
    await expect.poll(linkOf).not.toBe("");
    const link = linkOf();
    const { page, context, faults } = await openApp(browser, fresh, link.slice(fresh.url.length));
    await page.getByLabel("Username").fill("first");
    await page.getByLabel("Password", { exact: true }).fill("short");
    await page.getByRole("button", { name: "Create account" }).click();
    await page
      .getByText(/at least 10/)
      .last()
      .waitFor();
    await page.getByLabel("Password", { exact: true }).fill("correct horse battery");
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByRole("heading", { name: "Write the first article" }).waitFor();
    await page.getByRole("button", { name: "New article" }).first().click();
    await page.getByLabel("Title", { exact: true }).fill("Kites");
    await page.getByRole("button", { name: "Create article" }).click();
    await textOf(page).waitFor();
    await typeAtEnd(page, "Up they go.");
    await page.getByText("Saved", { exact: true }).waitFor();
    expect(faults).toEqual([]);
    await context.close();
  } finally {
    await fresh.remove();
  }
});

test("[WA51] an address shows the sign-in form to strangers, and then the page", async () => {
  const { path } = await createArticle("Found by its address", "Here it is.\n");
  const { page } = await open("ana", path);
  await expect.poll(() => textOf(page).textContent()).toContain("Here it is.");
  expect(new URL(page.url()).pathname).toBe(path);
});

test("[WA52] signing out in one tab signs out all tabs and deletes the texts that the browser kept", async () => {
  const { path } = await createArticle("Shared by tabs", "Text.\n");
  const { page, context } = await open("ana", path);
  await textOf(page).waitFor();
  const other = await context.newPage();
  await other.goto(`${server.url}/w/${desk.workspaceId}/articles`);
  await other.getByRole("link", { name: /Shared by tabs/ }).waitFor();
  const kept = () => other.evaluate(async () => (await indexedDB.databases()).length);
  await expect.poll(kept).toBe(1);
  await other.getByRole("button", { name: /Your account/ }).click();
  await other.getByRole("menuitem", { name: "Sign out" }).click();
  for (const tab of [page, other]) await tab.getByRole("heading", { name: "Sign in" }).waitFor();
  await expect.poll(kept).toBe(0);
  await signInAt(other, { username: "cy.out", password });
  await other.getByText("This does not exist, or you may not see it").waitFor();
  expect(await other.getByText("Shared by tabs").count()).toBe(0);
});

test("[WA54] what two people type reaches both, and is on disk when the page says Saved", async () => {
  const { articleId, path } = await createArticle("Together");
  const [ana, bo] = await Promise.all([open("ana", path), open("bo", path)]);
  await typeAtEnd(ana.page, "Ana was here. ");
  await expect.poll(() => textOf(bo.page).textContent()).toContain("Ana was here.");
  await typeAtEnd(bo.page, "Bo too.");
  await expect.poll(() => textOf(ana.page).textContent()).toContain("Bo too.");
  await bo.page.getByText("Saved", { exact: true }).waitFor();
  await ana.page.getByRole("list", { name: "Also here" }).getByRole("img", { name: "bo" }).waitFor();
  await server.kill();
  await server.start();
  expect(await readText(articleId)).toContain("Bo too.");
});

test("[WA53] [WA55] two people type on while the server is killed and started, without a reload and without a loss", async () => {
  const { articleId, path } = await createArticle("Over a kill");
  const [ana, bo] = await Promise.all([open("ana", path), open("bo", path)]);
  await Promise.all([typeAtEnd(ana.page, "before "), textOf(bo.page).waitFor()]);
  await expect.poll(() => textOf(bo.page).textContent()).toContain("before ");
  await ana.page.evaluate(() => {
    document.body.dataset.loaded = "once";
  });
  await server.kill();
  await typeAtEnd(ana.page, "ana-during ");
  await typeAtEnd(bo.page, "bo-during ");
  await ana.page.getByText(/not sent yet/).waitFor();
  await server.start();
  for (const { page } of [ana, bo]) {
    await page.getByText("Saved", { exact: true }).waitFor();
    await expect.poll(() => textOf(page).textContent()).toMatch(/(?=.*before)(?=.*ana-during)(?=.*bo-during)/s);
  }
  expect(await ana.page.evaluate(() => document.body.dataset.loaded)).toBe("once");
  const text = await readText(articleId);
  for (const typed of ["before", "ana-during", "bo-during"]) expect(text.split(typed)).toHaveLength(2);
});

test("[WA56] text typed without a connection survives a reload and is merged when the connection is back", async () => {
  const port = await freePort();
  const network = await startFaultProxy({ host: "127.0.0.1", port });
  const url = `http://127.0.0.1:${network.port}`;
  const far = await startServer({ PORT: String(port), BASE_URL: url });
  try {
    const { ana, bo, workspaceId } = await createDesk(far);
    const { articleId } = await ana.expect(201, "POST", "/articles", { workspaceId, title: "Under way" });
    const { page, context } = await openApp(browser, { url }, `/w/${workspaceId}/articles/${articleId}`);
    await signInAt(page, { username: "ana", password });
    await typeAtEnd(page, "at the desk ");
    await page.getByText("Saved", { exact: true }).waitFor();
    network.set({ kind: "cut" });
    await typeAtEnd(page, "in the train ");
    await page.getByText(/not sent yet/).waitFor();
    const questions: string[] = [];
    page.on("dialog", (dialog) => {
      questions.push(dialog.message());
      void dialog.dismiss();
    });
    await page.getByRole("button", { name: /Your account/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await expect.poll(() => questions).toEqual([expect.stringMatching(/^One article has changes that are only in this browser/)]);
    await bo.expect(200, "PATCH", `/articles/${articleId}/content`, { mode: "prepend", content: "from the office\n" });
    network.set({ kind: "pass" });
    await page.reload();
    const all = /(?=.*at the desk)(?=.*in the train)(?=.*from the office)/s;
    await expect.poll(() => textOf(page).textContent()).toMatch(all);
    await page.getByText("Saved", { exact: true }).waitFor();
    expect((await ana.expect(200, "GET", `/articles/${articleId}/content`)).content).toMatch(all);
    await context.close();
  } finally {
    await far.remove();
    await network.close();
  }
});

test("[WA56] typing goes on and is saved after the browser has deleted its copy", async () => {
  const { articleId, path } = await createArticle("Without a copy");
  const { page, faults } = await open("ana", path);
  await typeAtEnd(page, "with a copy ");
  await page.getByText("Saved", { exact: true }).waitFor();
  await page.evaluate(async () => {
    for (const { name = "" } of await indexedDB.databases()) indexedDB.deleteDatabase(name);
  });
  await expect.poll(() => page.evaluate(async () => (await indexedDB.databases()).length)).toBe(0);
  await typeAtEnd(page, "without a copy ");
  await expect.poll(() => readText(articleId)).toContain("with a copy without a copy");
  await page.getByText("Saved", { exact: true }).waitFor();
  expect(faults).toEqual([]);
});

test("[WA57] a person whose access ends while the article is open sees it and keeps the text", async () => {
  const { path } = await createArticle("For a while", "Words of ana.\n");
  const { page, context } = await open("bo", path);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await expect.poll(() => textOf(page).textContent()).toContain("Words of ana.");
  await desk.admin.expect(204, "DELETE", `/workspaces/${desk.workspaceId}/members/bo`);
  try {
    await page.getByRole("alert").getByRole("button", { name: "Copy the text" }).click();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe("Words of ana.\n");
    expect(await textOf(page).textContent()).toContain("Words of ana.");
  } finally {
    await desk.admin.expect(201, "POST", `/workspaces/${desk.workspaceId}/members`, { username: "bo", role: "member" });
  }
});

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
}

test("[WA58] [WA59] the main screens pass axe in both themes and at 390 px, and ask no other host", async () => {
  const { path } = await createArticle(
    "Kites and how they fly",
    "# Kites\n\nA *short* text with [a link](https://example.com).\n\n- [ ] a task\n",
  );
  const { page, faults, foreign } = await open("ana", path);
  await textOf(page).waitFor();
  const screens = [
    path,
    `${path}?panel=reviews`,
    `${path}?panel=history`,
    `${path}?panel=publish`,
    "articles",
    "topics",
    "runs",
    "activity",
  ];
  const settings = ["settings/general", "settings/members", "settings/keys", "settings/webhooks"];
  const faultsOfScreens: string[] = [];
  for (const screen of [...screens, ...settings, "/account"]) {
    const address = server.url + (screen.startsWith("/") ? screen : `/w/${desk.workspaceId}/${screen}`);
    for (const [theme, width] of [
      ["light", 1440],
      ["dark", 1440],
      ["light", 390],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.evaluate((chosen) => localStorage.setItem("theme", chosen), theme);
      await page.goto(address);
      await page.getByRole("heading").first().waitFor();
      await expect.poll(() => page.locator("[aria-busy=true]").count()).toBe(0);
      // In the page, because its policy forbids to add scripts.
      const { violations } = (await page.evaluate(`${axe}; axe.run(document, { resultTypes: ["violations"] })`)) as AxeResult;
      const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`);
      faultsOfScreens.push(...found.map((fault) => `${screen} ${theme} ${width}: ${fault}`));
      const isTooWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      if (isTooWide) faultsOfScreens.push(`${screen} is wider than ${width} px`);
    }
  }
  expect(faultsOfScreens).toEqual([]);
  expect(faults).toEqual([]);
  expect(foreign).toEqual([]);
});
