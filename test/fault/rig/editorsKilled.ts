/**
 * Editors write in articles while a node is killed every two seconds. The kill comes in the same turn as an
 * acknowledgement, so that nothing can become durable after it. Half of the time the node's editors are closed too, so
 * that their memory cannot restore lost text. The other editors reconnect with their text, as people do.
 */
import { randomInt } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { openEditor } from "../../support/clients.ts";
import { createJournal } from "./journal.ts";
import type { RigNode } from "./node.ts";
import type { Outcome } from "./outcome.ts";
import type { Rig } from "./rig.ts";
import { createScenario, isClean } from "./scenario.ts";
import { type Silence, silence } from "./silence.ts";
import { type Acknowledgement, openWriter, tokensOf, type Writer } from "./writers.ts";

interface Scale {
  readonly articles: number;
  /** Number of editors of each article at each node. */
  readonly editorsOfNode: (nodes: number) => number;
  readonly faults: number;
  /** Order of the nodes that fail; in turn by default. */
  readonly order?: "random";
  /** Kinds of fault, in turn for each node. */
  readonly kinds: readonly ("killed" | Silence)[];
  readonly storeKills: number;
  /** Duration of a silence in milliseconds. Leases of the rig take one second. */
  readonly silentMs: number;
  /** Milliseconds from one fault to the next, including the restart. The node is always up for at least `leastUpMs`. */
  readonly everyMs: number;
  readonly leastUpMs: number;
  /** Milliseconds between two tokens of an editor. */
  readonly writeMs: number;
  /** Tokens that must be confirmed or seen before the editors stop, so that a slow machine proves as much as a fast one. */
  readonly leastAcknowledged: number;
  /** Whether editors continue to write while their node is down. */
  readonly isWritingOffline?: boolean;
}

const tickMs = 5;

const convergedMs = 60_000;

async function play(rig: Rig, scale: Scale, tell: (what: string) => void) {
  const journal = createJournal();
  const articleIds = await Promise.all(
    Array.from({ length: scale.articles }, async (_, n) => {
      const { articleId } = await rig.insist("POST", "/articles", { workspaceId: rig.workspaceId, title: `Article ${n}` });
      return articleId as string;
    }),
  );
  let strike: { readonly on: Acknowledgement; readonly run: () => void } | undefined;
  let names = 0;
  const onAcknowledged = (how: Acknowledgement) => {
    if (strike?.on !== how) return;
    strike.run();
    strike = undefined;
  };
  const open = (node: number, articleId: string) => {
    names += 1;
    return openWriter({ rest: rig.rest(node), node, articleId, name: `w${names}`, journal, onAcknowledged });
  };
  const openAt = async (node: number): Promise<[string, Writer][]> =>
    Promise.all(
      articleIds.flatMap((articleId) =>
        Array.from(
          { length: scale.editorsOfNode(rig.nodes.length) },
          async (): Promise<[string, Writer]> => [articleId, await open(node, articleId)],
        ),
      ),
    );
  let writers = (await Promise.all(rig.nodes.map((_, at) => openAt(at)))).flat();
  let isOver = false;
  const writing = (async () => {
    let [owed, turn, lastMs] = [0, 0, performance.now()];
    while (!isOver) {
      await pause(tickMs);
      const nowMs = performance.now();
      // Tokens that a busy machine delayed are not made up for in one turn.
      owed = Math.min(owed + ((nowMs - lastMs) / scale.writeMs) * writers.length, writers.length);
      lastMs = nowMs;
      for (; owed >= 1; owed -= 1) {
        turn += 1;
        const [, writer] = writers[turn % writers.length] as [string, Writer];
        if (writer.isConnected || scale.isWritingOffline) writer.write();
      }
    }
  })();

  /** Restarts a node. With `withEditors`, its editors are replaced by new ones. */
  async function comeBack(node: RigNode, at: number, withEditors: boolean): Promise<void> {
    if (withEditors) {
      for (const [, writer] of writers) if (writer.node === at) writer.close();
      writers = writers.filter(([, writer]) => writer.node !== at);
    }
    await node.start();
    if (withEditors) writers.push(...(await openAt(at)));
  }

  const befallen = rig.nodes.map(() => 0);
  await pause(scale.leastUpMs);
  for (let fault = 0; fault < scale.faults; fault += 1) {
    const at = scale.order === "random" ? randomInt(rig.nodes.length) : fault % rig.nodes.length;
    const round = befallen[at] ?? 0;
    befallen[at] = round + 1;
    const node = rig.nodes[at] as RigNode;
    const kind = scale.kinds[round % scale.kinds.length] ?? "killed";
    const endMs = Date.now() + scale.everyMs;
    /** Runs the work in the same turn as an acknowledgement; the two kinds alternate. */
    const atAcknowledgement = <Done>(work: () => Done | Promise<Done>) =>
      new Promise<Done>((resolve) => {
        strike = { on: round % 2 === 0 ? "confirmed" : "seen", run: () => resolve(work()) };
      });
    if (kind === "killed") {
      await atAcknowledgement(() => node.kill());
      await comeBack(node, at, Math.floor(round / 2) % 2 === 0);
    } else {
      const end = await atAcknowledgement(() => silence(node, kind));
      await pause(scale.silentMs);
      end();
    }
    if (rig.redis !== undefined && fault < scale.storeKills) {
      await rig.redis.kill();
      await rig.redis.start();
    }
    await pause(Math.max(scale.leastUpMs, endMs - Date.now()));
  }
  while (journal.acknowledged.size < scale.leastAcknowledged) await pause(tickMs);
  isOver = true;
  await writing;

  // The remaining editors and one new editor at each node must all have the same text.
  const there: string[] = [];
  for (const articleId of articleIds) {
    const texts = () => writers.filter(([id]) => id === articleId).map(([, writer]) => writer.text);
    const isSettled = () => writers.every(([, { isSynced }]) => isSynced) && new Set(texts()).size === 1;
    for (const endMs = Date.now() + convergedMs; !isSettled() && Date.now() < endMs; ) await pause(20);
    if (!isSettled()) journal.bad(`editors of ${articleId} do not converge: ${texts().map((text) => text.length)}`);
    const [last] = texts();
    for (const at of rig.nodes.keys()) {
      const cold = await openEditor(rig.rest(at), articleId);
      const text = cold.text.toString();
      if (text !== last) journal.bad(`node ${at} has ${text.length} characters of ${articleId}, the editors ${last?.length}`);
      if (tokensOf(text).join("") !== text) journal.bad(`node ${at} has torn tokens in ${articleId}`);
      if (at === 0) there.push(...tokensOf(text));
      cold.close();
    }
  }
  for (const [, writer] of writers) writer.close();
  if (scale.faults === 0 && there.length > journal.acknowledged.size) {
    journal.bad(`of ${there.length} tokens only ${journal.acknowledged.size} were confirmed or seen`);
  }
  const sum = journal.sum(there);
  for (const what of journal.told) tell(what);
  const { articles, editorsOfNode, faults, kinds, storeKills, everyMs, writeMs } = scale;
  const killsOfStore = rig.redis === undefined ? "" : `, ${storeKills} store kills`;
  return {
    load: `${articles} articles, ${editorsOfNode(rig.nodes.length)} editors for each at each of ${rig.nodes.length} nodes, a write of each editor every ${writeMs} ms`,
    faults: faults === 0 ? "none" : `${faults} faults of a node (${kinds.join(", ")}), one every ${everyMs} ms${killsOfStore}`,
    ...sum,
  };
}

const editors = { articles: 1, editorsOfNode: () => 2, writeMs: 10, leastUpMs: 200, silentMs: 3000, leastAcknowledged: 300 } as const;
const figure = "nothing that was confirmed or seen is lost or doubled; all converge";
const holds = (outcome: Outcome) => isClean(outcome) && outcome.acked > 0;

export const editorsKilled = createScenario<Scale>({
  name: "editors-killed",
  modes: ["E", "R"],
  short: { ...editors, faults: 8, kinds: ["killed"], storeKills: 2, everyMs: 500 },
  full: { ...editors, faults: 30, kinds: ["killed"], storeKills: 10, everyMs: 2000 },
  play,
  figure,
  holds,
});

/** Forty editors on ten articles with 500 tokens a second, which continue to type while their node is down. */
const many = { ...editors, articles: 10, editorsOfNode: (nodes: number) => 4 / nodes, writeMs: 80, isWritingOffline: true } as const;

export const editorsAtFullLoad = createScenario<Scale>({
  name: "editors-at-full-load",
  modes: ["E", "R"],
  short: { ...many, faults: 4, order: "random", kinds: ["killed"], storeKills: 1, everyMs: 1000 },
  full: { ...many, faults: 30, order: "random", kinds: ["killed"], storeKills: 10, everyMs: 2000, leastUpMs: 1200 },
  play,
  figure: `${figure}; ≥ 20,000 confirmed or seen`,
  holds: (outcome) => isClean(outcome) && outcome.acked >= 20_000,
});

/** The same load without faults, to measure the time of a confirmation. */
export const editorsAtWork = createScenario<Scale>({
  name: "editors-at-work",
  modes: ["E", "R"],
  short: { ...many, faults: 0, kinds: [], storeKills: 0, everyMs: 0, leastUpMs: 2000 },
  full: { ...many, faults: 0, kinds: [], storeKills: 0, everyMs: 0, leastUpMs: 60_000 },
  play,
  figure: `${figure}; p99 ≤ 100 ms`,
  holds: (outcome) => isClean(outcome) && outcome.acked >= 20_000 && outcome.p99 <= 100,
});

/** Nodes stay alive but are cut off or stopped, so their state is old when they return. */
export const editorsSilenced = createScenario<Scale>({
  name: "editors-silenced",
  modes: ["R"],
  short: { ...editors, faults: 3, kinds: ["halfOpen", "stopped"], storeKills: 0, everyMs: 0, silentMs: 1500 },
  full: { ...editors, faults: 24, kinds: ["halfOpen", "stopped", "cut", "slow"], storeKills: 0, everyMs: 4000 },
  play,
  figure,
  holds,
});
