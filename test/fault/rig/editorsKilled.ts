/**
 * Two editors at each node on the same article, and every two seconds a node is killed, in the very turn in which something
 * was acknowledged, so that nothing can become durable just in time. Every other time its editors die with it, so that
 * their memory cannot heal the loss; the others come back with what they remember, as people do.
 */
import { setTimeout as pause } from "node:timers/promises";
import { openEditor } from "../../support/clients.ts";
import { createJournal } from "./journal.ts";
import type { RigNode } from "./node.ts";
import type { Outcome } from "./outcome.ts";
import type { Rig } from "./rig.ts";
import { createScenario, isClean } from "./scenario.ts";
import { type Silence, silence } from "./silence.ts";
import { openWriter, tokensOf, type Writer } from "./writers.ts";

interface Scale {
  readonly articles: number;
  readonly editorsOfNode: number;
  readonly faults: number;
  /** What befalls one node after the other, in turn. */
  readonly kinds: readonly ("killed" | Silence)[];
  readonly storeKills: number;
  /** Leases of the rig last a second. */
  readonly silentMs: number;
  /** From one fault to the next, the new start included; longer if the node needs it to be up for `leastUpMs`. */
  readonly everyMs: number;
  readonly leastUpMs: number;
  /** From one token of an editor to its next. */
  readonly writeMs: number;
}

const convergedMs = 15_000;

async function play(rig: Rig, scale: Scale, tell: (what: string) => void) {
  const journal = createJournal();
  const articleIds = await Promise.all(
    Array.from({ length: scale.articles }, async (_, n) => {
      const { articleId } = await rig.insist("POST", "/articles", { workspaceId: rig.workspaceId, title: `Article ${n}` });
      return articleId as string;
    }),
  );
  let strike: (() => void) | undefined;
  let names = 0;
  const onAcknowledged = () => {
    strike?.();
    strike = undefined;
  };
  const open = (node: number, articleId: string) => {
    names += 1;
    return openWriter({ rest: rig.rest(node), node, articleId, name: `w${names}`, journal, onAcknowledged });
  };
  const openAt = async (node: number): Promise<[string, Writer][]> =>
    Promise.all(
      articleIds.flatMap((articleId) =>
        Array.from({ length: scale.editorsOfNode }, async (): Promise<[string, Writer]> => [articleId, await open(node, articleId)]),
      ),
    );
  let writers = (await Promise.all(rig.nodes.map((_, at) => openAt(at)))).flat();
  let isOver = false;
  const writing = (async () => {
    while (!isOver) {
      for (const [, writer] of writers) writer.write();
      await pause(scale.writeMs);
    }
  })();

  /** Its editors die with it half of the time. */
  async function comeBack(node: RigNode, at: number, withEditors: boolean): Promise<void> {
    if (withEditors) {
      for (const [, writer] of writers) if (writer.node === at) writer.close();
      writers = writers.filter(([, writer]) => writer.node !== at);
    }
    await node.start();
    if (withEditors) writers.push(...(await openAt(at)));
  }

  await pause(scale.leastUpMs);
  for (let fault = 0; fault < scale.faults; fault += 1) {
    const at = fault % rig.nodes.length;
    const round = Math.floor(fault / rig.nodes.length);
    const node = rig.nodes[at] as RigNode;
    const kind = scale.kinds[round % scale.kinds.length] ?? "killed";
    const endMs = Date.now() + scale.everyMs;
    /** In the very turn in which something is acknowledged. */
    const atAcknowledgement = <Done>(work: () => Done | Promise<Done>) =>
      new Promise<Done>((resolve) => {
        strike = () => resolve(work());
      });
    if (kind === "killed") {
      await atAcknowledgement(() => node.kill());
      await comeBack(node, at, round % 2 === 0);
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
  isOver = true;
  await writing;

  // All who are left, and one at each node who never was there, see the same.
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
  const sum = journal.sum(there);
  for (const what of journal.told) tell(what);
  const { articles, editorsOfNode, faults, kinds, storeKills, everyMs } = scale;
  return {
    load: `${articles} articles, ${editorsOfNode} editors of each at each of ${rig.nodes.length} nodes`,
    faults: `${faults} faults of a node (${kinds.join(", ")}), one every ${everyMs} ms${rig.redis === undefined ? "" : `, ${storeKills} store kills`}`,
    ...sum,
  };
}

const editors = { articles: 1, editorsOfNode: 2, writeMs: 10, leastUpMs: 200, silentMs: 3000 } as const;
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

/** The same where nodes live on and hear nothing: what they hold when they come back is old. */
export const editorsSilenced = createScenario<Scale>({
  name: "editors-silenced",
  modes: ["R"],
  short: { ...editors, faults: 3, kinds: ["halfOpen", "stopped"], storeKills: 0, everyMs: 0, silentMs: 1500 },
  full: { ...editors, faults: 24, kinds: ["halfOpen", "stopped", "cut", "slow"], storeKills: 0, everyMs: 4000 },
  play,
  figure,
  holds,
});
