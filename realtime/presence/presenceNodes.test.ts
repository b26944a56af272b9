/** Presence of one document on two nodes with a bus that may lose messages. */
import { afterEach, expect, it } from "vitest";
import * as Y from "yjs";
import { articleId, createRealtimeRig } from "../../test/support/realtimeRig.ts";
import { PairedClient, settle, writerIdentity } from "../../test/support/socketPair.ts";

let rig: ReturnType<typeof createRealtimeRig>;
afterEach(() => rig.close());

function seen(reader: PairedClient, of: PairedClient): { user?: { username: string; kind: string }; cursor?: unknown } | undefined {
  return reader.awareness.getStates().get(of.document.clientID);
}

/** Delivers all frames, and lets gathered presence be sent. */
async function calm(ms = 40): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    await settle(rig.clients);
    await rig.time.advance(ms);
  }
  await settle(rig.clients);
}

const names = (node: number) =>
  rig.nodes[node]?.rooms
    .presence(articleId)
    .map(({ username }) => username)
    .toSorted();

it("[RT40] members on another node are shown: on join, later, when they move, and until they leave", async () => {
  rig = createRealtimeRig({ nodes: 2 });
  const ada = await rig.join("ada", { node: 0 });
  ada.awareness.setLocalState({ cursor: { at: 1 } });
  await calm();
  const bob = await rig.join("bob", { node: 1 });
  bob.awareness.setLocalState({ cursor: { at: 2 }, user: { username: "ada" } });
  await calm();
  expect(seen(bob, ada)).toMatchObject({ cursor: { at: 1 }, user: { username: "ada", kind: "user" } });
  expect(seen(ada, bob)).toMatchObject({ cursor: { at: 2 }, user: { username: "bob", kind: "user" } });
  expect([names(0), names(1)]).toEqual([
    ["ada", "bob"],
    ["ada", "bob"],
  ]);
  ada.awareness.setLocalStateField("cursor", { at: 7 });
  await calm();
  expect(seen(bob, ada)?.cursor).toEqual({ at: 7 });
  ada.disconnect();
  await calm();
  expect(seen(bob, ada)).toBeUndefined();
  expect(names(1)).toEqual(["bob"]);
});

it("[RT40] lost presence is sent again, and a silent node is removed with all its members", async () => {
  rig = createRealtimeRig({ nodes: 2 });
  const [ada, bob] = [await rig.join("ada", { node: 0 }), await rig.join("bob", { node: 1 })];
  rig.silenceBus(true);
  ada.awareness.setLocalState({ cursor: { at: 1 } });
  await calm();
  expect(seen(bob, ada)).toBeUndefined();
  rig.silenceBus(false);
  await calm(4000);
  expect(seen(bob, ada)?.cursor).toEqual({ at: 1 });
  rig.silenceBus(true);
  await calm(10_000);
  expect(seen(bob, ada)).toBeUndefined();
  expect(names(1)).toEqual(["bob"]);
});

it("[RT40] a client that reconnects to another node stays shown when its old socket ends", async () => {
  rig = createRealtimeRig({ nodes: 2 });
  const [ada, bob] = [await rig.join("ada", { node: 0 }), await rig.join("bob", { node: 0 })];
  ada.awareness.setLocalState({ cursor: { at: 1 } });
  await calm();
  const document = new Y.Doc();
  document.clientID = ada.document.clientID;
  const { rooms, broadcast } = rig.nodes[1] ?? rig;
  const again = new PairedClient(rooms, articleId, writerIdentity("ada"), { broadcast, document });
  rig.clients.push(again);
  await again.connect();
  again.awareness.setLocalState({ cursor: { at: 5 } });
  await calm();
  ada.peer.close(1006, "gone");
  ada.disconnect();
  await calm();
  expect(seen(bob, ada)).toMatchObject({ cursor: { at: 5 }, user: { username: "ada" } });
});

it("[RT40] a client cannot publish or write under a client id that another author has on another node", async () => {
  rig = createRealtimeRig({ nodes: 2 });
  const [ada, eve] = [await rig.join("ada", { node: 0 }), await rig.join("eve", { node: 1 })];
  ada.awareness.setLocalState({ cursor: { at: 1 } });
  await calm();
  eve.document.clientID = ada.document.clientID;
  eve.awareness.clientID = ada.document.clientID;
  eve.awareness.setLocalState({ cursor: { at: 9 } });
  eve.type("in the name of ada");
  await calm();
  ada.type("ada herself");
  await calm();
  expect(await rig.liveText()).toBe("ada herself");
  expect(rig.nodes[1]?.rooms.presence(articleId).find(({ username }) => username === "eve")).toBeDefined();
  const bob = await rig.join("bob", { node: 1 });
  await calm();
  expect(seen(bob, ada)).toMatchObject({ cursor: { at: 1 }, user: { username: "ada" } });
});

it("[RT41] a read shows all that is durable on any node; a poll finds what the bus lost", async () => {
  rig = createRealtimeRig({ nodes: 2 });
  const [ada, bob] = [await rig.join("ada", { node: 0 }), await rig.join("bob", { node: 1 })];
  await settle(rig.clients);
  rig.silenceBus(true);
  ada.type("unheard");
  await settle(rig.clients);
  expect(bob.text).toBe("");
  const other = rig.nodes[1]?.rooms;
  expect(await other?.read(articleId, (document) => document.getText("content.md").toString())).toBe("unheard");
  ada.type(" again");
  await calm(400);
  expect(bob.text).toBe("unheard again");
});

it("[RT41] an edit that another node made is not made again", async () => {
  rig = createRealtimeRig({ nodes: 2 });
  await rig.join("bob", { node: 1 });
  await settle(rig.clients);
  rig.silenceBus(true);
  const author = { username: "ada", kind: "user" } as const;
  const edits = [];
  for (const { rooms } of rig.nodes) {
    edits.push(await rooms.edit(articleId, author, 4711, (document) => document.getText("content.md").insert(0, "once")));
  }
  expect(edits.map(({ repeated }) => repeated)).toEqual([false, true]);
  expect(await rig.liveText()).toBe("once");
});
