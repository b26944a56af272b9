/**
 * Viewers of a timeline move from node to node with only the last event id, while runs write to it and nodes are
 * killed. Each viewer receives every event of every run, once and in order.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Rig } from "./rig.ts";
import { readEvents, type StartedRun, startArticleRun, untilCompleted } from "./runs.ts";
import { createScenario, isClean } from "./scenario.ts";
import { openViewer, type Viewer } from "./viewer.ts";

interface Scale {
  readonly viewers: number;
  /** Minimum number of resumes of each viewer. */
  readonly resumes: number;
  readonly kills: number;
  readonly everyMs: number;
  readonly abreast: number;
}

const caughtUpMs = 60_000;

interface Heard {
  readonly missing: readonly string[];
  readonly double: readonly string[];
  readonly disorder: readonly string[];
}

/** `all`: the events of each run, read from its pages. */
function compare({ seen }: Viewer, all: ReadonlyMap<string, readonly string[]>): Heard {
  const ids = new Set<string>();
  const double = seen.filter(({ id }) => ids.has(id) || !ids.add(id)).map(({ id }) => id);
  const lastSeq = new Map<string, number>();
  const disorder: string[] = [];
  const heard = new Set<string>();
  for (const { event } of seen) {
    if (event.seq <= (lastSeq.get(event.runId) ?? 0)) disorder.push(`${event.runId} ${event.seq} after ${lastSeq.get(event.runId)}`);
    lastSeq.set(event.runId, event.seq);
    heard.add(`${event.runId} ${event.seq} ${event.event}`);
  }
  return { missing: [...all.values()].flat().filter((each) => !heard.has(each)), double, disorder };
}

async function play(rig: Rig, { viewers: count, resumes, kills, everyMs, abreast }: Scale, tell: (what: string) => void) {
  const path = `/workspaces/${rig.workspaceId}/timeline/stream?from=start`;
  const viewers = Array.from({ length: count }, (_, node) =>
    openViewer({
      urls: () => rig.nodes.map(({ url }) => url),
      path,
      headers: rig.rest(0).headers,
      stayMs: () => 20 + Math.random() * 300,
      node,
    }),
  );
  const runs: StartedRun[] = [];
  const isEnough = () => killed >= kills && viewers.every((viewer) => viewer.resumes >= resumes);
  let killed = 0;
  let names = 0;
  async function write(): Promise<void> {
    while (!isEnough()) {
      names += 1;
      const run = await startArticleRun(rig, `Article ${names}`);
      runs.push(run);
      await untilCompleted(rig, run);
    }
  }
  async function kill(): Promise<void> {
    for (; killed < kills; killed += 1) {
      await pause(everyMs * (0.5 + Math.random()));
      const node = rig.nodes[killed % rig.nodes.length];
      await node?.kill();
      await node?.start();
    }
  }
  await Promise.all([kill(), ...Array.from({ length: abreast }, write)]);

  const all = new Map<string, readonly string[]>();
  for (const { runId } of runs)
    all.set(
      runId,
      (await readEvents(rig, runId)).map(({ seq, event }) => `${runId} ${seq} ${event}`),
    );
  const isCaughtUp = () => viewers.every((viewer) => compare(viewer, all).missing.length === 0);
  for (const endMs = Date.now() + caughtUpMs; !isCaughtUp() && Date.now() < endMs; ) await pause(50);
  await Promise.all(viewers.map((viewer) => viewer.stop()));

  const heard = viewers.map((viewer) => compare(viewer, all));
  for (const { missing, double, disorder } of heard) {
    for (const what of missing.slice(0, 3)) tell(`missing: ${what}`);
    for (const what of double.slice(0, 3)) tell(`double: ${what}`);
    for (const what of disorder.slice(0, 3)) tell(`out of order: ${what}`);
  }
  const trouble = viewers.flatMap((viewer) => viewer.trouble);
  for (const what of trouble.slice(0, 5)) tell(`told: ${what}`);
  const sum = (part: keyof Heard) => heard.reduce((whole, each) => whole + each[part].length, 0);
  return {
    load: `${count} viewers who resumed ${viewers.reduce((whole, viewer) => whole + viewer.resumes, 0)} times, ${runs.length} runs`,
    faults: `${kills} node kills, one every ${everyMs} ms`,
    bad: sum("disorder") + trouble.length,
    acked: viewers.reduce((whole, viewer) => whole + viewer.seen.length, 0),
    lost: sum("missing"),
    dup: sum("double"),
    p50: 0,
    p99: 0,
  };
}

export const timelineResumed = createScenario<Scale>({
  name: "timeline-resumed",
  modes: ["E", "R"],
  short: { viewers: 3, resumes: 8, kills: 3, everyMs: 500, abreast: 2 },
  full: { viewers: 4, resumes: 100, kills: 30, everyMs: 1000, abreast: 3 },
  play,
  figure: "no event is missing, out of order or repeated",
  holds: (outcome) => isClean(outcome) && outcome.acked > 0,
});
