/**
 * Tests conversions with target articles while the server is killed. In the end every conversion has succeeded, and its
 * text is in one article once, with one commit of kind import.
 */
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Rest, signIn } from "../support/clients.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { untilReturns } from "../support/untilReturns.ts";

const kills = 3;
/** Conversions of each kind that each kill interrupts. */
const conversions = 1;
/** The conversion of a long text takes long enough to be interrupted at different places. */
const paragraphs = 1000;

let server: RunningServer;
let rest: Rest;
let workspaceId: string;

beforeAll(async () => {
  server = await startServer({ LIMITS: "off", LEASE_MS: "1000" });
  rest = await signIn(server.url, server.operator);
  workspaceId = (await rest.expect(200, "GET", "/workspaces")).workspaces[0].workspaceId;
});
afterAll(() => server.remove());

const toHtml = (mark: string) =>
  `<h1>${mark}</h1>${Array.from({ length: paragraphs }, (_, at) => `<p>Line ${at} of ${mark}.</p>`).join("")}`;

async function start(mark: string, target: object): Promise<string> {
  const source = { content: toHtml(mark), format: "html" };
  return (await rest.expect(202, "POST", "/conversions", { source, to: "markdown", target })).conversionId;
}

const succeeded = (conversionId: string) =>
  untilReturns(async () => {
    const { body, headers } = await rest.request("GET", `/conversions/${conversionId}`);
    if (body.status !== "succeeded") throw new Error(JSON.stringify(body));
    return headers.get("x-svc-article") ?? "";
  }, 60_000);

it(`[CV52] ${kills} kill -9 during conversions leave each text in one article, with one commit`, async () => {
  const created: string[] = [];
  for (let kill = 1; kill <= kills; kill += 1) {
    const started: { conversionId: string; mark: string; articleId?: string }[] = [];
    for (let at = 0; at < conversions; at += 1) {
      const mark = `import-${kill}-${at}`;
      const { articleId } = await rest.expect(201, "POST", "/articles", { workspaceId, title: `Old ${mark}`, content: "Old text.\n" });
      started.push({ conversionId: await start(`${mark}-new`, { workspaceId, title: `${mark}-new` }), mark: `${mark}-new` });
      started.push({ conversionId: await start(mark, { articleId }), mark, articleId });
    }
    await pause(Math.random() * 1000);
    await server.kill();
    await server.start();
    for (const { conversionId, mark, articleId } of started) {
      const written = await succeeded(conversionId);
      if (articleId === undefined) created.push(written);
      else expect(written).toBe(articleId);
      const { content } = await rest.expect<{ content: string }>(200, "GET", `/articles/${written}/content`);
      expect(content.split(`# ${mark}\n`).length - 1).toBe(1);
      expect(content.split(`of ${mark}.`).length - 1).toBe(paragraphs);
      expect(content).not.toContain("Old text.");
      const { commits } = await rest.expect(200, "GET", `/articles/${written}/commits?kind=import`);
      expect(commits.length, mark).toBe(1);
    }
  }
  const { articles } = await rest.expect(200, "GET", `/articles?workspaceId=${workspaceId}&limit=100`);
  expect(articles.length).toBe(2 * kills * conversions);
  expect(new Set(created).size).toBe(kills * conversions);
});
