/**
 * Two editors at each node on the same article, and every two seconds a node is killed, in the very turn in which something
 * was acknowledged, so that nothing can become durable just in time. Every other time its editors die with it, so that
 * their memory cannot heal the loss; the others come back with what they remember, as people do.
 */
import { setTimeout as pause } from "node:timers/promises";
import { openEditor } from "../../support/clients.ts";
import { createJournal } from "./journal.ts";
import type { Rig } from "./rig.ts";
import { createScenario, isClean } from "./scenario.ts";
import { openWriter, tokensOf, type Writer } from "./writers.ts";

interface Scale {
  readonly articles: number;
  readonly editorsOfNode: number;
  readonly kills: number;
  readonly storeKills: number;
  /** From one kill to the next, the new start included; longer if the node needs it to be up for `leastUpMs`. */
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

  for (let kill = 0; kill < scale.kills; kill += 1) {
    const at = kill % rig.nodes.length;
    const node = rig.nodes[at];
    if (node === undefined) break;
    await pause(kill === 0 ? scale.leastUpMs : 0);
    const endMs = Date.now() + scale.everyMs;
    const killed = new Promise<void>((resolve) => {
      strike = () => resolve(node.kill());
    });
    await killed;
    if (Math.floor(kill / rig.nodes.length) % 2 === 0) {
      for (const [, writer] of writers) if (writer.node === at) writer.close();
      writers = writers.filter(([, writer]) => writer.node !== at);
    }
    await node.start();
    if (!writers.some(([, writer]) => writer.node === at)) writers.push(...(await openAt(at)));
    if (rig.redis !== undefined && kill < scale.storeKills) {
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
  const { articles, editorsOfNode, kills, storeKills, everyMs } = scale;
  return {
    load: `${articles} articles, ${editorsOfNode} editors of each at each of ${rig.nodes.length} nodes`,
    faults: `${kills} node kills, one every ${everyMs} ms${rig.redis === undefined ? "" : `, ${storeKills} store kills`}`,
    ...sum,
  };
}

export const editorsKilled = createScenario<Scale>({
  name: "editors-killed",
  modes: ["E", "R"],
  short: { articles: 1, editorsOfNode: 2, kills: 8, storeKills: 2, everyMs: 500, leastUpMs: 200, writeMs: 10 },
  full: { articles: 1, editorsOfNode: 2, kills: 30, storeKills: 0, everyMs: 2000, leastUpMs: 300, writeMs: 10 },
  play,
  figure: "nothing that was confirmed or seen is lost or doubled; all converge",
  holds: (outcome) => isClean(outcome) && outcome.acked > 0,
});
