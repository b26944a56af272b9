/**
 * Tests a real server that is paused in the middle of a draft for longer than its lease, and one whose disk fills up
 * there. In the end, the draft exists once, each step ended once, and every text that a person wrote is kept.
 */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import type { AgentEvent } from "../../api/schema/timeline.ts";
import { type Rest, signIn } from "../support/clients.ts";
import { type ModelEndpoint, startModelEndpoint } from "../support/modelEndpoint.ts";
import { startServer } from "../support/server.ts";

const leaseMs = 500;
const steps = ["draft", "seo_review", "article_validation"];

const text = `# Kites\n\n${Array.from({ length: 2000 }, (_, at) => `Kite ${at} flies over the field.`).join(" ")}\n`;

/** Starts a model that sends the first `slowTimes` drafts slowly and all later ones at once. */
async function startSlowModel(slowTimes: number): Promise<{ model: ModelEndpoint; settings: Record<string, string> }> {
  const model = await startModelEndpoint();
  const slow = { kind: "text", text, pieceCharacters: 20, pieceMs: 25 } as const;
  model.answer(...Array.from({ length: slowTimes }, () => slow), { kind: "text", text });
  return { model, settings: { MODEL_BASE_URL: model.baseUrl, MODEL_NAME: "slow", OUTBOUND_ALLOW_CIDRS: "127.0.0.0/8" } };
}

async function startDraft(rest: Rest) {
  const { workspaceId } = (await rest.expect(200, "GET", "/workspaces")).workspaces[0];
  const inTopics = `/workspaces/${workspaceId}/topics`;
  const { topicId } = await rest.expect(201, "POST", inTopics, { title: "Kites", targetAudience: "builders" });
  const { runId, articleId } = await rest.expect(202, "POST", `${inTopics}/${topicId}/draft/actions`, { action: "create" });
  const contentPath = `/articles/${articleId}/content`;
  return {
    workspaceId,
    articleId,
    runId,
    contentPath,
    read: async () => (await rest.expect<{ content: string }>(200, "GET", contentPath)).content,
    run: () => rest.expect(200, "GET", `/runs/${runId}`),
  };
}

type Drafting = Awaited<ReturnType<typeof startDraft>>;

async function expectOnce(rest: Rest, { runId, articleId, read }: Drafting, notes: readonly string[]): Promise<readonly AgentEvent[]> {
  const { events, lastSeq } = await rest.expect<{ events: AgentEvent[]; lastSeq: number }>(200, "GET", `/runs/${runId}/events?limit=100`);
  expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: lastSeq }, (_, at) => at + 1));
  expect(events.flatMap((event) => (event.event === "agent.step_completed" ? [event.data.stepName] : []))).toEqual(steps);
  const begun = events.flatMap((event) => (event.event === "agent.step_started" ? [`${event.data.stepName} ${event.data.attempt}`] : []));
  expect(new Set(begun).size).toBe(begun.length);
  const { artifacts } = await rest.expect(200, "GET", `/runs/${runId}/artifacts`);
  const drafts = artifacts.filter(({ kind }: { kind: string }) => kind === "draft");
  expect(drafts).toHaveLength(1);
  const path = `/runs/${runId}/artifacts/${drafts[0].artifactKey}`;
  const draft = await rest.expect<string>(200, "GET", path, undefined, { accept: "text/markdown" });
  const content = await read();
  for (const note of notes) expect(content.split(note).length - 1, note).toBe(1);
  expect(notes.reduce((text, note) => text.replace(note, ""), content)).toBe(draft);
  expect((await rest.expect(200, "GET", `/articles/${articleId}/commits?kind=agent`)).commits).toHaveLength(1);
  return events;
}

it("[RU83] SIGSTOP beyond the lease during a draft: one draft, each step ends once, notes stay", async () => {
  const stopTimes = 3;
  const { model, settings } = await startSlowModel(stopTimes);
  const server = await startServer({ LIMITS: "off", LEASE_MS: String(leaseMs), ...settings });
  try {
    const rest = await signIn(server.url, server.operator);
    const drafting = await startDraft(rest);
    const notes: string[] = [];
    for (let stops = 0; stops < stopTimes; stops += 1) {
      await expect.poll(async () => (await drafting.read()).length, { interval: 20 }).toBeGreaterThan(1000);
      const note = `«note ${stops}»`;
      await rest.expect(200, "PATCH", drafting.contentPath, { mode: "append", content: note });
      notes.push(note);
      expect((await drafting.run()).steps[0].status).toBe("running");
      process.kill(server.pid, "SIGSTOP");
      // Wait in real time, because a lease ends only when its time is over.
      await pause(2.5 * leaseMs);
      process.kill(server.pid, "SIGCONT");
      // The step starts again.
      await expect.poll(async () => (await drafting.run()).steps[0].attempt, { interval: 20, timeout: 15_000 }).toBeGreaterThan(stops + 1);
    }
    await expect.poll(async () => (await drafting.run()).status, { timeout: 60_000 }).toBe("completed");
    const events = await expectOnce(rest, drafting, notes);
    expect(events.filter(({ event }) => event === "agent.step_started").length).toBeGreaterThan(steps.length + 2);
    expect((await drafting.run()).steps.map(({ status }: { status: string }) => status)).toEqual(["completed", "completed", "completed"]);
    expect(server.logLines.filter(({ level }) => level === "error")).toEqual([]);
  } finally {
    await server.remove();
    await model.close();
  }
});

const mount = 'mount -t tmpfs -o size=24m,mode=0700 tmpfs "$0" && head -c 8388608 /dev/zero > "$0/ballast" && exec "$@"';

/** Returns the command line that runs a server on a private mount, as root or in a user namespace. */
function onSmallDisk(dataDir: string): readonly string[] {
  const flags = ["-m", "-rm"].find((tried) => spawnSync("unshare", [tried, "sh", "-c", mount, dataDir, "true"]).status === 0);
  if (flags === undefined) throw new Error("this test mounts a tmpfs: it needs root with CAP_SYS_ADMIN, or user namespaces, and unshare");
  return ["unshare", flags, "sh", "-c", mount, dataDir];
}

it("[RU84] a disk that fills up during a streaming draft fails no run, which ends once there is space", async () => {
  const { model, settings } = await startSlowModel(1);
  const server = await startServer(
    { LIMITS: "off", LEASE_MS: String(leaseMs), DISK_RESERVE_MIB: "2", ...settings },
    { within: onSmallDisk },
  );
  try {
    const rest = await signIn(server.url, server.operator);
    const drafting = await startDraft(rest);
    await expect.poll(async () => (await drafting.read()).length, { interval: 20 }).toBeGreaterThan(1000);
    const note = "«a note»";
    await rest.expect(200, "PATCH", drafting.contentPath, { mode: "append", content: note });
    const { workspaceId } = drafting;
    const fill = (n: number) =>
      rest.request("POST", "/articles", { workspaceId, title: `Article ${n}`, content: `${n}\n${`${n} `.repeat(200_000)}` });
    for (let n = 1; (await fill(n)).status === 201; n += 1) expect(n).toBeLessThan(100);
    // The space that is left is below the reserve. As soon as the server notices this, it refuses all writes.
    await expect.poll(async () => (await rest.request("GET", "/readyz")).status).toBe(503);
    expect((await drafting.run()).status).toBe("running");
    expect((await rest.request("PATCH", drafting.contentPath, { mode: "append", content: "x" })).status).toBe(507);
    expect(await drafting.read()).toContain(note);
    await pause(2.5 * leaseMs);
    expect((await drafting.run()).status).toBe("running");
    rmSync(`/proc/${server.pid}/root${server.dataDir}/ballast`);
    await expect.poll(async () => (await drafting.run()).status, { timeout: 60_000 }).toBe("completed");
    await expectOnce(rest, drafting, [note]);
    expect((await drafting.run()).failure).toBeUndefined();
  } finally {
    await server.remove();
    await model.close();
  }
});
