/**
 * Webhooks with many queued attempts are disabled, unsubscribed or deleted at a random moment, at another node than the
 * sender if there is one. Attempts that began before the answer may still arrive, and nothing else. A webhook that
 * stays receives everything.
 */
import { setTimeout as pause } from "node:timers/promises";
import { defaultLimits } from "../../../api/limits.ts";
import { type ListeningWebhook, makeWebhook, watchArrivals } from "./arrivals.ts";
import { settleCommitters } from "./committers.ts";
import { percentile } from "./outcome.ts";
import type { Rig } from "./rig.ts";
import { createScenario, isClean } from "./scenario.ts";

interface Scale {
  readonly rounds: number;
  /** Webhooks that are withdrawn in one round. */
  readonly webhooks: number;
  /** Commits that are queued for each webhook. */
  readonly commits: number;
  /** Maximum delay before a webhook is withdrawn. */
  readonly withinMs: number;
}

/** Time after the answer in which an attempt may still arrive. Judged in the full series, on an idle machine. */
const graceMs = 1000;
/** Time after which all queued attempts and retries would have been made. */
const watchedMs = 3000;
const toldMs = 60_000;
const abreast = 16;
const perSecond = 200;
const answerMs = 200;

const withdrawals = [
  { method: "PATCH", body: { active: false } },
  { method: "PATCH", body: { events: ["review.replied"] } },
  { method: "DELETE" },
] as const;

const isAccepted = ({ n }: { readonly n: number }) => n % 2 === 0;

async function play(rig: Rig, { rounds, webhooks: count, commits, withinMs }: Scale, tell: (what: string) => void) {
  const committers = await settleCommitters(rig, abreast);
  const path = ({ webhookId }: ListeningWebhook) => `/workspaces/${rig.workspaceId}/webhooks/${webhookId}`;
  const lastMs: number[] = [];
  let [withheld, bad, lost] = [0, 0, 0];
  let turn = 0;

  for (let round = 0; round < rounds; round += 1) {
    const withdrawn = await Promise.all(Array.from({ length: count }, (_, n) => makeWebhook(rig, `${round}-${n}`)));
    const stays = await makeWebhook(rig, `${round}-stays`);
    const arrivals = watchArrivals(rig, [...withdrawn, stays], isAccepted);
    const before = committers.ackedAtMs.size;
    await committers.commitUntil(() => committers.ackedAtMs.size >= before + commits, perSecond, round);
    const queued = committers.ackedAtMs.size - before;

    await Promise.all(
      withdrawn.map(async (webhook) => {
        turn += 1;
        const { method, ...how } = withdrawals[turn % withdrawals.length] ?? withdrawals[0];
        await pause(withinMs * Math.random());
        await rig.rest(round + 1).expect(method === "DELETE" ? 204 : 200, method, path(webhook), "body" in how ? how.body : undefined);
        const answeredMs = Date.now();
        arrivals.look();
        const open = queued - [...arrivals.of(webhook).values()].filter(({ accepted }) => accepted > 0).length;
        await pause(watchedMs);
        const afterMs = rig.receiver.received
          .filter((request) => request.path === webhook.path)
          .map((request) => request.receivedAtMs - answeredMs)
          .filter((ms) => ms > 0);
        const begunAfter = Math.max(0, afterMs.length - rig.nodes.length * defaultLimits["webhook.inFlight"]);
        if (begunAfter > 0)
          tell(`${method} ${JSON.stringify(how)}: ${afterMs.length} requests after it, the last ${Math.max(...afterMs)} ms after`);
        lastMs.push(Math.max(0, ...afterMs));
        bad += begunAfter;
        withheld += open;
      }),
    );
    const missing = () => {
      arrivals.look();
      return queued - [...arrivals.of(stays).values()].filter(({ accepted }) => accepted > 0).length;
    };
    for (const endMs = Date.now() + toldMs; missing() > 0 && Date.now() < endMs; ) await pause(50);
    if (missing() > 0) tell(`${missing()} commits were not told to the webhook that stays`);
    lost += missing();
    for (const what of arrivals.wrong) tell(what);
    bad += arrivals.wrong.length;
    await rig.insist("DELETE", path(stays));
  }
  return {
    load: `${rounds * count} webhooks with ${commits} attempts queued, ${count} at once; ${withheld} withheld`,
    faults: "disabled, unsubscribed or deleted at a random moment",
    bad,
    acked: withheld,
    lost,
    dup: 0,
    p50: percentile(lastMs, 0.5),
    p99: percentile(lastMs, 1),
  };
}

/** Only the rates are off, because the limit on open requests creates the queue. */
const limits = { "rate.default": "off", "rate.writes": "off", "rate.management": "off" };
const schedule = [0, ...Array.from({ length: 39 }, () => 0.5)];

export const webhooksWithdrawn = createScenario<Scale>({
  name: "webhooks-withdrawn",
  modes: ["E", "R"],
  short: { rounds: 1, webhooks: 6, commits: 20, withinMs: 500 },
  full: { rounds: 12, webhooks: 5, commits: 100, withinMs: 4000 },
  rig: {
    settings: { LIMITS: JSON.stringify(limits), WEBHOOK_RETRY_SCHEDULE: schedule.join(",") },
    async answer({ n }) {
      await pause(answerMs);
      return { status: isAccepted({ n }) ? 204 : 500 };
    },
  },
  play,
  figure: `no request begins after the answer, and the last one arrives within ${graceMs / 1000} s; the webhook that stays misses nothing (times: from the answer to the last request)`,
  holds: (outcome) => isClean(outcome) && outcome.acked > 0 && outcome.p99 <= graceMs,
});
