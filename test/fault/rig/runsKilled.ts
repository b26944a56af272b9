/**
 * Runs of five steps, each of which asks a model that never repeats an answer, while nodes are killed. A finished step
 * is not requested again and keeps its value. An interrupted step is requested again, at most once per kill.
 */
import { setTimeout as pause } from "node:timers/promises";
import { keepModelLedger } from "./modelLedger.ts";
import { percentile } from "./outcome.ts";
import type { Rig } from "./rig.ts";
import { checkRun, type StartedRun, startArticleRun, untilCompleted } from "./runs.ts";
import { createScenario, isClean } from "./scenario.ts";

interface Scale {
  /** Minimum number of runs. New runs start until the last kill. */
  readonly runs: number;
  /** Number of runs at once. */
  readonly abreast: number;
  readonly kills: number;
  readonly everyMs: number;
}

const endedMs = 15_000;

async function play(rig: Rig, { runs, abreast, kills, everyMs }: Scale, tell: (what: string) => void) {
  const ledger = keepModelLedger(rig, () => ({ pieces: 8, pieceMs: 25 }));
  const spans: { readonly fromMs: number; readonly untilMs: number }[] = [];
  const started: StartedRun[] = [];
  let [next, isOver] = [0, false];
  async function work(): Promise<void> {
    while (next < runs || !isOver) {
      next += 1;
      const fromMs = Date.now();
      const run = await startArticleRun(rig, `Article ${next}`);
      started.push(run);
      await untilCompleted(rig, run);
      spans.push({ fromMs, untilMs: Date.now() });
    }
  }
  const working = Promise.all(Array.from({ length: abreast }, work));
  working.catch(() => {});
  let lastStartMs = Date.now();
  for (let kill = 0; kill < kills; kill += 1) {
    await pause(everyMs * (0.5 + Math.random()));
    const node = rig.nodes[kill % rig.nodes.length];
    await node?.kill();
    await node?.start();
    lastStartMs = Date.now();
  }
  isOver = true;
  await working;

  let [acked, bad, lost, dup, repeats] = [0, 0, 0, 0, 0];
  for (const run of started) {
    const check = await checkRun(rig, run, ledger, kills);
    for (const what of [...check.bad, ...check.rerun, ...check.changed]) tell(what);
    acked += check.finished;
    bad += check.bad.length;
    lost += check.changed.length;
    dup += check.rerun.length;
    repeats += check.repeats;
  }
  // The runs that were active when the last node came back.
  const lateMs = spans
    .filter(({ fromMs, untilMs }) => fromMs < lastStartMs && untilMs > lastStartMs)
    .map(({ untilMs }) => untilMs - lastStartMs);
  return {
    load: `${started.length} runs of 5 steps, ${abreast} at once; ${repeats} interrupted steps requested again`,
    faults: `${kills} node kills, one every ${everyMs} ms`,
    bad,
    acked,
    lost,
    dup,
    p50: percentile(lateMs, 0.5),
    p99: percentile(lateMs, 1),
  };
}

export const runsKilled = createScenario<Scale>({
  name: "runs-killed",
  modes: ["E", "R"],
  short: { runs: 5, abreast: 5, kills: 3, everyMs: 700 },
  full: { runs: 200, abreast: 8, kills: 40, everyMs: 2000 },
  rig: { settings: { MODEL_NAME: "ledger" } },
  play,
  figure: `no finished step runs again and no result changes; runs that were active at the last start end within ${endedMs / 1000} s of it (times)`,
  holds: (outcome) => isClean(outcome) && outcome.p99 <= endedMs,
});
