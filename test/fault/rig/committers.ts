/**
 * Makes commits at a fixed pace, whatever the speed of the server. Each committer has its own article, so that every
 * commit has a change. An unanswered request is not repeated; the list of commits shows whether it succeeded.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Rig } from "./rig.ts";

export interface Committers {
  /** Every commit that was answered with a 2xx, with its time. */
  readonly ackedAtMs: ReadonlyMap<string, number>;
  /**
   * Commits at each node in turn, or only at `node`, until `isEnough`. Throws at an answer that no valid request may
   * get.
   */
  commitUntil(isEnough: () => boolean, perSecond: number, node?: number): Promise<void>;
  /** Returns the ids of all commits. */
  list(): Promise<ReadonlySet<string>>;
}

const answerMs = 10_000;
const pageSize = 100;

export async function settleCommitters(rig: Rig, abreast: number): Promise<Committers> {
  const ackedAtMs = new Map<string, number>();
  const articleIds: string[] = [];
  for (let n = 0; n < abreast; n += 1) {
    const { articleId } = await rig.insist("POST", "/articles", { workspaceId: rig.workspaceId, title: `Article ${n}` });
    articleIds.push(articleId);
  }
  const headers = { "x-api-key": rig.key, "content-type": "application/json" };
  let asked = 0;

  async function commit(articleId: string, node: number): Promise<void> {
    asked += 1;
    const body = JSON.stringify({ mode: "append", content: `Text ${asked}\n`, message: `Commit ${asked}` });
    const url = `${rig.nodes[node % rig.nodes.length]?.url}/articles/${articleId}/content`;
    const answered = await fetch(url, { method: "PATCH", headers, body, signal: AbortSignal.timeout(answerMs) })
      .then(async (reply) => ({ status: reply.status, text: await reply.text() }))
      .catch(() => undefined);
    if (answered === undefined || answered.status === 503) return;
    const { commitId } = JSON.parse(answered.text);
    if (answered.status === 200 && typeof commitId === "string") ackedAtMs.set(commitId, Date.now());
    else throw new Error(`PATCH ${url} answered ${answered.status}: ${answered.text}`);
  }

  return {
    ackedAtMs,
    async commitUntil(isEnough, perSecond, node) {
      let nextMs = Date.now();
      async function work(articleId: string): Promise<void> {
        while (!isEnough()) {
          // Missed commits are not made up for, because a crowd after each outage would be another test.
          nextMs = Math.max(nextMs + 1000 / perSecond, Date.now());
          await pause(nextMs - Date.now());
          if (!isEnough()) await commit(articleId, node ?? asked);
        }
      }
      await Promise.all(articleIds.map(work));
    },
    async list() {
      const found = new Set<string>();
      for (const articleId of articleIds) {
        for (let more = ""; ; ) {
          const { commits, nextToken } = await rig.insist("GET", `/articles/${articleId}/commits?limit=${pageSize}${more}`);
          for (const { commitId } of commits) found.add(commitId);
          if (nextToken === undefined) break;
          more = `&nextToken=${encodeURIComponent(nextToken)}`;
        }
      }
      return found;
    },
  };
}
