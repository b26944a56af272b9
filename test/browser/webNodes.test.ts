/** Tests the web app on two nodes with one Redis, behind a proxy that gives each connection to the next node. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Balancer, startBalancer } from "../support/balancer.ts";
import { startBrowser } from "../support/browser.ts";
import { signIn } from "../support/clients.ts";
import { createDesk, password } from "../support/desk.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { type Store, startStore } from "../support/stores.ts";
import { openApp, signInAt, textOf, typeAtEnd } from "../support/webApp.ts";

let store: Store;
let balancer: Balancer;
let browser: Browser;
const nodes: RunningServer[] = [];

beforeAll(async () => {
  const ports: number[] = [];
  [store, browser, balancer] = await Promise.all([startStore("redis"), startBrowser(), startBalancer(ports)]);
  for (let at = 0; at < 2; at += 1) {
    const node = await startServer({ ...store.settings, BASE_URL: balancer.url, LIMITS: '{"rate.auth":"off"}' });
    nodes.push(node);
    ports.push(Number(new URL(node.url).port));
  }
});
afterAll(async () => {
  await browser?.close();
  balancer?.close();
  await Promise.all(nodes.map((node) => node.remove()));
  await store?.remove();
});

test("[WA55] people on two nodes type together, and the death of one node loses nothing and needs no reload", async () => {
  const [first, second] = nodes as [RunningServer, RunningServer];
  const desk = await createDesk({ url: balancer.url, operator: first.operator });
  const { articleId } = await desk.ana.expect(201, "POST", "/articles", { workspaceId: desk.workspaceId, title: "Two nodes" });
  const path = `/w/${desk.workspaceId}/articles/${articleId}`;
  const people = await Promise.all(
    ["ana", "bo"].map(async (username) => {
      const person = await openApp(browser, { url: balancer.url }, path);
      await signInAt(person.page, { username, password });
      await textOf(person.page).waitFor();
      return person;
    }),
  );
  const [ana, bo] = people.map(({ page }) => page) as [(typeof people)[0]["page"], (typeof people)[0]["page"]];
  await typeAtEnd(ana, "ana-before ");
  await expect.poll(() => textOf(bo).textContent()).toContain("ana-before");
  const socketsOf = async ({ url, operatorToken }: RunningServer) =>
    Number(
      /^svc_sockets\{[^}]*kind="collab"[^}]*\} (\d+)$/m.exec(
        await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${operatorToken}` } })).text(),
      )?.[1],
    );
  await expect.poll(() => Promise.all(nodes.map(socketsOf))).toEqual([1, 1]);
  await ana.evaluate(() => {
    document.body.dataset.loaded = "once";
  });
  await first.kill();
  await typeAtEnd(ana, "ana-during ");
  await typeAtEnd(bo, "bo-during ");
  const all = /(?=.*ana-before)(?=.*ana-during)(?=.*bo-during)/s;
  for (const page of [ana, bo]) {
    await page.getByText("Saved", { exact: true }).waitFor();
    await expect.poll(() => textOf(page).textContent()).toMatch(all);
  }
  expect(await ana.evaluate(() => document.body.dataset.loaded)).toBe("once");
  const rest = await signIn(second.url, { username: "ana", password });
  expect((await rest.expect(200, "GET", `/articles/${articleId}/content`)).content).toMatch(all);
  await Promise.all(people.map(({ context }) => context.close()));
});
