/**
 * Commits at a steady pace are delivered to webhooks. The receiver fails a fifth of the time and sometimes never
 * answers. The load runs first without faults, then while nodes are killed. Every stored commit reaches every webhook,
 * with one id and one body.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { ReceivedRequest, ReceiverAnswer } from "../../support/receiver.ts";
import { makeWebhook, watchArrivals } from "./arrivals.ts";
import { settleCommitters } from "./committers.ts";
import { percentile } from "./outcome.ts";
import type { Rig } from "./rig.ts";
import { createScenario } from "./scenario.ts";

interface Scale {
  readonly webhooks: number;
  /** Minimum number of commits before the first kill, and during the kills. */
  readonly commits: { readonly inPeace: number; readonly underKills: number };
  readonly perSecond: number;
  readonly kills: number;
  readonly everyMs: number;
}

const abreast = 32;
/** Maximum time until everything is delivered after the last commit. */
const toldMs = 120_000;
/**
 * Time without a request after which the load counts as quiet: answers are stored, and the leases of dead nodes have
 * ended.
 */
const quietMs = 4000;
const dupShare = 0.02;
/** Longer than the pauses of a node on a busy machine: a node that loses its lease repeats its requests, and is right to. */
const leaseMs = 3000;

function toAnswer({ n }: ReceivedRequest): ReceiverAnswer {
  if (n % 50 === 0) return "hang";
  return { status: n % 5 === 1 ? 500 : 204 };
}

function isAccepted(request: ReceivedRequest): boolean {
  const answer = toAnswer(request);
  return typeof answer === "object" && answer.status === 204;
}

async function play(rig: Rig, { webhooks: count, commits, perSecond, kills, everyMs }: Scale, tell: (what: string) => void) {
  const bad: string[] = [];
  const committers = await settleCommitters(rig, abreast);
  const webhooks = await Promise.all(Array.from({ length: count }, (_, n) => makeWebhook(rig, `${n}`)));
  const arrivals = watchArrivals(rig, webhooks, isAccepted);
  const { ackedAtMs } = committers;

  /** Returns the missing deliveries as webhook and commit: their receiver has not accepted them. */
  function missing(owed: ReadonlySet<string>): readonly string[] {
    arrivals.look();
    return webhooks.flatMap((webhook) => {
      const told = arrivals.of(webhook);
      return [...owed].filter((commitId) => (told.get(commitId)?.accepted ?? 0) === 0).map((commitId) => `${webhook.path} ${commitId}`);
    });
  }

  async function untilTold(): Promise<ReadonlySet<string>> {
    const owed = new Set([...ackedAtMs.keys(), ...(await committers.list())]);
    for (const endMs = Date.now() + toldMs; Date.now() < endMs; await pause(50)) {
      if (missing(owed).length === 0 && Date.now() - arrivals.lastAtMs > quietMs) break;
    }
    return owed;
  }

  await committers.commitUntil(() => ackedAtMs.size >= commits.inPeace, perSecond);
  const inPeace = await untilTold();

  let killed = 0;
  async function kill(): Promise<void> {
    for (; killed < kills; killed += 1) {
      const endMs = Date.now() + everyMs;
      await pause(everyMs * Math.random() * 0.5);
      const node = rig.nodes[killed % rig.nodes.length];
      await node?.kill();
      await node?.start();
      await pause(endMs - Date.now());
    }
  }
  const enough = commits.inPeace + commits.underKills;
  await Promise.all([kill(), committers.commitUntil(() => killed >= kills && ackedAtMs.size >= enough, perSecond)]);
  const owed = await untilTold();

  let dup = 0;
  const lost = missing(owed);
  for (const what of lost.slice(0, 5)) tell(`not told: ${what}`);
  const standing = await committers.list();
  for (const commitId of ackedAtMs.keys()) if (!standing.has(commitId)) bad.push(`${commitId} was answered and is gone`);
  for (const webhook of webhooks) {
    for (const [commitId, { deliveryId, repeated }] of arrivals.of(webhook)) {
      if (!standing.has(commitId)) bad.push(`${commitId} was told and is not`);
      if (!inPeace.has(commitId)) dup += repeated;
      else if (repeated > 0) bad.push(`${deliveryId} came ${repeated} times more in peace`);
    }
  }
  bad.push(...arrivals.wrong);
  for (const what of bad.slice(0, 5)) tell(what);
  const waitsMs = webhooks.flatMap((webhook) =>
    [...arrivals.of(webhook)].flatMap(([commitId, { firstAtMs }]) => {
      const atMs = ackedAtMs.get(commitId);
      return atMs === undefined ? [] : [Math.max(0, firstAtMs - atMs)];
    }),
  );
  return {
    load: `${owed.size} commits, ${perSecond} a second, ${commits.inPeace} of them without kills, sent to ${count} webhooks; ${rig.receiver.received.length} requests`,
    faults: `${kills} node kills, one every ${everyMs} ms; 20 % of the answers 500, 2 % never`,
    bad: bad.length,
    acked: owed.size * count,
    lost: lost.length,
    dup,
    p50: percentile(waitsMs, 0.5),
    p99: percentile(waitsMs, 0.99),
  };
}

/** A receiver that never answers occupies its slot for this long, so the pace needs more slots than the default. */
const limits = {
  "rate.default": "off",
  "rate.writes": "off",
  "rate.management": "off",
  "webhook.totalMs": 5000,
  "webhook.connectMs": 5000,
  "webhook.inFlight": 8,
};
const schedule = [0, ...Array.from({ length: 24 }, () => 0.5)];

export const webhooksKilled = createScenario<Scale>({
  name: "webhooks-killed",
  modes: ["E", "R"],
  short: { webhooks: 3, commits: { inPeace: 30, underKills: 120 }, perSecond: 30, kills: 3, everyMs: 1000 },
  full: { webhooks: 3, commits: { inPeace: 1000, underKills: 5000 }, perSecond: 100, kills: 20, everyMs: 3000 },
  rig: {
    settings: { LEASE_MS: String(leaseMs), LIMITS: JSON.stringify(limits), WEBHOOK_RETRY_SCHEDULE: schedule.join(",") },
    answer: toAnswer,
  },
  play,
  figure:
    "no event is missing; none is repeated without kills, and at most 2 % with kills; all retries have one id, one body and a valid signature (times: commit to first request)",
  holds: ({ bad, lost, dup, acked }) => bad === 0 && lost === 0 && acked > 0 && dup <= acked * dupShare,
});
