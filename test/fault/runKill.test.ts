/**
 * Tests runs of a real server that is killed repeatedly while people write in the same articles: from topic to draft,
 * with an approval between. In the end, every step has finished once, the draft exists once, and every note is kept.
 */
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { AgentEvent } from "../../api/schema/timeline.ts";
import { type Rest, signIn } from "../support/clients.ts";
import { toRounds } from "../support/faultRounds.ts";
import { type RunningServer, startServer } from "../support/server.ts";

const kills = toRounds(4);
const topics = 6;
/** Topics whose draft is being written. */
const drafting = new Set<number>();
const retried = new Set(["idempotency_in_progress", "unavailable"]);

let server: RunningServer;
let rest: Rest;
let workspaceId: string;
/** Unix seconds. */
let bornAt = 0;

beforeAll(async () => {
  server = await startServer({ LIMITS: "off", LEASE_MS: "1000" });
  rest = await signIn(server.url, server.operator);
  workspaceId = (await rest.expect(200, "GET", "/workspaces")).workspaces[0].workspaceId;
});
afterAll(() => server.remove());

/** Repeats a request until the server gives a final answer. */
// biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
async function insist(method: string, path: string, body?: unknown, key?: string): Promise<any> {
  for (;;) {
    try {
      const answer = await rest.request(method, path, body, key === undefined ? {} : { "idempotency-key": key });
      if (answer.status < 400) return answer.body;
      if (!retried.has(answer.body.code)) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
    } catch (reason) {
      // The connection was closed. The repeat finds out whether the request succeeded.
      if (reason instanceof Error && reason.message.startsWith(method)) throw reason;
    }
    await pause(25);
  }
}

async function until(
  runId: string,
  status: string,
): Promise<{ chainedRunId: string; steps: { attempt: number; artifactKeys: string[] }[] }> {
  for (;;) {
    const run = await insist("GET", `/runs/${runId}`);
    if (run.status === status) return run;
    if (["failed", "cancelled"].includes(run.status)) throw new Error(`${runId}: ${JSON.stringify(run.failure)}`);
    await pause(25);
  }
}

interface Told {
  readonly articleId: string;
  readonly outlineRunId: string;
  readonly draftRunId: string;
  readonly notes: readonly string[];
}

async function tell(n: number): Promise<Told> {
  const inTopics = `/workspaces/${workspaceId}/topics`;
  const body = {
    title: `Kites of kind ${n}`,
    targetAudience: "builders",
    primaryKeyword: "kites",
    mustInclude: Array.from({ length: 30 }, (_, at) => `point ${at}`),
    wordCountRange: { min: 2000, max: 3000 },
  };
  const { topicId } = await insist("POST", inTopics, body, `topic ${n}`);
  const topic = `${inTopics}/${topicId}`;
  const { runId: outlineRunId, articleId } = await insist("POST", `${topic}/workflow-runs`, {}, `start ${n}`);
  await until(outlineRunId, "paused_for_approval");
  const { draftRunId } = await insist("POST", `${topic}/outline/approve`, {}, `approve ${n}`);
  const notes: string[] = [];
  let isOver = false;
  const ended = until(draftRunId, "completed").finally(() => {
    isOver = true;
    drafting.delete(n);
  });
  ended.catch(() => {});
  const path = `/articles/${articleId}/content`;
  // Type only after the draft has started. Until then the file must be blank, so that the text streams.
  while (!isOver && (await insist("GET", path)).content === "") await pause(5);
  while (!isOver) {
    const { steps } = await insist("GET", `/runs/${draftRunId}`);
    const [draft] = steps;
    // The step started in this process, so that a kill interrupts it.
    if (draft.status === "running" && draft.startedAt > bornAt) drafting.add(n);
    else drafting.delete(n);
    const note = `«${n}.${notes.length}»`;
    await insist("PATCH", path, { mode: "append", content: note }, `note ${n} ${notes.length}`);
    notes.push(note);
    await pause(40);
  }
  await ended;
  return { articleId, outlineRunId, draftRunId, notes };
}

it(`[RU29] ${kills} kill -9 rerun no finished step, keep one draft, and lose no typed text`, async () => {
  let isOver = false;
  const telling = Promise.all(Array.from({ length: topics }, (_, n) => tell(n))).finally(() => {
    isOver = true;
  });
  let killed = 0;
  while (killed < kills) {
    while (!isOver && drafting.size === 0) await pause(5);
    if (isOver) break;
    await pause(Math.random() * 400);
    await server.kill();
    drafting.clear();
    bornAt = Date.now() / 1000;
    await server.start();
    killed += 1;
  }
  const stories = await telling;
  expect(killed).toBe(kills);
  let repeats = 0;
  for (const { articleId, outlineRunId, draftRunId, notes } of stories) {
    for (const runId of [outlineRunId, draftRunId]) {
      const { events, lastSeq } = await rest.expect<{ events: AgentEvent[]; lastSeq: number }>(
        200,
        "GET",
        `/runs/${runId}/events?limit=100`,
      );
      expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: lastSeq }, (_, at) => at + 1));
      const finished = events.flatMap((event) => (event.event === "agent.step_completed" ? [event.data.stepName] : []));
      expect(finished).toEqual(runId === outlineRunId ? ["research", "thesis", "outline"] : ["draft", "seo_review", "article_validation"]);
      repeats += events.filter(
        (event) => event.event === "agent.step_started" && event.data.attempt > 1 && event.data.type === "draft",
      ).length;
      // No step starts again after it has finished.
      const order = events.flatMap((event) => (event.event === "agent.step_started" ? [event.data.stepName] : []));
      expect(order).toEqual([...order].sort((a, b) => finished.indexOf(a) - finished.indexOf(b)));
    }
    const { artifacts } = await rest.expect(200, "GET", `/runs/${draftRunId}/artifacts`);
    const key = artifacts.find(({ kind }: { kind: string }) => kind === "draft").artifactKey;
    const draft = await rest.expect<string>(200, "GET", `/runs/${draftRunId}/artifacts/${key}`, undefined, { accept: "text/markdown" });
    const { content } = await rest.expect<{ content: string }>(200, "GET", `/articles/${articleId}/content`);
    for (const note of notes) expect(content.split(note).length - 1, note).toBe(1);
    const plain = (text: string) => text.replace(/«[\d.]+»/g, "");
    expect(plain(content)).toBe(plain(draft));
    const { commits } = await rest.expect(200, "GET", `/articles/${articleId}/commits?kind=agent`);
    expect(commits.map(({ runId }: { runId: string }) => runId)).toEqual([draftRunId, outlineRunId]);
  }
  // The kills interrupted drafts.
  expect(repeats).toBeGreaterThanOrEqual(kills);
});
