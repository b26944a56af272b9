/**
 * The owner of a run stops answering in the middle of a streaming draft for three times its lease: its process is
 * paused, or its link to the store stalls or is cut. The other node takes over. When the old owner returns, it still
 * has half a draft. Everything that it sends then must be refused, including data that waited in the link.
 */
import { setTimeout as pause } from "node:timers/promises";
import { type Asking, keepModelLedger } from "./modelLedger.ts";
import type { RigNode } from "./node.ts";
import { percentile } from "./outcome.ts";
import type { Rig } from "./rig.ts";
import { checkRun, type StartedRun, startArticleRun, untilCompleted } from "./runs.ts";
import { createScenario, isClean } from "./scenario.ts";
import { type Silence, silence } from "./silence.ts";

interface Scale {
  readonly rounds: number;
  /** Number of active runs at once. */
  readonly abreast: number;
}

/** Longer than the pauses of a node on a busy machine, which would lose its lease without any silence of the test. */
const leaseMs = 1500;
const silentMs = 3 * leaseMs;
const takenOverMs = 60_000;
/** Gives the old owner time to try. */
const watchMs = 1000;

const silences: readonly Silence[] = ["stopped", "halfOpen", "cut"];

async function play(rig: Rig, { rounds, abreast }: Scale, tell: (what: string) => void) {
  const ledger = keepModelLedger(rig, (stepName) => (stepName === "draft" ? { pieces: 60, pieceMs: 100 } : { pieces: 2, pieceMs: 1 }));
  let [acked, bad, lost, dup] = [0, 0, 0, 0];
  const takeOversMs: number[] = [];
  const complain = (what: string) => {
    bad += 1;
    tell(what);
  };
  const drafts = ({ runId }: StartedRun) => ledger.of(runId).filter(({ stepName }) => stepName === "draft");

  /** Returns the second request for a draft, once it exists. */
  async function untilTakenOver(run: StartedRun, before: Asking): Promise<Asking | undefined> {
    for (const endMs = Date.now() + takenOverMs; Date.now() < endMs; await pause(10)) {
      const next = drafts(run).find(({ askedAtMs, value }) => value !== before.value && askedAtMs >= before.askedAtMs);
      if (next !== undefined) return next;
    }
    return undefined;
  }

  /** Checks that no text of the old owner appears after the new owner's text. */
  async function watchText(run: StartedRun, old: Asking, next: Asking): Promise<void> {
    let isTaken = false;
    for (const endMs = Date.now() + watchMs; Date.now() < endMs; await pause(50)) {
      const { content } = (await rig.insist("GET", `/articles/${run.articleId}/content`)) as { content: string };
      isTaken ||= content.includes(next.value);
      if (isTaken && content.includes(old.value)) {
        dup += 1;
        tell(`${run.runId}: text of the old owner stands in the draft of the new one`);
        return;
      }
    }
  }

  for (let round = 0; round < rounds; round += 1) {
    const runs = await Promise.all(Array.from({ length: abreast }, (_, n) => startArticleRun(rig, `Article ${round}.${n}`)));
    const completed = Promise.all(runs.map((run) => untilCompleted(rig, run)));
    completed.catch(() => {});
    // Wait until all runs write their draft and every text has begun to stream.
    while (!runs.every((run) => drafts(run).length > 0)) await pause(10);
    await pause(300);
    const at = drafts(runs[0] as StartedRun)[0]?.node ?? 0;
    const node = rig.nodes[at] as RigNode;
    const owned = runs.flatMap((run) => {
      const asking = drafts(run).at(-1);
      return asking?.node === at ? [{ run, asking }] : [];
    });
    const sinceMs = Date.now();
    const end = silence(node, silences[round % silences.length] ?? "stopped");
    const taken = Promise.all(owned.map(async ({ run, asking }) => ({ run, asking, next: await untilTakenOver(run, asking) })));
    await pause(silentMs);
    end();
    await Promise.all(
      (await taken).map(async ({ run, asking, next }) => {
        if (next === undefined) return complain(`round ${round}: ${run.runId} is not taken over`);
        takeOversMs.push(next.askedAtMs - sinceMs);
        await watchText(run, asking, next);
      }),
    );
    await completed;
    for (const run of runs) {
      const check = await checkRun(rig, run, ledger, 1);
      for (const what of [...check.bad, ...check.rerun, ...check.changed]) tell(`round ${round}: ${what}`);
      acked += check.finished;
      bad += check.bad.length;
      lost += check.changed.length;
      dup += check.rerun.length;
    }
  }
  return {
    load: `${abreast} streaming drafts at once`,
    faults: `${rounds} silences of ${silentMs} ms (SIGSTOP, dead link, cut link in turn), lease ${leaseMs} ms`,
    bad,
    acked,
    lost,
    dup,
    p50: percentile(takeOversMs, 0.5),
    p99: percentile(takeOversMs, 0.99),
  };
}

export const runsTakenOver = createScenario<Scale>({
  name: "runs-taken-over",
  modes: ["R"],
  short: { rounds: 3, abreast: 3 },
  full: { rounds: 30, abreast: 4 },
  rig: { settings: { MODEL_NAME: "ledger", LEASE_MS: String(leaseMs) } },
  play,
  figure: "no write of the old owner is accepted, and no step ends twice (times: until the other node starts the step)",
  holds: isClean,
});
