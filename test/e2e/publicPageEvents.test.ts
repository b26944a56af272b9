/**
 * Tests what public pages answer beside their text: event streams, redirects and the findings of the gate, on the real
 * server. On Redis the readers are on another node than the writers.
 */
import { EventSource } from "eventsource";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { createRest, type Rest, signIn } from "../support/clients.ts";
import { closeReaders, openReader, type Told } from "../support/eventReader.ts";
import { type RunningServer, startServer } from "../support/server.ts";

const settings = { LIMITS: JSON.stringify({ "sse.address": 3, "rate.public": "off" }) };
const bad = "# Kites\n\nTODO: the tail.\n";

let server: RunningServer;
/** Another node on the same store if the store is Redis; otherwise the only node. */
let other: RunningServer;
let rest: Rest;
let anyone: Rest;
let workspaceId: string;

beforeAll(async () => {
  server = await startServer(settings);
  other = server.store?.kind === "redis" ? await startServer({ ...settings, ...server.store.settings }) : server;
  rest = await signIn(server.url, server.operator);
  anyone = createRest(other.url);
  workspaceId = (await rest.expect(200, "GET", "/workspaces")).workspaces[0].workspaceId;
});
afterAll(async () => {
  if (other !== server) await other.remove();
  await server.remove();
});
afterEach(closeReaders);

async function publish(slug: string, request: object = {}, content = "# Kites\n") {
  const { articleId } = await rest.expect(201, "POST", "/articles", { workspaceId, title: slug, content });
  const link = `/articles/${articleId}/public-link`;
  await rest.expect(201, "PUT", link, { slug, ...request });
  return {
    articleId,
    link,
    append: (text: string) => rest.expect(200, "PATCH", `/articles/${articleId}/content`, { mode: "append", content: text }),
  };
}
const open = (slug: string, headers: Record<string, string> = {}) => openReader(anyone, `/p/${slug}/events`, headers);
const named = (told: readonly Told[]) => told.filter(({ event }) => event?.startsWith("page.") === true);
const has = (count: number) => (told: readonly Told[]) => named(told).length >= count;
const dataOf = ({ data }: Told) => JSON.parse(data ?? "");

test("[PL34] [PL38] a reader gets the page as it is and each later change, from any origin", async () => {
  const { link, append } = await publish("changing");
  const reading = await open("changing", { origin: "https://elsewhere.example" });
  expect(reading.status).toBe(200);
  expect(Object.fromEntries(reading.headers)).toMatchObject({
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "access-control-allow-origin": "*",
    "ratelimit-policy": '"connects";q=1000;w=1',
    ratelimit: expect.stringMatching(/^"connects";r=\d+;t=\d+$/),
  });
  await reading.until(has(1));
  const shown = await anyone.request("GET", "/p/changing.md");
  const [first] = named(reading.told);
  expect(first).toMatchObject({ event: "page.updated", id: "1" });
  expect(dataOf(first as Told)).toEqual({ revision: 1, contentHash: shown.headers.get("x-svc-content-hash") });
  const { revision, contentHash } = await append("They fly.\n");
  await reading.until(has(2));
  expect(dataOf(named(reading.told)[1] as Told)).toEqual({ revision, contentHash });
  // A change of the mode and the refresh of a Snapshot are changes too.
  await rest.expect(200, "PATCH", link, { mode: "snapshot" });
  await reading.until(has(3));
  await append("And fall.\n");
  const { publishedRevision } = await rest.expect(200, "POST", `${link}/snapshot`);
  await reading.until(has(4));
  expect(named(reading.told).map((told) => dataOf(told).revision)).toEqual([1, revision, revision, publishedRevision]);
  expect(reading.text).toContain("retry: 2000");
});

test("[PL35] a stream ends when its page is unpublished, expires or goes to the trash; then it is 410", async () => {
  const [unpublished, expired, trashed] = [await publish("unpublished"), await publish("expired"), await publish("trashed")];
  const readings = await Promise.all(["unpublished", "expired", "trashed"].map((slug) => open(slug)));
  for (const reading of readings) await reading.until(has(1));
  await rest.expect(204, "DELETE", unpublished.link);
  await rest.expect(200, "PATCH", expired.link, { expiresAt: Date.now() / 1000 + 1 });
  await rest.expect(204, "DELETE", `/articles/${trashed.articleId}`);
  for (const reading of readings) {
    await reading.ended;
    expect(reading.told.slice(-2)).toEqual([
      { event: "page.removed", id: "2", data: "{}" },
      { event: "stream.end", data: "{}" },
    ]);
  }
  for (const slug of ["unpublished", "expired", "trashed"]) {
    expect((await anyone.request("GET", `/p/${slug}/events`)).body).toMatchObject({ status: 410, code: "unpublished" });
  }
  for (const slug of ["never-known", "UPPER", "a".repeat(300)]) {
    expect((await anyone.request("GET", `/p/${slug}/events`)).body).toMatchObject({ status: 404, code: "not_found" });
  }
});

test("[PL37] a reader that reconnects gets the newest state only, and nothing if it has that already", async () => {
  const { append } = await publish("resumed");
  for (const text of ["One.\n", "Two.\n"]) {
    const { revision } = await append(text);
    const shows = async () => expect((await anyone.request("GET", "/p/resumed.md")).headers.get("x-svc-revision")).toBe(String(revision));
    await vi.waitFor(shows, { timeout: 20_000, interval: 50 });
  }
  const behind = await open("resumed", { "last-event-id": "1" });
  await behind.until(has(1));
  expect(named(behind.told).map(({ id }) => id)).toEqual(["3"]);
  const current = await open("resumed", { "last-event-id": "3" });
  await current.until((told) => told.length > 0);
  expect(current.told).toEqual([{ event: "stream.position", id: "3", data: "" }]);
  const asked = await openReader(anyone, "/p/resumed/events?lastEventId=3");
  await asked.until((told) => told.length > 0);
  expect(named(asked.told)).toEqual([]);
  expect((await anyone.request("GET", "/p/resumed/events?lastEventId=x")).body).toMatchObject({ code: "bad_request" });
});

test("[PL36] an address may have sse.address streams open; a closed one makes room", async () => {
  await publish("crowded");
  const readings = await Promise.all([open("crowded"), open("crowded"), open("crowded")]);
  for (const reading of readings) await reading.until(has(1));
  const refused = await anyone.request("GET", "/p/crowded/events");
  expect(refused.body).toMatchObject({ status: 429, code: "rate_limited" });
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await anyone.request("HEAD", "/p/crowded/events")).status).toBe(200);
  readings[0]?.close();
  const opened = async () => expect((await open("crowded")).status).toBe(200);
  await vi.waitFor(opened, { timeout: 20_000, interval: 50 });
});

test("[PL32] [PL37] a stock EventSource on an earlier address follows the page over a restart and its removal", async () => {
  const { link, append } = await publish("earlier");
  await rest.expect(200, "PATCH", link, { slug: "later" });
  expect((await anyone.request("GET", "/p/earlier.json")).headers.get("location")).toBe("later.json");
  expect((await anyone.request("GET", "/p/earlier/events")).headers.get("location")).toBe("../later/events");
  const source = new EventSource(`${other.url}/p/earlier/events`);
  const revisions: number[] = [];
  let status: number | undefined;
  source.addEventListener("page.updated", ({ data }) => revisions.push(JSON.parse(data).revision));
  source.addEventListener("error", ({ code }) => {
    status = code ?? status;
  });
  try {
    await vi.waitFor(() => expect(revisions).toEqual([1]), { timeout: 20_000, interval: 50 });
    await other.kill();
    await other.start();
    const { revision } = await append("While it was away.\n");
    await vi.waitFor(() => expect(revisions.at(-1)).toBe(revision), { timeout: 20_000, interval: 50 });
    await rest.expect(204, "DELETE", link);
    await vi.waitFor(() => expect([status, source.readyState]).toEqual([410, source.CLOSED]), { timeout: 20_000, interval: 50 });
  } finally {
    source.close();
  }
});

test("[PL40] [PL41] findings of the gate travel in a header over REST, and errors refuse the request", async () => {
  const { link } = await publish("gated", { gate: "warn", mode: "snapshot" }, bad);
  const refreshed = await rest.request("POST", `${link}/snapshot`);
  expect([refreshed.status, refreshed.headers.get("x-svc-gate-findings")]).toEqual([200, "1"]);
  expect((await rest.request("PATCH", link, { gate: "block" })).headers.has("x-svc-gate-findings")).toBe(false);
  const refused = await rest.request("PATCH", link, { mode: "live" });
  expect(refused.body).toMatchObject({ status: 422, code: "gate_failed", errors: [{ pointer: "", code: "placeholder" }] });
  expect(refused.body.errors[0].message).toMatch(/^Line 3: /);
  const key = { "idempotency-key": "refresh" };
  await rest.expect(200, "PATCH", link, { gate: "warn" });
  const answers = [await rest.request("POST", `${link}/snapshot`, {}, key), await rest.request("POST", `${link}/snapshot`, {}, key)];
  expect(answers.map(({ headers }) => headers.get("x-svc-gate-findings"))).toEqual(["1", "1"]);
  expect(answers[1]?.headers.get("idempotency-replayed")).toBe("true");
  expect(await rest.expect(200, "GET", `${link}/diff`)).toMatchObject({ hunks: [] });
});
