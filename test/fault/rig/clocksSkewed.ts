/**
 * The wall clock of one node is wrong by minutes, or jumps by an hour while the node works. The node is one of two, or
 * the only one. Nodes still use the time of the store: no node takes the work of another, no timer fires twice or
 * early, every expiry comes at the same time at every node, and stored times are right.
 *
 * On Redis the store's clock is right. An embedded store starts at the wall clock, or at its last time if the wall
 * clock is behind it, and continues with the monotonic clock.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { ReceivedRequest, ReceiverAnswer } from "../../support/receiver.ts";
import { type ExpiryMaking, lifeMs, makeIdempotencyKey, makeKey, makePlace, makeTicket, makeToken, watchExpiry } from "./expiries.ts";
import { keepModelLedger } from "./modelLedger.ts";
import type { RigNode } from "./node.ts";
import { percentile } from "./outcome.ts";
import type { Rig } from "./rig.ts";
import { checkRun, readEvents, type StartedRun, startArticleRun, untilCompleted } from "./runs.ts";
import { checkTimer } from "./runTimer.ts";
import { createScenario, isClean } from "./scenario.ts";

/** The error of the clock at the start, and its error after a jump while the node works. */
interface Phase {
  readonly startMs: number;
  readonly jumpMs: number;
}

interface Scale {
  readonly phases: readonly Phase[];
  /** Number of runs at each node. */
  readonly abreast: number;
  /** Whether session tokens are watched until they expire half a minute later. */
  readonly tokens: boolean;
  /** Whether the node with the right clock is killed too in each phase. */
  readonly takeOvers: boolean;
}

const minuteMs = 60_000;
const toleranceMs = 1000;
const approvalMs = 1000;
const retryMs = 500;
/** Short beside the errors of the clocks, and longer than the pauses of a node on a busy machine, which would lose its lease. */
const leaseMs = 5000;
const takenOverMs = 60_000;
const toldMs = 60_000;
const commitEveryMs = 100;

const deliveryOf = ({ headers }: ReceivedRequest) => headers["x-svc-delivery"] ?? "";
const told = new Map<string, number>();
/** Refuses the first attempt of a delivery, so that the second attempt comes from a timer. */
function answer(request: ReceivedRequest): ReceiverAnswer {
  const attempts = (told.get(deliveryOf(request)) ?? 0) + 1;
  told.set(deliveryOf(request), attempts);
  return { status: attempts === 1 ? 500 : 204 };
}

function toEvent(body: Buffer): { readonly createdAt: string; readonly data: { readonly commitId?: string } } {
  return JSON.parse(body.toString());
}

async function play(rig: Rig, scale: Scale, tell: (what: string) => void) {
  const { workspaceId, key, nodes } = rig;
  const shifted = nodes.at(-1) as RigNode;
  const { wall } = shifted;
  if (wall === undefined) throw new Error("the rig's nodes have no clocks of their own");
  const ledger = keepModelLedger(rig, (stepName) => (stepName === "draft" ? { pieces: 35, pieceMs: 40 } : { pieces: 2, pieceMs: 1 }));
  let [acked, bad, lost, dup, names] = [0, 0, 0, 0, 0];
  const offsMs: number[] = [];
  const complain = (what: string) => {
    bad += 1;
    tell(what);
  };
  const nextName = (what: string) => {
    names += 1;
    return `${what} ${names}`;
  };

  /** Milliseconds by which store time is ahead of the test's clock. */
  let aheadMs = 0;
  let latestMs = 0;
  const now = () => Date.now() + aheadMs;
  /** `said`: an ISO text, or whole Unix seconds. */
  function checkTime(what: string, said: string | number, sinceMs: number): void {
    acked += 1;
    const saidMs = typeof said === "string" ? Date.parse(said) : said * 1000;
    const fromMs = typeof said === "string" ? sinceMs : Math.floor(sinceMs / 1000) * 1000;
    latestMs = Math.max(latestMs, saidMs);
    if (saidMs < fromMs - toleranceMs) complain(`${what} says it was ${fromMs - saidMs} ms before it was asked for`);
    if (saidMs > now() + toleranceMs) complain(`${what} says it will be in ${saidMs - now()} ms`);
  }

  /** Learns the time of an embedded store after a start, from the first record that the node creates. */
  async function learnTime(): Promise<void> {
    if (rig.mode !== "E") return;
    const askedMs = Date.now();
    const { createdAt } = await rig.rest(0).expect(201, "POST", "/api-keys", { name: nextName("Time"), scopes: ["workspaces:read"] });
    const saidMs = Date.parse(createdAt);
    if (saidMs < latestMs) complain(`store time went back by ${latestMs - saidMs} ms over a start`);
    aheadMs = saidMs - (askedMs + Date.now()) / 2;
    const wallMs = wall?.shiftMs ?? 0;
    if (aheadMs < wallMs - toleranceMs) complain(`store time is ${wallMs - aheadMs} ms behind the wall that it began at`);
  }

  function startRuns(): Promise<readonly StartedRun[]> {
    return Promise.all(
      nodes.flatMap((_, node) =>
        Array.from({ length: scale.abreast }, () => {
          const rest = rig.rest(node);
          const insist = <Body>(method: string, path: string, body?: unknown) =>
            rest.request<Body>(method, path, body).then(({ status, body }) => {
              if (status >= 400) throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(body)}`);
              return body;
            });
          return startArticleRun({ workspaceId, insist }, nextName("Article"), ["outline"]);
        }),
      ),
    );
  }

  async function untilDrafting(runs: readonly StartedRun[]): Promise<void> {
    const isDrafting = ({ runId }: StartedRun) => ledger.of(runId).some(({ stepName }) => stepName === "draft");
    for (const endMs = Date.now() + takenOverMs; !runs.every(isDrafting); await pause(10)) {
      if (Date.now() > endMs) throw new Error("the drafts never began");
    }
  }

  /**
   * `interruptions`: maximum number for each run. `fromMs`: start of the runs in store time, if the store time did not
   * change.
   */
  async function checkRuns(runs: readonly StartedRun[], interruptions: number, fromMs: number | undefined): Promise<void> {
    const endMs = Date.now() + takenOverMs;
    for (const run of runs) {
      const isOver = await Promise.race([untilCompleted(rig, run).then(() => true), pause(endMs - Date.now(), false, { ref: false })]);
      if (!isOver) {
        lost += 1;
        tell(`${run.runId} is not over after ${takenOverMs / 1000} s`);
        continue;
      }
      const events = await readEvents(rig, run.runId);
      const timer = checkTimer(run.runId, events);
      const check = await checkRun(rig, run, ledger, interruptions);
      acked += check.finished + 1;
      const found = { lost: [...timer.lost, ...check.changed], dup: [...timer.dup, ...check.rerun], bad: [...timer.bad, ...check.bad] };
      for (const what of Object.values(found).flat()) tell(what);
      lost += found.lost.length;
      dup += found.dup.length;
      bad += found.bad.length;
      if (fromMs === undefined) continue;
      let beforeMs = fromMs;
      for (const { event, createdAt } of events) {
        checkTime(`${event} of ${run.runId}`, createdAt, beforeMs);
        beforeMs = Date.parse(createdAt);
      }
    }
  }

  /** Creates everything that expires at each node and uses it at each node. */
  async function watchExpiries(): Promise<void> {
    const making = nodes.flatMap((made) =>
      nodes.map((used): ExpiryMaking => ({ made, used, now, key, workspaceId, name: nextName("Expiry") })),
    );
    const account = shifted.server.operator;
    await Promise.all(
      making.flatMap((each) =>
        [makeKey, makeTicket, makePlace, makeIdempotencyKey, ...(scale.tokens ? [makeToken] : [])].map(async (make) => {
          const expiry = await watchExpiry(await make(each, account), now, toleranceMs);
          acked += expiry.uses;
          offsMs.push(expiry.offMs);
          expiry.bad.map((what) => complain(`${what}, made at node ${nodes.indexOf(each.made)}, used at ${nodes.indexOf(each.used)}`));
        }),
      ),
    );
    // A token is valid at once, whether or not its end is watched.
    for (const each of scale.tokens ? [] : making) {
      const { name, use } = await makeToken(each, account);
      if ((await use()) !== "allowed") complain(`${name} is not good at once`);
    }
  }

  const commits = new Map<string, number>();
  let committed = 0;
  async function commitUntil(isOver: () => boolean): Promise<void> {
    const { articleId } = await rig.insist("POST", "/articles", { workspaceId, title: nextName("Committed") });
    for (let turn = 0; !isOver(); turn += 1) {
      const name = nextName("Commit");
      const fromMs = now();
      const rest = rig.rest(turn);
      const body = { mode: "append", content: `${name}\n`, message: name };
      const { commitId } = await rest.expect(200, "PATCH", `/articles/${articleId}/content`, body);
      const { createdAt } = await rest.expect(200, "GET", `/articles/${articleId}/commits/${commitId}`);
      checkTime(commitId, createdAt, fromMs);
      commits.set(commitId, fromMs);
      await pause(commitEveryMs);
    }
  }

  /** Checks that each commit is delivered once with a failure and once with success, each with the time of its attempt. */
  async function checkWebhooks(): Promise<void> {
    const attemptsOf = (commitId: string) => rig.receiver.received.filter(({ body }) => toEvent(body).data.commitId === commitId);
    const isTold = (commitId: string) => attemptsOf(commitId).length > 1;
    for (const endMs = Date.now() + toldMs; Date.now() < endMs && ![...commits.keys()].every(isTold); ) await pause(50);
    await pause(retryMs);
    for (const [commitId, fromMs] of commits) {
      const attempts = attemptsOf(commitId);
      acked += 1;
      if (attempts.length < 2) {
        lost += 1;
        tell(`${commitId} was told ${attempts.length} times of 2`);
      }
      if (attempts.length > 2) {
        dup += 1;
        tell(`${commitId} was told ${attempts.length} times`);
      }
      for (const { headers, receivedAtMs, body } of attempts) {
        const offMs = Number(headers["webhook-timestamp"]) * 1000 - (receivedAtMs + aheadMs);
        // The timestamp has whole seconds, and the request takes some time. A request may take long to arrive, but the
        // clock is wrong by ten minutes or more.
        if (offMs > toleranceMs || offMs < -minuteMs) complain(`${commitId} was told with a timestamp ${offMs} ms off`);
        checkTime(`what was told of ${commitId}`, toEvent(body).createdAt, fromMs);
      }
      const [first, second] = attempts;
      const waitedMs = (second?.receivedAtMs ?? 0) - (first?.receivedAtMs ?? 0);
      if (second !== undefined && waitedMs < retryMs - 50) complain(`${commitId} was told again after ${waitedMs} ms`);
    }
    committed += commits.size;
    commits.clear();
  }

  async function restart(node: RigNode, shiftMs: number): Promise<void> {
    await node.kill();
    node.wall?.set(shiftMs);
    await node.start();
    const ready = node.server.logLines.findLast(({ msg }) => msg === "ready");
    const offMs = Date.parse(String(ready?.time)) - Date.now() - shiftMs;
    if (Math.abs(offMs) > 10 * toleranceMs) throw new Error(`the node's clock is not wrong as it was set, but by ${offMs} ms more`);
  }

  async function playPhase({ startMs, jumpMs }: Phase): Promise<void> {
    const held = await startRuns();
    await untilDrafting(held);
    await restart(shifted, startMs);
    await learnTime();
    const heldOver = checkRuns(held, 1, undefined);
    heldOver.catch(() => {});

    const fromMs = now();
    const runs = await startRuns();
    let isOver = false;
    const working = Promise.all([watchExpiries(), commitUntil(() => isOver)]);
    working.catch(() => {});
    await untilDrafting(runs);
    wall?.set(jumpMs);
    await wall?.untilSeen(shifted.server.pid);
    await checkRuns(runs, 0, fromMs);
    isOver = true;
    await working;
    await checkWebhooks();
    await heldOver;

    const [first] = nodes;
    if (!scale.takeOvers || first === undefined || first === shifted) return;
    const orphans = await startRuns();
    await untilDrafting(orphans);
    await first.kill();
    await checkRuns(orphans, 1, undefined);
    await first.start();
  }

  await rig.insist("POST", `/workspaces/${workspaceId}/webhooks`, { url: rig.receiver.url, events: ["article.updated"] });
  for (let n = 0; n < 2; n += 1) await rig.insist("POST", "/articles", { workspaceId, title: nextName("Listed") });
  for (const phase of scale.phases) await playPhase(phase);
  const drafts = ledger.askings.filter(({ stepName }) => stepName === "draft");
  const inMinutes = (ms: number) => `${ms > 0 ? "+" : ""}${ms / minuteMs}`;
  const phases = scale.phases.map(({ startMs, jumpMs }) => `${inMinutes(startMs)} → ${inMinutes(jumpMs)}`);
  return {
    load: `${drafts.length} drafts that hold leases and then wait for a timer, ${offsMs.length} keys, tickets, tokens, list tokens and Idempotency-Keys used past their expiry, ${committed} commits sent to a webhook whose first attempt fails`,
    faults: `the wall clock of ${nodes.length > 1 ? "one of two nodes" : "the node"} wrong at its start and jumping later, in minutes: ${phases.join(", ")}; ${rig.kills} node kills`,
    bad,
    acked,
    lost,
    dup,
    p50: percentile(offsMs, 0.5),
    p99: percentile(offsMs, 0.99),
  };
}

const rates = ["default", "writes", "connects", "runs", "management", "auth"].map((name) => [`rate.${name}`, "off"]);
const lives = ["accessToken", "ticket", "idempotency", "nextToken"].map((name) => [`keep.${name}`, lifeMs]);

export const clocksSkewed = createScenario<Scale>({
  name: "clocks-skewed",
  modes: ["E", "R"],
  short: {
    phases: [
      { startMs: 10 * minuteMs, jumpMs: -60 * minuteMs },
      { startMs: -10 * minuteMs, jumpMs: 60 * minuteMs },
    ],
    abreast: 2,
    tokens: false,
    takeOvers: false,
  },
  full: {
    phases: [
      { startMs: 10 * minuteMs, jumpMs: 10 * minuteMs },
      { startMs: -10 * minuteMs, jumpMs: -10 * minuteMs },
      { startMs: 0, jumpMs: 60 * minuteMs },
      { startMs: 0, jumpMs: -60 * minuteMs },
      { startMs: 10 * minuteMs, jumpMs: -60 * minuteMs },
      { startMs: -10 * minuteMs, jumpMs: 60 * minuteMs },
    ],
    abreast: 4,
    tokens: true,
    takeOvers: true,
  },
  rig: {
    ownClocks: true,
    answer,
    settings: {
      LEASE_MS: String(leaseMs),
      // The address is part of each token. Without this setting, each node has its own address.
      BASE_URL: "http://127.0.0.1",
      LIMITS: JSON.stringify({ ...Object.fromEntries([...rates, ...lives]), "keys.active": 10_000, "run.optionalApproval": approvalMs }),
      MODEL_NAME: "ledger",
      WEBHOOK_RETRY_SCHEDULE: `0,${retryMs / 1000}`,
    },
  },
  play,
  figure:
    "no lease is taken early; no timer fires early or twice; every expiry follows store time within 1 s (times: error of the first refusal); so does every record's time",
  holds: (outcome) => isClean(outcome) && outcome.p99 <= toleranceMs,
});
