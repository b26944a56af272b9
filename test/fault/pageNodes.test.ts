/** Tests public pages at two nodes on one Redis: frozen Snapshots, Live edits of the other node, and pages that are taken down. */
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRest, type Rest, signIn } from "../support/clients.ts";
import { toRounds } from "../support/faultRounds.ts";
import { type RedisProcess, startRedis } from "../support/redisServer.ts";
import { type RunningServer, startServer } from "../support/server.ts";
import { secretKey } from "../support/stores.ts";

const rounds = toRounds(4);
const editsPerRound = 10;
/** Pause between two reads of one reader. */
const betweenReadsMs = 10;
/** A page may be served this long after the answer to its removal, at any node. */
const servedMs = 1000;

let redis: RedisProcess;
const nodes: RunningServer[] = [];
/** A signed-in client of each node. */
let rests: readonly Rest[];
let workspaceId: string;

beforeAll(async () => {
  redis = await startRedis();
  const settings = {
    REDIS_URL: `redis://127.0.0.1:${redis.port}`,
    SVC_SECRET_KEY: secretKey,
    BASE_URL: "http://127.0.0.1:8787",
    LIMITS: "off",
  };
  for (let node = 0; node < 2; node += 1) nodes.push(await startServer(settings));
  const [first] = nodes as [RunningServer];
  const { headers } = await signIn(first.url, first.operator);
  rests = nodes.map(({ url }) => createRest(url, headers));
  ({ workspaceId } = await (rests[0] as Rest).expect(201, "POST", "/workspaces", { name: "Desk", type: "team" }));
});
afterAll(async () => {
  for (const node of nodes) await node.remove();
  await redis?.remove();
});

const at = (number: number): Rest => rests[number % 2] as Rest;
const read = ({ url }: Rest, slug: string) => createRest(url).request<string>("GET", `/p/${slug}.md`);

async function newArticle(title: string): Promise<string> {
  return (await at(0).expect(201, "POST", "/articles", { workspaceId, title, content: "First.\n" })).articleId;
}

const append = (rest: Rest, articleId: string, content: string) =>
  rest.expect(200, "PATCH", `/articles/${articleId}/content`, { mode: "append", content });

test("[FT64] a Snapshot shows no later edit at any node, and an unpublished page is gone within a second", async () => {
  const late: number[] = [];
  const wrong: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const articleId = await newArticle(`Snapshot ${round}`);
    const link = `/articles/${articleId}/public-link`;
    const { slug } = await at(round).expect(201, "PUT", link, { mode: "snapshot" });
    let removedAt = Number.POSITIVE_INFINITY;
    const reading = rests.map(async (rest) => {
      for (;;) {
        const begunAt = performance.now();
        const { status, body } = await read(rest, slug);
        if (status === 200 && body.includes("Later")) wrong.push(body);
        if (status === 200 && begunAt > removedAt + servedMs) late.push(begunAt - removedAt);
        if (begunAt > removedAt && (status === 410 || late.length > 0)) return status;
        await pause(betweenReadsMs);
      }
    });
    for (let edit = 0; edit < editsPerRound; edit += 1) await append(at(edit), articleId, `Later ${edit}.\n`);
    await at(round + 1).expect(204, "DELETE", link);
    removedAt = performance.now();
    expect(await Promise.all(reading)).toEqual([410, 410]);
  }
  expect([late, wrong]).toEqual([[], []]);
});

test("[FT64] a Live page shows at each node what was written at the other one", async () => {
  const articleId = await newArticle("Live");
  const { slug } = await at(0).expect(201, "PUT", `/articles/${articleId}/public-link`, { mode: "live" });
  for (let edit = 0; edit < 4; edit += 1) {
    await append(at(edit), articleId, `Edit ${edit}.\n`);
    await expect.poll(async () => (await read(at(edit + 1), slug)).body).toContain(`Edit ${edit}.`);
  }
});
