/**
 * Viewer scenarios: a thousand viewers of one timeline, while a run works for people who ask for changes, and while many runs
 * start at once.
 *
 * A bare uWebSockets.js server writes the recorded events to as many streams, at the times at which ours wrote them.
 * The latency runs from the event's own time, which is before its commit, to the moment at which the driver has received it.
 */
import { setTimeout as pause } from "node:timers/promises";
import { type Rest, signIn } from "../../test/support/clients.ts";
import { type RunningServer, startServer } from "../../test/support/server.ts";
import { makeTopic, startWaitingRun, untilApproval } from "../../test/support/waitingRun.ts";
import { cpuSeconds, residentBytes } from "../processFigures.ts";
import { type BenchServer, benchLimits, startBenchServer } from "./benchServer.ts";
import { BenchViewer, type ReceivedEvent } from "./benchViewer.ts";
import { median, type Row } from "./row.ts";

const viewerCount = 1000;
/** So many that the growth of the heap with the first ones hardly counts. */
const idleCount = 4000;
const changesEveryMs = 500;
const changes = 24;
const burstRuns = 40;
const hangMs = 60_000;
const settleMs = 8000;
const warmUps = 10;
const restMs = 1000;
const MB = 1e6;

type Timeline = "run" | "workspace";

interface Figures {
  /** Share of the expected events that arrived once and in order. */
  readonly inOrder: number;
  readonly deliveriesPerCpuSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface Stage {
  readonly server: RunningServer;
  readonly rest: Rest;
  readonly key: Readonly<Record<string, string>>;
  readonly workspaceId: string;
}

async function openStage(): Promise<Stage> {
  const limits = { ...JSON.parse(benchLimits), ...Object.fromEntries(["rate.runs", "rate.management"].map((name) => [name, "off"])) };
  const server = await startServer({ LIMITS: JSON.stringify(limits) });
  const rest = await signIn(server.url, server.operator);
  const { workspaceId } = await rest.expect(201, "POST", "/workspaces", { name: "Bench", type: "team" });
  const { key } = await rest.expect(201, "POST", "/api-keys", { name: "viewer", scopes: ["workspaces:read"] });
  return { server, rest, key: { "x-api-key": key }, workspaceId };
}

async function lastSeqOf({ rest }: Stage, runId: string): Promise<number> {
  return (await rest.expect(200, "GET", `/runs/${runId}`)).lastSeq;
}

/** Answers the run's approval with a request for changes, so many times. Each one runs the step again. Returns the number of events. */
async function workAtHumanPace(stage: Stage, runId: string, times: number): Promise<number> {
  const before = await lastSeqOf(stage, runId);
  for (let at = 0; at < times; at += 1) {
    const startedAtMs = performance.now();
    const approvalId = await untilApproval(stage.rest, runId);
    await stage.rest.expect(200, "POST", `/runs/${runId}/approvals/${approvalId}`, { decision: "request_changes", note: "Once more." });
    await pause(Math.max(0, startedAtMs + changesEveryMs - performance.now()));
  }
  await untilApproval(stage.rest, runId);
  return (await lastSeqOf(stage, runId)) - before;
}

/** Starts a run. All runs of the burst change one counter, so a start may be refused and is then repeated. */
async function startResearch({ rest, workspaceId }: Stage, topicId: string): Promise<string> {
  for (;;) {
    const { status, body } = await rest.request("POST", "/workflows/research/runs", { workspaceId, topicId });
    if (status === 202) return body.runId;
    if (status !== 503) throw new Error(`the run was refused: ${JSON.stringify(body)}`);
  }
}

/** Many runs start at once and work to their end. Returns the number of their events. */
async function workInABurst(stage: Stage): Promise<number> {
  const { rest, workspaceId } = stage;
  const topics: string[] = [];
  for (let at = 0; at < burstRuns; at += 1) topics.push(await makeTopic(rest, workspaceId, `Kites ${at}`));
  const runs = await Promise.all(topics.map((topicId) => startResearch(stage, topicId)));
  let events = 0;
  for (const runId of runs) {
    for (;;) {
      const { status, lastSeq } = await rest.expect(200, "GET", `/runs/${runId}`);
      if (status === "completed") {
        events += lastSeq;
        break;
      }
      if (status === "failed") throw new Error(`the run ${runId} has failed`);
      await pause(50);
    }
  }
  return events;
}

interface Recorded extends ReceivedEvent {
  readonly atMs: number;
}

interface Crowd {
  readonly viewers: readonly BenchViewer[];
  readonly latenciesMs: number[];
  /** Events as the first viewer received them. */
  readonly recorded: Recorded[];
  close(): void;
}

/** Opens the viewers. `sentAtMs` has the time of each event by its number; a missing one is read from the event. */
async function gather(
  url: string,
  headers: Readonly<Record<string, string>>,
  count: number,
  sentAtMs = new Map<number, number>(),
): Promise<Crowd> {
  const latenciesMs: number[] = [];
  const recorded: Recorded[] = [];
  const viewers: BenchViewer[] = [];
  const onEvent = (viewer: BenchViewer, event: ReceivedEvent) => {
    const atMs = Date.now();
    let sentMs = sentAtMs.get(event.number);
    if (sentMs === undefined) {
      sentMs = Date.parse(/"createdAt":"([^"]+)"/.exec(event.text)?.[1] ?? "");
      sentAtMs.set(event.number, sentMs);
    }
    latenciesMs.push(atMs - sentMs);
    if (viewer === viewers[0]) recorded.push({ ...event, atMs });
  };
  for (let at = 0; at < count; at += 1) viewers.push(await BenchViewer.open({ url, headers, onEvent }));
  return {
    viewers,
    latenciesMs,
    recorded,
    close() {
      for (const viewer of viewers) viewer.close();
    },
  };
}

/** Does some work, which returns the number of its events, and waits until every viewer has received as many. */
async function measure(crowd: Crowd, pids: readonly number[], work: () => Promise<number>): Promise<Figures> {
  const { viewers, latenciesMs } = crowd;
  const countOf = (pick: (viewer: BenchViewer) => number) => viewers.reduce((sum, viewer) => sum + pick(viewer), 0);
  const before = new Map(viewers.map((viewer) => [viewer, viewer.received]));
  const faultsBefore = countOf(({ faults }) => faults);
  latenciesMs.length = 0;
  const receivedBy = (viewer: BenchViewer) => viewer.received - (before.get(viewer) ?? 0);
  const cpuBefore = cpuSeconds(pids);
  const events = await work();
  for (const giveUpAtMs = performance.now() + hangMs; performance.now() < giveUpAtMs; await pause(20)) {
    if (viewers.every((viewer) => receivedBy(viewer) >= events)) break;
  }
  const cpu = cpuSeconds(pids) - cpuBefore;
  const wrong = countOf(({ faults }) => faults) - faultsBefore + countOf((viewer) => Math.abs(events - receivedBy(viewer)));
  const sorted = latenciesMs.sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  const expected = events * viewers.length;
  return {
    inOrder: Math.max(0, 1 - wrong / expected),
    deliveriesPerCpuSecond: countOf(receivedBy) / cpu,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  };
}

/** Writes the events again, at the times at which they were received. */
async function replay(url: string, events: readonly Recorded[], sentAtMs: Map<number, number>): Promise<number> {
  const startedAtMs = Date.now();
  const [first] = events;
  for (const event of events) {
    const dueMs = startedAtMs + event.atMs - (first?.atMs ?? 0);
    if (dueMs > Date.now()) await pause(dueMs - Date.now());
    sentAtMs.set(event.number, Date.now());
    await (await fetch(url, { method: "POST", body: event.text })).text();
  }
  return events.length;
}

/** Results of one round, by server. */
type Round = Readonly<Record<"ours" | "bare", Figures>>;

async function runRound(timeline: Timeline, work: Work, stage: Stage, bare: BenchServer): Promise<Round> {
  const { server } = stage;
  const { runId } = await startWaitingRun(stage.rest, stage.workspaceId);
  const path = timeline === "run" ? `/runs/${runId}/stream?from=now` : `/workspaces/${stage.workspaceId}/timeline/stream`;
  const crowd = await gather(server.url + path, stage.key, viewerCount);
  await workAtHumanPace(stage, runId, warmUps);
  await pause(restMs);
  crowd.recorded.length = 0;
  const ours = await measure(crowd, [server.pid], () => (work === "burst" ? workInABurst(stage) : workAtHumanPace(stage, runId, changes)));
  crowd.close();
  await pause(restMs);

  const { url, headers } = bare.address("viewers", 0);
  const sentAtMs = new Map<number, number>();
  const address = url.replace(/^ws/, "http");
  const warmUp = await gather(address, headers, viewerCount, sentAtMs);
  await replay(address, crowd.recorded.slice(0, 5 * warmUps), sentAtMs);
  warmUp.close();
  await pause(restMs);
  const bareCrowd = await gather(address, headers, viewerCount, sentAtMs);
  const figures = await measure(bareCrowd, bare.pids, () => replay(address, crowd.recorded, sentAtMs));
  bareCrowd.close();
  await pause(restMs);
  return { ours, bare: figures };
}

type Work = "human pace" | "burst";

const kinds: readonly { readonly timeline: Timeline; readonly work: Work }[] = [
  { timeline: "run", work: "human pace" },
  { timeline: "workspace", work: "human pace" },
  { timeline: "workspace", work: "burst" },
];

export async function runViewers(rounds: number, tell: (line: string) => void): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const stage = await openStage();
  const bare = await startBenchServer("bare event streams");
  try {
    for (const { timeline, work } of kinds) {
      const results: Round[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const result = await runRound(timeline, work, stage, bare);
        results.push(result);
        for (const [name, { inOrder, deliveriesPerCpuSecond, p50Ms, p99Ms }] of Object.entries(result)) {
          const rate = `${Math.round(deliveriesPerCpuSecond)} deliveries per CPU second`;
          tell(`P9 1 ${timeline}, ${work}: ${name} ${rate}, p50 ${p50Ms} ms, p99 ${p99Ms} ms, ${inOrder} in order`);
        }
      }
      rows.push(...toRows(`1 ${timeline}, ${viewerCount} viewers, ${work}`, results));
    }
  } finally {
    await stage.server.remove();
    await bare.stop();
  }
  return rows;
}

function toRows(scenario: string, results: readonly Round[]): readonly Row[] {
  const figuresOf = (pick: (figures: Figures) => number) => ({
    ours: Number(median(results.map(({ ours }) => pick(ours))).toPrecision(4)),
    bare: Number(median(results.map(({ bare }) => pick(bare))).toPrecision(4)),
  });
  const [inOrder, p99, rate] = [
    figuresOf((each) => each.inOrder),
    figuresOf((each) => each.p99Ms),
    figuresOf((each) => each.deliveriesPerCpuSecond),
  ];
  const row = { id: "P9", scenario };
  return [
    {
      ...row,
      measure: "share of events received once and in order",
      value: Math.min(...results.map(({ ours }) => ours.inOrder)),
      goal: 1,
      floor: 1,
      better: "higher",
      figures: inOrder,
    },
    { ...row, measure: "p99 in ms", value: p99.ours, goal: 100, floor: 100, better: "lower", figures: p99 },
    {
      ...row,
      measure: "deliveries per CPU second ÷ bare server",
      value: rate.ours / rate.bare,
      goal: 0.7,
      floor: 0.5,
      better: "higher",
      figures: rate,
    },
  ];
}

/** Measures what viewers cost that receive nothing, after a restart. */
export async function runIdleViewers(rounds: number, tell: (line: string) => void): Promise<readonly Row[]> {
  const results: Record<"run" | "workspace" | "bare", number[]> = { run: [], workspace: [], bare: [] };
  const hold = async (pids: () => readonly number[], url: string, headers: Readonly<Record<string, string>>) => {
    // The first viewers load the code, so that its memory is not counted as theirs.
    const touch = await gather(url, headers, 50);
    touch.close();
    await pause(settleMs);
    const before = residentBytes(pids());
    const crowd = await gather(url, headers, idleCount);
    await pause(settleMs);
    const megabytes = (residentBytes(pids()) - before) / MB / (idleCount / 1000);
    crowd.close();
    return megabytes;
  };
  for (let round = 0; round < rounds; round += 1) {
    const stage = await openStage();
    const { runId } = await startWaitingRun(stage.rest, stage.workspaceId);
    const bare = await startBenchServer("bare event streams");
    try {
      for (const [name, path] of [
        ["run", `/runs/${runId}/stream`],
        ["workspace", `/workspaces/${stage.workspaceId}/timeline/stream`],
      ] as const) {
        await stage.server.stop();
        await stage.server.start();
        results[name].push(await hold(() => [stage.server.pid], stage.server.url + path, stage.key));
      }
      const { url, headers } = bare.address("viewers", 0);
      results.bare.push(await hold(() => bare.pids, url.replace(/^ws/, "http"), headers));
    } finally {
      await stage.server.remove();
      await bare.stop();
    }
    const last = Object.entries(results).map(([name, values]) => `${name} ${values.at(-1)?.toFixed(2)}`);
    tell(`P9 idle viewers: ${last.join(", ")} MB per 1,000`);
  }
  const figures = Object.fromEntries(Object.entries(results).map(([name, values]) => [name, Number(median(values).toFixed(2))]));
  return (["run", "workspace"] as const).map((name) => ({
    id: "P9",
    scenario: `idle viewers, all of one ${name}`,
    measure: "MB per 1,000 idle viewers",
    value: Number(figures[name]),
    goal: 5,
    floor: 5,
    better: "lower",
    figures,
  }));
}
