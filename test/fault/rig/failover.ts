/**
 * The master of a Sentinel dies under load in the same turn as an acknowledgement, or is cut off from its replica and
 * its Sentinel while both nodes still reach it. Nothing that was answered, confirmed or seen may be missing at the
 * successor, and both nodes find the successor by themselves.
 */
import { setTimeout as pause } from "node:timers/promises";
import { openEditor, type Rest } from "../../support/clients.ts";
import { createJournal, type Journal } from "./journal.ts";
import { percentile } from "./outcome.ts";
import type { Rig } from "./rig.ts";
import { createScenario, isClean } from "./scenario.ts";
import { openWriter, tokensOf } from "./writers.ts";

/** A master that is cut off continues but acknowledges nothing, or refuses writes with `min-replicas-to-write`. */
type Fault = "killed" | "cut off" | "cut off, taking nothing";

interface Scale {
  readonly faults: readonly Fault[];
  readonly creatorsOfNode: number;
  /** Milliseconds from one creation of a creator to the next, whether or not it is answered. */
  readonly createMs: number;
  readonly writeMs: number;
  readonly betweenFaultsMs: number;
}

const backMs = 10_000;
const convergedMs = 60_000;
/** A node that waits for a successor answers sooner than this. */
const answerMs = 10_000;
const tryAgain = new Set(["unavailable", "idempotency_in_progress", "service_draining"]);

/**
 * Creates topics one after the other at its node. Each title is unique, and each request is repeated until it is
 * answered.
 */
async function create(options: {
  readonly rest: Rest;
  readonly name: string;
  readonly journal: Journal;
  readonly everyMs: number;
  readonly path: string;
  readonly onCreated: () => void;
  readonly isOver: () => boolean;
}): Promise<void> {
  const { rest, name, journal, everyMs, path, onCreated, isOver } = options;
  for (let number = 1; !isOver(); number += 1) {
    const title = `[${name}.${number}]`;
    const nextMs = Date.now() + everyMs;
    journal.began(title);
    for (;;) {
      const answered = await fetch(rest.url + path, {
        method: "POST",
        headers: { ...rest.headers, "content-type": "application/json", "idempotency-key": title },
        body: JSON.stringify({ title, targetAudience: "nobody" }),
        signal: AbortSignal.timeout(answerMs),
      })
        .then(async (reply) => ({ status: reply.status, code: reply.status < 400 ? "" : (JSON.parse(await reply.text()).code as string) }))
        .catch(() => undefined);
      if (answered?.status === 201) break;
      if (answered !== undefined && !tryAgain.has(answered.code)) {
        journal.bad(`${title} was answered ${answered.status} ${answered.code}`);
        return;
      }
      await pause(25);
    }
    journal.acknowledge(title);
    onCreated();
    await pause(Math.max(0, nextMs - Date.now()));
  }
}

async function readTitles(rig: Rig, node: number): Promise<string[]> {
  const titles: string[] = [];
  let token = "";
  do {
    const { topics, nextToken } = await rig
      .rest(node)
      .expect(
        200,
        "GET",
        `/workspaces/${rig.workspaceId}/topics?limit=100${token === "" ? "" : `&nextToken=${encodeURIComponent(token)}`}`,
      );
    titles.push(...topics.map(({ title }: { title: string }) => title));
    token = nextToken ?? "";
  } while (token !== "");
  return titles;
}

async function play(rig: Rig, scale: Scale, tell: (what: string) => void) {
  const { replicas } = rig;
  if (replicas === undefined) throw new Error("there is no replica that could take over");
  const journal = createJournal();
  const { articleId } = await rig.insist("POST", "/articles", { workspaceId: rig.workspaceId, title: "Followed" });
  let isOver = false;
  let strike: (() => void) | undefined;
  const onAcknowledged = () => {
    strike?.();
    strike = undefined;
  };
  /** Called at the next creation of each node. */
  const created: (() => void)[] = [];
  const writers = await Promise.all(
    rig.nodes.flatMap((_, node) =>
      [0, 1].map((each) => openWriter({ rest: rig.rest(node), node, articleId, name: `w${node}.${each}`, journal, onAcknowledged })),
    ),
  );
  const working = [
    ...rig.nodes.flatMap((_, node) =>
      Array.from({ length: scale.creatorsOfNode }, (_each, at) =>
        create({
          rest: rig.rest(node),
          name: `c${node}.${at}`,
          journal,
          everyMs: scale.createMs,
          path: `/workspaces/${rig.workspaceId}/topics`,
          onCreated() {
            onAcknowledged();
            created[node]?.();
          },
          isOver: () => isOver,
        }),
      ),
    ),
    (async () => {
      for (; !isOver; await pause(scale.writeMs)) for (const writer of writers) writer.write();
    })(),
  ];
  const atNextCreation = (node: number) =>
    new Promise<void>((resolve) => {
      created[node] = resolve;
    });

  const outagesMs: number[] = [];
  for (const fault of scale.faults) {
    await pause(scale.betweenFaultsMs);
    if (fault === "cut off") await replicas.set("min-replicas-to-write", "0");
    await new Promise<void>((resolve, reject) => {
      strike = () => void (fault === "killed" ? replicas.kill() : replicas.cutOff()).then(resolve, reject);
    });
    const beganMs = performance.now();
    await replicas.followed();
    // The old master may acknowledge creations late; after the successor is named, it can acknowledge none.
    await Promise.all(rig.nodes.map((_, node) => atNextCreation(node)));
    outagesMs.push(performance.now() - beganMs);
    await replicas.rejoin();
  }
  await pause(scale.betweenFaultsMs);
  isOver = true;
  await Promise.all(working);

  const isSettled = () => writers.every(({ isSynced }) => isSynced) && new Set(writers.map(({ text }) => text)).size === 1;
  for (const endMs = Date.now() + convergedMs; !isSettled() && Date.now() < endMs; ) await pause(20);
  if (!isSettled()) journal.bad(`the editors do not converge: ${writers.map(({ text }) => text.length)}`);
  const [text] = writers.map((writer) => writer.text);
  const titles = await readTitles(rig, 0);
  for (const node of rig.nodes.keys()) {
    const cold = await openEditor(rig.rest(node), articleId);
    if (cold.text.toString() !== text) journal.bad(`node ${node} has ${cold.text.length} characters, the editors ${text?.length}`);
    cold.close();
    if (String(await readTitles(rig, node)) !== String(titles)) journal.bad(`node ${node} lists other topics than node 0`);
  }
  for (const writer of writers) writer.close();
  const { bad, acked, lost, dup } = journal.sum([...titles, ...tokensOf(text ?? "")]);
  for (const what of journal.told) tell(what);
  const { faults, creatorsOfNode, createMs } = scale;
  const nodes = rig.nodes.length;
  const perSecond = Math.round((nodes * creatorsOfNode * 1000) / createMs);
  return {
    load: `${perSecond} creations a second at ${nodes} nodes, and ${writers.length} editors of an article`,
    faults: `the master ${[...new Set(faults)].map((kind) => `${faults.filter((each) => each === kind).length} times ${kind}`).join(", ")}`,
    bad,
    acked,
    lost,
    dup,
    p50: percentile(outagesMs, 0.5),
    p99: percentile(outagesMs, 0.99),
  };
}

const every: readonly Fault[] = ["killed", "cut off", "cut off, taking nothing"];

export const failover = createScenario<Scale>({
  name: "failover",
  modes: ["S"],
  short: { faults: every, creatorsOfNode: 4, createMs: 100, writeMs: 20, betweenFaultsMs: 300 },
  full: {
    faults: [...Array.from({ length: 10 }, (): Fault => "killed"), ...every.slice(1), ...every.slice(1), ...every.slice(1)],
    creatorsOfNode: 10,
    createMs: 100,
    writeMs: 10,
    betweenFaultsMs: 1000,
  },
  play,
  figure: "nothing answered, confirmed or seen is lost or doubled; both nodes accept writes again within 10 s of the fault",
  holds: (outcome) => isClean(outcome) && outcome.acked > 0 && outcome.p99 <= backMs,
});
