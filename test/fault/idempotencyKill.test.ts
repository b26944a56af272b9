/**
 * Tests a request with an Idempotency-Key whose server is killed directly after each of its transactions in turn. A
 * repeat with the same key must find or finish the work once, and later repeats must get the same answer.
 *
 * The server is the real one. A module that is loaded first sits between the server and LMDB. It kills the process with
 * SIGKILL when the chosen transaction is on disk and before the server is notified.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRest, type Rest, signIn } from "../support/clients.ts";
import { type RunningServer, type Settings, startServer } from "../support/server.ts";

const killer = `
import { open as openReal } from "./node-index.js?real";
export * from "./node-index.js?real";
let left = Infinity;
process.on("SIGUSR2", () => {
  left = Number(process.env.KILL_AFTER);
  process.stderr.write("armed " + process.pid + "\\n");
});
export function open(...args) {
  const db = openReal(...args);
  const write = db.batch.bind(db);
  db.batch = async (work) => {
    const result = await write(work);
    left -= 1;
    if (left <= 0) process.kill(process.pid, "SIGKILL");
    return result;
  };
  return db;
}`;
const loader = `
export async function load(url, context, next) {
  if (url.endsWith("/lmdb/node-index.js")) return { format: "module", shortCircuit: true, source: ${JSON.stringify(killer)} };
  return next(url, context);
}`;
const preload = `import { register } from "node:module"; register("data:text/javascript," + ${JSON.stringify(encodeURIComponent(loader))});`;
const dyingAfter = (transactions: number): Settings => ({ KILL_AFTER: String(transactions) });

let server: RunningServer;
let rest: Rest;
let workspaceId: string;

beforeAll(async () => {
  server = await startServer({
    LIMITS: "off",
    LEASE_MS: "1000",
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(preload)}`,
    ...dyingAfter(1),
  });
  rest = await signIn(server.url, server.operator);
  workspaceId = (await rest.expect(200, "GET", "/workspaces")).workspaces[0].workspaceId;
});
afterAll(() => server.remove());

interface Work {
  readonly path: string;
  readonly body: object;
  readonly status: number;
  /** How often the work was done, read from the server. */
  count(): Promise<number>;
  /** Checks the effect of the answer. */
  check?(answer: Record<string, string>): Promise<void>;
}

/** Each request asks for different work, named by its number, so that all work can be distinguished. */
const works: Readonly<Record<string, (number: number) => Promise<Work>>> = {
  "an article with a text": async (number) => ({
    path: "/articles",
    body: { workspaceId, title: `Article ${number}`, content: `Text ${number}` },
    status: 201,
    async count() {
      const { articles } = await rest.expect(200, "GET", `/articles?workspaceId=${workspaceId}&limit=100`);
      return articles.filter(({ title }: { title: string }) => title === `Article ${number}`).length;
    },
    async check({ articleId }) {
      expect((await rest.expect(200, "GET", `/articles/${articleId}/content`)).content).toBe(`Text ${number}`);
    },
  }),
  "an API key, whose text is shown once": async (number) => ({
    path: "/api-keys",
    body: { name: `Key ${number}` },
    status: 201,
    async count() {
      const { apiKeys } = await rest.expect(200, "GET", "/api-keys?limit=100");
      return apiKeys.filter(({ name }: { name: string }) => name === `Key ${number}`).length;
    },
    async check({ key }) {
      await createRest(server.url, { "x-api-key": key ?? "" }).expect(200, "GET", "/api-keys/self");
    },
  }),
};

/** Starts counting transactions. */
async function arm(): Promise<void> {
  process.kill(server.pid, "SIGUSR2");
  await expect.poll(() => server.stderr).toContain(`armed ${server.pid}`);
}

describe("a server that is killed after a transaction of a request with a key", () => {
  it.each(Object.keys(works))("[API14] %s happens once, with one answer, whichever transaction was killed", async (name) => {
    let died = 0;
    await server.stop();
    await server.start(dyingAfter(1));
    for (let transactions = 1; ; transactions += 1) {
      const work = await (works[name] as (typeof works)[string])(transactions);
      const ask = () => rest.request("POST", work.path, work.body, { "idempotency-key": `${name} ${transactions}` });
      await arm();
      const first = await ask().catch(() => undefined);
      if (first === undefined) {
        expect((await server.exited).signal).toBe("SIGKILL");
        died += 1;
        await server.start(dyingAfter(transactions + 1));
      }
      const again = await ask();
      expect([transactions, again.status, again.body]).toMatchObject([transactions, work.status, {}]);
      if (first !== undefined) expect(again.body).toEqual(first.body);
      const last = await ask();
      expect([last.status, last.body, last.headers.get("idempotency-replayed")]).toEqual([work.status, again.body, "true"]);
      // The killed process's remaining work is done after its lease has ended.
      await expect.poll(work.count, { message: `behind transaction ${transactions}`, timeout: 10_000 }).toBe(1);
      await work.check?.(again.body);
      // The request was answered earlier: it has no further transaction to die after.
      if (first !== undefined) break;
    }
    // One transaction is the reservation, the other is the work with its answer.
    expect(died).toBeGreaterThanOrEqual(2);
  });
});
