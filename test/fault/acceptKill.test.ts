/**
 * Tests the acceptance of suggestions while the server is killed repeatedly, on both stores. Each request is sent once, so a
 * kill leaves it unknown whether it was executed. In the end, the text and the states of the reviews must agree.
 */
import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Review } from "../../api/schema/review.ts";
import { type Rest, signIn } from "../support/clients.ts";
import { toRounds } from "../support/faultRounds.ts";
import { startServer } from "../support/server.ts";
import type { StoreKind } from "../support/stores.ts";
import { untilReturns } from "../support/untilReturns.ts";

const kills = toRounds(2);
const perKill = 12;
const count = kills * perKill;
const atOnce = 3;

async function listAll(rest: Rest, path: string, member: string) {
  const items = [];
  for (let token = ""; ; ) {
    const page = await rest.expect(200, "GET", `${path}?limit=100${token}`);
    items.push(...page[member]);
    if (page.nextToken === undefined) return items;
    token = `&nextToken=${encodeURIComponent(page.nextToken)}`;
  }
}

it.each<StoreKind>(["embedded", "redis"])(
  `[RV14] after ${kills} kill -9, each suggestion is accepted and in the text once, or neither (%s)`,
  async (store) => {
    const server = await startServer({ LIMITS: "off", LEASE_MS: "1000", CHECKPOINT_QUIET_MS: "300000" }, { store });
    try {
      const rest = await signIn(server.url, server.operator);
      const [{ workspaceId }] = (await rest.expect(200, "GET", "/workspaces")).workspaces;
      const content = Array.from({ length: count }, (_, at) => `[old ${at}]\n`).join("");
      const { articleId } = await rest.expect(201, "POST", "/articles", { workspaceId, title: "Suggested", content });
      await rest.expect(201, "POST", `/articles/${articleId}/commits`, { message: "first" });
      const reviewIds: string[] = [];
      for (let at = 0; at < count; at += 1) {
        const suggestion = { kind: "suggestion", anchor: { quote: `[old ${at}]` }, replacement: `[new ${at}]` };
        reviewIds.push((await rest.expect(201, "POST", `/articles/${articleId}/reviews`, { body: "Newer.", ...suggestion })).reviewId);
      }

      const acknowledged = new Set<number>();
      let next = 0;
      for (let kill = 1; kill <= kills; kill += 1) {
        const accepting = Array.from({ length: atOnce }, async () => {
          while (next < kill * perKill) {
            const at = next++;
            const answer = await rest.request("POST", `/reviews/${reviewIds[at]}/accept`).catch(() => undefined);
            if (answer?.status === 200) acknowledged.add(at);
          }
        });
        while (next < kill * perKill - perKill / 2) await pause(1);
        await server.kill();
        await Promise.all(accepting);
        await server.start();
      }

      const reviews: readonly Review[] = await listAll(rest, `/articles/${articleId}/reviews`, "reviews");
      const { content: text } = await rest.expect(200, "GET", `/articles/${articleId}/content`);
      const statusOf = new Map(reviews.map(({ reviewId, status }) => [reviewId, status]));
      const isAccepted = (at: number) => statusOf.get(reviewIds[at] ?? "") === "accepted";
      expect(text).toBe(Array.from({ length: count }, (_, at) => `[${isAccepted(at) ? "new" : "old"} ${at}]\n`).join(""));
      expect([...acknowledged].filter((at) => !isAccepted(at))).toEqual([]);
      expect([...statusOf.values()].filter((status) => status !== "accepted" && status !== "open")).toEqual([]);

      // The commits of acceptances whose process died follow. Each acceptance has at most one, and the last one has all text.
      const commits = await untilReturns(async () => {
        const found = await listAll(rest, `/articles/${articleId}/commits`, "commits");
        const { content: committed } = await rest.expect(200, "GET", `/articles/${articleId}/commits/${found[0].commitId}/content`);
        if (committed !== text) throw new Error("the accepted text is not committed yet");
        return found;
      }, 30_000);
      const accepted = Array.from({ length: count }, (_, at) => at).filter(isAccepted).length;
      expect(accepted).toBeGreaterThanOrEqual(acknowledged.size);
      expect(commits.length - 1).toBeLessThanOrEqual(accepted);
    } finally {
      await server.remove();
    }
  },
);
