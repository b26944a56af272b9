/** Tests folders on the whole server: moves on two nodes at once, and a job that outlives the node that started it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRest, type Rest, signIn } from "../support/clients.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { untilReturns } from "../support/untilReturns.ts";

const topics = 30;

let server: RunningServer;
/** The second node on the same store; the same server on the embedded store, which has one node. */
let second: RunningServer;
let rest: Rest;
let other: Rest;
let workspaceId: string;

beforeAll(async () => {
  // A session of one node is valid at the other.
  const settings = { BASE_URL: "http://127.0.0.1:8787", LEASE_MS: "1000", LIMITS: JSON.stringify({ "job.records": 12 }) };
  server = await startServer(settings);
  second = server.store?.redis === undefined ? server : await startServer({ ...settings, ...server.store.settings });
  rest = await signIn(server.url, server.operator);
  other = createRest(second.url, rest.headers);
  ({ workspaceId } = await rest.expect(201, "POST", "/workspaces", { name: "Desk", type: "team" }));
});
afterAll(async () => {
  if (second !== server) await second.remove();
  await server.remove();
});

const create = async (name: string, more: object = {}): Promise<string> =>
  (await rest.expect(201, "POST", "/folders", { workspaceId, name, ...more })).folderId;

const article = async (title: string, more: object = {}): Promise<string> =>
  (await rest.expect(201, "POST", "/articles", { workspaceId, title, content: `# ${title}\n`, ...more })).articleId;

/** Titles of the articles that a list shows, in the order of the alphabet. */
async function titles(filter: string): Promise<readonly string[]> {
  const { articles } = await other.expect(200, "GET", `/articles?workspaceId=${workspaceId}&${filter}`);
  return articles.map(({ title }: { title: string }) => title).toSorted();
}

const untilEnded = (by: Rest, jobId: string) =>
  untilReturns(async () => {
    const job = await by.expect(200, "GET", `/jobs/${jobId}`);
    if (job.finishedAt === undefined) throw new Error(`the job is ${JSON.stringify(job)}`);
    return job;
  }, 30_000);

test("[FO5] a ring of moves at once, on all nodes, is refused at one place at least", async () => {
  for (let round = 0; round < 5; round += 1) {
    const ring = await Promise.all(["a", "b", "c"].map((name) => create(`${name} ${round}`)));
    const moves = await Promise.all(
      ring.map((folderId, at) =>
        (at % 2 === 0 ? rest : other).request("PATCH", `/folders/${folderId}`, { parentFolderId: ring[(at + 1) % 3] }),
      ),
    );
    expect(moves.map(({ status }) => status).toSorted()).toEqual([200, 200, 409]);
    const parents = await Promise.all(ring.map(async (id) => (await rest.expect(200, "GET", `/folders/${id}`)).parentFolderId));
    expect(parents.filter((parent) => parent === null)).toHaveLength(1);
  }
});

test("[FO10][JB2] an archiving job goes on after a kill -9 of its node, and each topic is archived once", async () => {
  const folderId = await create("Campaign", { contentProject: { requireDraftApproval: false } });
  const inTopics = `/workspaces/${workspaceId}/topics`;
  for (let at = 0; at < topics; at += 1) {
    await rest.expect(201, "POST", inTopics, { title: `Kites ${at}`, targetAudience: "builders", contentProjectId: folderId });
  }
  const { jobId } = await rest.expect(202, "POST", `/folders/${folderId}/archive`, { note: "Over." });
  await server.kill();
  await server.start();
  expect(await untilEnded(rest, jobId)).toMatchObject({ status: "succeeded", progress: { done: topics, of: topics }, result: { topics } });
  const { statusCounts } = await other.expect(200, "GET", `${inTopics}?contentProjectId=${folderId}`);
  expect(statusCounts.archived).toBe(topics);
  const { events } = await rest.expect(200, "GET", `/workspaces/${workspaceId}/audit?eventType=topic_archived&limit=100`);
  expect(new Set(events.map(({ topicId }: { topicId: string }) => topicId)).size).toBe(topics);
  expect(events).toHaveLength(topics);
});

test("[FO9] the deletion of a folder with its contents can be followed and repeated on any node", async () => {
  const root = await create("Guides", { contentProject: {} });
  for (let at = 0; at < 8; at += 1) await create(`Part ${at}`, { parentFolderId: root });
  const inTopics = `/workspaces/${workspaceId}/topics`;
  const { topicId } = await rest.expect(201, "POST", inTopics, { title: "Wells", targetAudience: "all", contentProjectId: root });
  expect((await rest.request("DELETE", `/folders/${root}`)).body.code).toBe("folder_not_empty");
  const { jobId } = await rest.expect(202, "DELETE", `/folders/${root}?recursive=true`);
  expect((await other.request("GET", `/folders/${root}`)).status).toBe(404);
  expect(await untilEnded(other, jobId)).toMatchObject({ status: "succeeded", result: { folders: 9, articles: 0, topics: 1 } });
  expect(await other.expect(200, "GET", `${inTopics}/${topicId}`)).not.toHaveProperty("contentProjectId");
  expect((await rest.request("DELETE", `/folders/${root}?recursive=true`)).status).toBe(404);
});

test("[FO8][FO9][FO10][AR25] a folder with articles and topics is filled, archived, restored and deleted over REST", async () => {
  const root = await create("Seasons", { contentProject: {} });
  const part = await create("Winter", { parentFolderId: root });
  for (let at = 0; at < 6; at += 1) await article(`Spring ${at}`, { folderId: root });
  const moved = await article("Skates", { folderId: root });
  const inPart = await article("Skis", { folderId: part });
  const outside = await article("Outside");
  const topic = { title: "Ice", targetAudience: "all", contentProjectId: root };
  const { topicId } = await rest.expect(201, "POST", `/workspaces/${workspaceId}/topics`, topic);
  expect(await rest.expect(200, "PATCH", `/articles/${moved}`, { folderId: part })).toMatchObject({ folderId: part });
  const spring = Array.from({ length: 6 }, (_, at) => `Spring ${at}`);
  expect([await titles(`folderId=${root}`), await titles(`folderId=${part}`)]).toEqual([spring, ["Skates", "Skis"]]);
  expect(await titles("folderId=null")).toContain("Outside");

  const archive = await rest.expect(202, "POST", `/folders/${root}/archive`, { note: "Over." });
  const refused = await rest.request("POST", "/articles", { workspaceId, title: "Late", folderId: root });
  expect([refused.status, refused.body.errors[0].pointer]).toEqual([422, "/folderId"]);
  await rest.expect(200, "PATCH", `/articles/${inPart}/content`, { mode: "append", content: "Still open.\n" });
  expect(await untilEnded(rest, archive.jobId)).toMatchObject({ status: "succeeded", result: { topics: 1 } });
  const statusOf = async () => (await other.expect(200, "GET", `/workspaces/${workspaceId}/topics/${topicId}`)).status;
  expect(await statusOf()).toBe("archived");
  const restore = await rest.expect(202, "POST", `/folders/${root}/restore`, {});
  await untilEnded(other, restore.jobId);
  expect(await statusOf()).toBe("idea");

  for (const folderId of [root, part]) expect((await rest.request("DELETE", `/folders/${folderId}`)).body.code).toBe("folder_not_empty");
  const { jobId } = await rest.expect(202, "DELETE", `/folders/${root}?recursive=true`);
  const deleted = { folders: 2, articles: 8, topics: 1 };
  expect(await untilEnded(other, jobId)).toMatchObject({ status: "succeeded", result: deleted, progress: { done: 11, of: 11 } });
  const trash = await titles("deleted=true&limit=100");
  expect(trash.filter((title) => /^S(pring|k)/.test(title))).toEqual(["Skates", "Skis", ...spring]);
  expect(await other.expect(200, "GET", `/articles/${inPart}`)).toHaveProperty("deletedAt");
  expect((await rest.expect(200, "POST", `/articles/${inPart}/undelete`)).folderId).toBeNull();
  expect(await rest.expect(200, "GET", `/articles/${outside}`)).not.toHaveProperty("deletedAt");
  expect(await rest.expect(200, "GET", `/workspaces/${workspaceId}/topics/${topicId}`)).not.toHaveProperty("contentProjectId");
});
