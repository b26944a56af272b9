/** Tests topics and runs of the web app in Chromium, on the real server, with the built-in composer as the model. */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startBrowser } from "../support/browser.ts";
import { createDesk, type Desk, password } from "../support/desk.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { startWaitingRun } from "../support/waitingRun.ts";
import { openApp, type Person, signInAt } from "../support/webApp.ts";

let server: RunningServer;
let browser: Browser;
let desk: Desk;
const people: Person[] = [];

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer({ LIMITS: '{"rate.auth":"off","rate.writes":"off"}' }), startBrowser()]);
  desk = await createDesk(server);
});
afterEach(async () => {
  await Promise.all(people.splice(0).map(({ context }) => context.close()));
});
afterAll(async () => {
  await browser?.close();
  await server?.remove();
});

/** Opens a page of the workspace as Ana. */
async function open(path: string, workspaceId = desk.workspaceId): Promise<Page> {
  const person = await openApp(browser, server, `/w/${workspaceId}/${path}`);
  people.push(person);
  await signInAt(person.page, { username: "ana", password });
  return person.page;
}

async function clickIn(page: Page, dialog: string, button: string): Promise<void> {
  await page.getByRole("dialog", { name: dialog }).getByRole("button", { name: button, exact: true }).click();
}

const eventsOf = (page: Page) => page.getByRole("region", { name: "Timeline" }).getByRole("listitem");

test("[WA70] [WA72] a topic goes from its creation to an approved draft in the app", async () => {
  const page = await open("topics");
  await page.getByRole("button", { name: "Set up a content project" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Lighthouses");
  await page.getByRole("button", { name: "Create the project" }).click();
  await page.getByRole("button", { name: "New topic" }).first().click();
  await page.getByLabel("Title", { exact: true }).fill("Why lamps turn");
  await page.getByLabel("Audience").fill("keepers");
  await page.getByLabel("Content project").last().selectOption({ label: "Lighthouses" });
  await page.getByRole("button", { name: "Create topic" }).click();
  await page.getByRole("heading", { name: "Why lamps turn" }).waitFor();

  await page.getByText(/^Not possible now/).click();
  await page.getByText("The topic has no committed outline yet.").first().waitFor();
  await page.getByRole("button", { name: "Start the pipeline…" }).click();
  await clickIn(page, "Start the pipeline", "Start the pipeline");
  await page.getByRole("link", { name: "Read and decide" }).click();

  const approval = page.getByRole("region", { name: "Outline waits for approval" });
  await approval.getByRole("heading", { name: "Why lamps turn" }).waitFor();
  await approval.getByRole("button", { name: /^Changes/ }).click();
  await approval.getByText("+# Why lamps turn").waitFor();
  await approval.getByRole("button", { name: "Approve…" }).click();
  await clickIn(page, "Approve the outline", "Approve");
  await page.getByRole("link", { name: "The next run" }).click();
  await page.getByText("Draft waits for approval").or(page.getByText("The run is complete")).first().waitFor();

  await page.getByRole("link", { name: "Why lamps turn" }).click();
  await page.getByRole("button", { name: "Draft", exact: true }).click();
  await page.getByRole("button", { name: "Approve…", exact: true }).click();
  await clickIn(page, "Approve the draft", "Approve the draft");
  await page.getByText("by ana", { exact: false }).first().waitFor();
  await page.getByRole("button", { name: "History" }).click();
  await page.getByText("approved the draft").waitFor();
});

test("[WA71] the page of a run follows it over a kill of the server, and over a retry", async () => {
  const { runId } = await startWaitingRun(desk.ana, desk.workspaceId, "Over a kill");
  const page = await open(`runs/${runId}`);
  await page.getByText("Waits for approval: Outline").waitFor();
  await server.kill();
  await server.start();
  await page.getByRole("button", { name: "Cancel…" }).click();
  await clickIn(page, "Cancel this run?", "Cancel the run");
  await page.getByText("ana cancelled the run").waitFor();
  await page.getByRole("button", { name: "Retry…" }).click();
  await clickIn(page, "Retry the run", "Retry");
  await expect.poll(() => page.getByText("Waits for approval: Outline").count()).toBe(2);
  const { events } = await desk.ana.expect(200, "GET", `/runs/${runId}/events`);
  await expect.poll(() => eventsOf(page).count()).toBe(events.length);
});

test("[WA73] a hidden tab holds no event stream and continues where it was", async () => {
  const { runId } = await startWaitingRun(desk.ana, desk.workspaceId, "Hidden");
  const page = await open(`runs/${runId}`);
  await page.getByText("Waits for approval: Outline").waitFor();
  const shown = await eventsOf(page).count();
  const show = (state: "hidden" | "visible") =>
    page.evaluate((value) => {
      Object.defineProperty(document, "visibilityState", { value, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, state);
  const closed = page.waitForEvent("requestfailed", (request) => request.url().includes("/stream"));
  await show("hidden");
  await closed;
  await desk.ana.expect(202, "POST", `/runs/${runId}/cancel`, {});
  const again = page.waitForRequest((request) => request.url().includes("/stream"));
  await show("visible");
  expect((await again).headers()["last-event-id"]).toBe(`${runId}:${shown}`);
  await page.getByText("ana cancelled the run").waitFor();
});

test("[WA74] a list of topics reaches its last one with few rows in the page", async () => {
  const { workspaceId } = await desk.ana.expect(201, "POST", "/workspaces", { name: "Many", type: "team" });
  const count = 250;
  for (let made = 0; made < count; made += 25) {
    const part = Array.from({ length: 25 }, (_, at) => ({ title: `Topic ${made + at + 1}`, targetAudience: "everybody" }));
    await Promise.all(part.map((topic) => desk.ana.expect(201, "POST", `/workspaces/${workspaceId}/topics`, topic)));
  }
  const page = await open("topics?view=table", workspaceId);
  const list = page.getByRole("list", { name: "Topics" });
  await list.getByRole("listitem").first().waitFor();
  await expect
    .poll(async () => {
      await list.evaluate((element) => element.parentElement?.scrollTo(0, element.scrollHeight));
      return list.getByText("T-1", { exact: true }).count();
    })
    .toBe(1);
  expect(await list.getByRole("listitem").count()).toBeLessThan(60);
});

test("[WA75] unsaved changes of a topic are left only after a question, and only they are sent", async () => {
  const topics = `/workspaces/${desk.workspaceId}/topics`;
  const { shortId } = await desk.ana.expect(201, "POST", topics, { title: "Fields", targetAudience: "editors" });
  const page = await open(`topics/${shortId}`);
  await page.getByLabel("Thesis").fill("It holds.");
  await page.getByRole("button", { name: "History" }).click();
  await clickIn(page, "Leave without saving?", "Cancel");
  await desk.bo.expect(200, "PATCH", `${topics}/${shortId}`, { cluster: "Signals" });
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("The topic is saved.").waitFor();
  const topic = await desk.ana.expect(200, "GET", `${topics}/${shortId}`);
  expect(topic).toMatchObject({ thesis: "It holds.", cluster: "Signals" });
  const { events } = await desk.ana.expect(200, "GET", `${topics}/${shortId}/audit`);
  expect(events[0].metadata).toEqual({ fields: ["thesis"] });
});
