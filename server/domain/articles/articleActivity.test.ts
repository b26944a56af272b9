/** Tests the reports of a watch of an article, on rooms with a manual clock and one or two nodes. */
import { afterEach, expect, test } from "vitest";
import { articleId, createRealtimeRig } from "../../../test/support/realtimeRig.ts";
import { settle } from "../../../test/support/socketPair.ts";
import { countWords } from "../call/countWords.ts";
import { type Activity, createArticleActivity } from "./articleActivity.ts";

let rig: ReturnType<typeof createRealtimeRig>;
afterEach(() => rig.close());

/** Delivers all frames, and lets a second pass, in small steps. */
async function pass(ms = 1000): Promise<void> {
  for (let passed = 0; passed < ms; passed += 50) {
    await settle(rig.clients);
    await rig.time.advance(50);
  }
  await settle(rig.clients);
}

function createActivity(node = 0) {
  const { rooms } = rig.nodes[node] ?? rig;
  return createArticleActivity({ rooms, clock: rig.time, texts: { countWords: async (_owner, text) => countWords(text) } });
}

function watch(node = 0) {
  const reported: Activity[] = [];
  const close = createActivity(node).watch(articleId, (activity) => reported.push(activity));
  return { reported, close };
}

const liveOf = (reported: readonly Activity[]) => reported.flatMap(({ event, data }) => (event === "document.live" ? [data] : []));
const membersOf = (reported: readonly Activity[]) =>
  reported.flatMap((each) =>
    each.event === "document.live" ? [] : [`${each.event} ${each.data.client.username} ${each.data.client.mode}`],
  );
const ada = { username: "ada", kind: "user" };
const bob = { username: "bob", kind: "user" };

test("[SE68] typing is reported at once, then once a second, and its end after three seconds", async () => {
  rig = createRealtimeRig();
  const client = await rig.join("ada");
  await pass();
  const { reported } = watch();
  client.type("one");
  await settle(rig.clients);
  await rig.time.advance(10);
  expect(liveOf(reported)).toEqual([{ revision: 1, wordCount: 1, typing: [ada] }]);
  for (let keys = 0; keys < 60; keys += 1) {
    client.type(" w");
    await pass(50);
  }
  // 60 keystrokes in three seconds: at most one report a second.
  expect(liveOf(reported).length).toBeLessThanOrEqual(4);
  await pass(5000);
  const live = liveOf(reported);
  expect(live.at(-1)).toEqual({ revision: 61, wordCount: 61, typing: [] });
  expect(live.at(-2)).toMatchObject({ revision: 61, typing: [ada] });
  const { length } = reported;
  await rig.time.advance(20_000);
  expect(reported).toHaveLength(length);
});

test("[SE68] two people who type are both named, and changes of another node count too", async () => {
  rig = createRealtimeRig({ nodes: 2 });
  const [one, two] = [await rig.join("ada", { node: 0 }), await rig.join("bob", { node: 1 })];
  await pass();
  const { reported } = watch(0);
  await pass();
  two.type("far ");
  await pass(100);
  one.type("near ");
  await pass(2000);
  expect(liveOf(reported).at(-1)).toEqual({ revision: 2, wordCount: 2, typing: [bob, ada] });
  expect(reported.filter(({ event }) => event === "document.live").map(({ actor }) => actor)).toEqual(["bob", "ada"]);
});

test("[SE69] members that join and leave later are reported, each connection by itself, on all nodes", async () => {
  rig = createRealtimeRig({ nodes: 2 });
  await rig.join("ada", { node: 0 });
  const far = await rig.join("bob", { node: 1 });
  await pass();
  const { reported } = watch(0);
  await pass();
  expect(reported).toEqual([]);
  const tab = await rig.join("ada", { node: 0, mayWrite: false });
  await pass();
  const later = await rig.join("cara", { node: 1 });
  await pass();
  tab.disconnect();
  far.disconnect();
  await pass();
  later.disconnect();
  await pass();
  expect(membersOf(reported)).toEqual([
    "presence.joined ada read",
    "presence.joined cara write",
    expect.stringMatching(/^presence\.left (ada read|bob write)$/),
    expect.stringMatching(/^presence\.left (ada read|bob write)$/),
    "presence.left cara write",
  ]);
});

test("[SE69] a node without members of its own reports those of other nodes, also when a node dies", async () => {
  rig = createRealtimeRig({ nodes: 2 });
  await rig.join("ada", { node: 0 });
  await pass();
  const { reported } = watch(1);
  await pass();
  expect(reported).toEqual([]);
  await rig.join("bob", { node: 0 });
  await pass();
  expect(membersOf(reported)).toEqual(["presence.joined bob write"]);
  rig.silenceBus(true);
  await rig.time.advance(35_000);
  expect(membersOf(reported).slice(1).toSorted()).toEqual(["presence.left ada write", "presence.left bob write"]);
});

test("[SE71] each connection is listed on every node, also on one that did not have the document open", async () => {
  rig = createRealtimeRig({ nodes: 2 });
  await rig.join("bob", { node: 0 });
  await rig.time.advance(10);
  await rig.join("ada", { node: 0, mayWrite: false });
  await rig.time.advance(10);
  await rig.join("ada", { node: 0 });
  await pass();
  const asked = Promise.all([1, 0].map((node) => createActivity(node).clients(articleId)));
  await pass(300);
  const [clients = [], others] = await asked;
  expect(clients.map(({ username, kind, mode }) => [username, kind, mode])).toEqual([
    ["bob", "user", "write"],
    ["ada", "user", "read"],
    ["ada", "user", "write"],
  ]);
  expect(others).toEqual(clients);
  for (const { since } of clients) expect(since).toBeLessThanOrEqual(rig.time.now() / 1000);
});

test("[SE75] a watch keeps its document open only where other nodes write, and the end of the watch closes it", async () => {
  rig = createRealtimeRig({ isShared: false });
  const { close } = watch();
  await pass();
  expect(rig.rooms.stats().rooms).toBe(0);
  close();
  rig.close();
  rig = createRealtimeRig({ nodes: 2 });
  const { close: closeShared, reported } = watch();
  await rig.time.advance(40_000);
  expect(rig.rooms.stats().rooms).toBe(1);
  closeShared();
  const client = await rig.join("ada", { node: 1 });
  client.type("unheard");
  await pass();
  await rig.time.advance(40_000);
  expect([rig.rooms.stats().rooms, reported]).toEqual([0, []]);
});
