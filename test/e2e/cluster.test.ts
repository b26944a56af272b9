/**
 * Tests the real server on a Cluster of three masters: two nodes, editors, a commit, a webhook, a run, and a full
 * restart.
 */
import { createHmac } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRest, type Editor, openEditor, type Rest, signIn } from "../support/clients.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { clusterIsWhole, type RedisClusterProcesses, startRedisCluster } from "../support/redisServer.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { secretKey } from "../support/stores.ts";

let cluster: RedisClusterProcesses;
let receiver: Receiver;
let nodes: readonly [RunningServer, RunningServer];
/** Clients of one account, one for each node. */
let rests: readonly [Rest, Rest];
let workspaceId: string;
const editors: Editor[] = [];

beforeAll(async () => {
  [cluster, receiver] = await Promise.all([startRedisCluster(), startReceiver()]);
  const settings = {
    REDIS_URL: `redis+cluster://${cluster.masters.map(({ port }) => `127.0.0.1:${port}`).join(",")}`,
    SVC_SECRET_KEY: secretKey,
    // A session of one node is valid at the other.
    BASE_URL: "http://127.0.0.1:8787",
    LEASE_MS: "1000",
    OUTBOUND_ALLOW_CIDRS: "127.0.0.0/8",
    NODE_EXTRA_CA_CERTS: receiver.authority.file,
    WEBHOOK_RETRY_SCHEDULE: "0,1,1,1,1",
  };
  const first = await startServer(settings);
  nodes = [first, await startServer(settings)];
  const session = await signIn(first.url, first.operator);
  rests = [session, createRest(nodes[1].url, session.headers)];
  ({ workspaceId } = await session.expect(201, "POST", "/workspaces", { name: "Spread", type: "team" }));
});
afterAll(async () => {
  for (const editor of editors) editor.close();
  await Promise.all((nodes ?? []).map((node) => node.remove()));
  await receiver?.close();
  await cluster?.remove();
});

async function openEditors(articleId: string): Promise<readonly [Editor, Editor]> {
  const opened = await Promise.all([openEditor(rests[0], articleId), openEditor(rests[1], articleId)] as const);
  editors.push(...opened);
  return opened;
}

/** Waits for the webhook of a commit and verifies its signature. */
async function told(commitId: string, secret: string): Promise<void> {
  const { headers, body } = await receiver.waitFor((request) => JSON.parse(request.body.toString()).data?.commitId === commitId);
  const digest = createHmac("sha256", secret).update(`${headers["x-svc-timestamp"]}.`).update(body).digest("hex");
  expect(headers["x-svc-signature"]).toBe(`v1=${digest}`);
}

test("[FT2] two nodes on a Cluster edit, commit, send webhooks and run steps, and kills lose nothing", async () => {
  const [one, two] = rests;
  const { secret } = await one.expect(201, "POST", `/workspaces/${workspaceId}/webhooks`, {
    url: receiver.url,
    events: ["article.updated"],
  });
  const { articleId } = await two.expect(201, "POST", "/articles", { workspaceId, title: "Spread", content: "Start.\n" });

  const [left, right] = await openEditors(articleId);
  left.text.insert(0, "Left. ");
  await right.until((text) => text === "Left. Start.\n");
  right.text.insert(0, "Right. ");
  await left.until((text) => text === "Right. Left. Start.\n");
  const first = await two.expect(201, "POST", `/articles/${articleId}/commits`, { message: "From both" });
  await told(first.commitId, secret);

  const topics = `/workspaces/${workspaceId}/topics`;
  const { topicId } = await one.expect(201, "POST", topics, { title: "Kites", targetAudience: "builders" });
  const { runId } = await one.expect(202, "POST", `${topics}/${topicId}/workflow-runs`, {});
  const run = () => two.expect(200, "GET", `/runs/${runId}`);
  await expect.poll(async () => (await run()).status).toBe("paused_for_approval");
  // After an approval at the node that dies, the run continues at the other node.
  const { approvalId } = (await run()).pendingApproval;
  await one.expect(200, "POST", `/runs/${runId}/approvals/${approvalId}`, { decision: "approve" });
  await nodes[0].kill();
  await expect.poll(async () => (await run()).status).toBe("completed");
  const events = await two.expect(200, "GET", `/runs/${runId}/events`);

  const sizes = await Promise.all(cluster.masters.map((master) => master.command("DBSIZE")));
  for (const size of sizes) expect(size).toBeGreaterThan(0);
  for (const editor of editors.splice(0)) editor.close();
  await Promise.all([nodes[1].kill(), ...cluster.masters.map((master) => master.kill())]);
  await Promise.all(cluster.masters.map((master) => master.start()));
  await clusterIsWhole(cluster.masters);
  await Promise.all(nodes.map((node) => node.start()));

  expect(await two.expect(200, "GET", `/runs/${runId}/events`)).toEqual(events);
  expect((await one.expect(200, "GET", `/articles/${articleId}/commits`)).commits).toEqual([expect.objectContaining(first)]);
  const [again, other] = await openEditors(articleId);
  expect(again.text.toString()).toBe("Right. Left. Start.\n");
  other.text.insert(0, "Afterwards. ");
  await again.until((text) => text === "Afterwards. Right. Left. Start.\n");
  const second = await one.expect(201, "POST", `/articles/${articleId}/commits`, { message: "Afterwards" });
  await told(second.commitId, secret);
  for (const { logLines } of nodes) expect(logLines.filter(({ level }) => level === "error" || level === "fatal")).toEqual([]);
});
