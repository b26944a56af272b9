/**
 * Runs whose drafts wait for an approval that no person gives. The approval expires by a timer that was stored when the
 * wait began, whichever node is then alive. Each approval expires once, and in time.
 */
import { setTimeout as pause } from "node:timers/promises";
import { percentile } from "./outcome.ts";
import type { Rig } from "./rig.ts";
import { readEvents, type StartedRun, startArticleRun, untilCompleted } from "./runs.ts";
import { checkTimer } from "./runTimer.ts";
import { createScenario, isClean } from "./scenario.ts";

interface Scale {
  readonly timers: number;
  /** Number of runs that start at once. */
  readonly abreast: number;
  readonly everyMs: number;
}

const lateMs = 1000;

/** A time without any running node, in Unix milliseconds. */
interface Outage {
  readonly fromMs: number;
  untilMs: number;
}

async function play(rig: Rig, { timers, abreast, everyMs }: Scale, tell: (what: string) => void) {
  const outages: Outage[] = [];
  let isOver = false;
  async function kill(): Promise<void> {
    for (let at = 0; !isOver; at += 1) {
      await pause(everyMs * (0.5 + Math.random()));
      const node = rig.nodes[at % rig.nodes.length];
      const outage = { fromMs: Date.now(), untilMs: Number.POSITIVE_INFINITY };
      if (rig.nodes.length === 1) outages.push(outage);
      await node?.kill();
      await node?.start();
      outage.untilMs = Date.now();
    }
  }
  const killing = kill();
  killing.catch(() => {});

  const runs: StartedRun[] = [];
  let names = 0;
  async function start(): Promise<void> {
    while (names < timers) {
      names += 1;
      runs.push(await startArticleRun(rig, `Article ${names}`, ["outline"]));
    }
  }
  await Promise.all(Array.from({ length: abreast }, start));
  for (const run of runs) await untilCompleted(rig, run);
  isOver = true;
  await killing;

  const latenessMs: number[] = [];
  let [acked, bad, lost, dup] = [0, 0, 0, 0];
  for (const { runId } of runs) {
    const { dueMs, firedMs, ...faults } = checkTimer(runId, await readEvents(rig, runId));
    acked += 1;
    for (const what of [...faults.lost, ...faults.dup, ...faults.bad]) tell(what);
    lost += faults.lost.length;
    dup += faults.dup.length;
    bad += faults.bad.length;
    if (faults.lost.length > 0) continue;
    const downMs = outages.reduce((sum, { fromMs, untilMs }) => sum + Math.max(0, Math.min(untilMs, firedMs) - Math.max(fromMs, dueMs)), 0);
    latenessMs.push(Math.max(0, firedMs - dueMs - downMs));
  }
  return {
    load: `${timers} timers of runs`,
    faults: `${rig.kills} node kills, one every ${everyMs} ms`,
    bad,
    acked,
    lost,
    dup,
    p50: percentile(latenessMs, 0.5),
    p99: percentile(latenessMs, 0.99),
  };
}

function toSettings(approvalMs: number) {
  const rates = ["default", "writes", "connects", "runs", "management", "auth"].map((name) => [`rate.${name}`, "off"]);
  return { LIMITS: JSON.stringify({ ...Object.fromEntries(rates), "run.optionalApproval": approvalMs }), LEASE_MS: "500" };
}

export const timersKilled = createScenario<Scale>({
  name: "timers-killed",
  modes: ["E", "R"],
  short: { timers: 16, abreast: 8, everyMs: 700 },
  full: { timers: 1000, abreast: 12, everyMs: 4000 },
  rig: { settings: toSettings(3000) },
  play,
  figure: "no timer is lost, doubled or early; its delay is at most 1 s (p99) while a node is up",
  holds: (outcome) => isClean(outcome) && outcome.p99 <= lateMs,
});
