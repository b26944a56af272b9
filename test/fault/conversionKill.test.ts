/**
 * Tests conversions with target articles while the server is killed. In the end every conversion has succeeded, and its
 * text is in one article once, with one commit of kind import.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Rest, signIn } from "../support/clients.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { untilReturns } from "../support/untilReturns.ts";

/** All kills hit the same conversions, unless these are faster. */
const kills = 3;
const paragraphs = 200;

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

async function statuses(): Promise<readonly string[]> {
  const { conversions } = await rest.expect<{ conversions: { status: string }[] }>(200, "GET", "/conversions");
  return conversions.map(({ status }) => status);
}

/** The store may not answer directly after a start, so the reads are repeated. */
const until = (isReached: (statuses: readonly string[]) => boolean) =>
  untilReturns(async () => {
    const found = await statuses();
    if (!isReached(found)) throw new Error(found.join(", "));
    return found;
  }, 100_000);

it(`[CV52] ${kills} kill -9 during conversions leave each text in one article, with one commit`, async () => {
  const { articleId } = await rest.expect(201, "POST", "/articles", { workspaceId, title: "Old", content: "Old text.\n" });
  const ids = [await start("new", { workspaceId, title: "New" }), await start("replaced", { articleId })];
  for (let kill = 1; kill <= kills; kill += 1) {
    await server.kill();
    await server.start();
    // The next kill comes while a conversion runs, or after both have ended.
    await until((found) => found.includes("running") || !found.includes("queued"));
  }
  expect(await until((found) => found.every((status) => status !== "queued" && status !== "running"))).toEqual(["succeeded", "succeeded"]);
  for (const [at, mark] of ["new", "replaced"].entries()) {
    const written = (await rest.request("GET", `/conversions/${ids[at]}`)).headers.get("x-svc-article");
    if (mark === "replaced") expect(written).toBe(articleId);
    const { content } = await rest.expect<{ content: string }>(200, "GET", `/articles/${written}/content`);
    expect(content.split(`# ${mark}\n`).length - 1).toBe(1);
    expect(content.split(`of ${mark}.`).length - 1).toBe(paragraphs);
    expect(content).not.toContain("Old text.");
    const { commits } = await rest.expect(200, "GET", `/articles/${written}/commits?kind=import`);
    expect(commits.length, mark).toBe(1);
  }
  const { articles } = await rest.expect(200, "GET", `/articles?workspaceId=${workspaceId}&limit=100`);
  expect(articles.length).toBe(2);
});
