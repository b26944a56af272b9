/** Agents in a document: presence, edits under a lease, and the revert of their own text. */
import { afterEach, expect, it } from "vitest";
import * as Y from "yjs";
import { articleId, createRealtimeRig } from "../../test/support/realtimeRig.ts";
import { settle, turns } from "../../test/support/socketPair.ts";
import { WriteFenced } from "./rooms.ts";

let rig: ReturnType<typeof createRealtimeRig>;
afterEach(() => rig.close());

const author = { username: "ada", kind: "agent" } as const;
const enter = (clientId: number, fence = 1) =>
  rig.rooms.participate(articleId, { author, displayName: "Draft for ada", clientId, guard: { id: "work", fence } });
const append = (words: string) => (document: Y.Doc) => {
  const text = document.getText("content.md");
  text.insert(text.length, words);
};

interface Seen {
  readonly user?: { readonly name: string; readonly username: string; readonly kind: string };
  readonly cursor?: { readonly anchor: unknown };
}

it("[RT34] an agent is shown with its name and cursor while it writes, until it leaves", async () => {
  rig = createRealtimeRig();
  const bob = await rig.join("bob");
  await settle(rig.clients);
  const agent = await enter(500);
  await agent.edit(append("First. "));
  await agent.edit(append("Second."));
  await turns();
  await rig.time.advance(100);
  await settle(rig.clients);
  expect(bob.text).toBe("First. Second.");
  const state = bob.awareness.getStates().get(500) as Seen;
  expect(state.user).toMatchObject({ name: "Draft for ada", username: "ada", kind: "agent" });
  const anchor = Y.createRelativePositionFromJSON(state.cursor?.anchor);
  expect(Y.createAbsolutePositionFromRelativePosition(anchor, bob.document)?.index).toBe("First. Second.".length);
  expect(rig.rooms.presence(articleId)).toContainEqual(expect.objectContaining({ username: "ada", kind: "agent", mode: "write" }));
  // Text inserted before the cursor moves the cursor.
  bob.type("Zero. ", 0);
  await settle(rig.clients);
  expect(Y.createAbsolutePositionFromRelativePosition(anchor, bob.document)?.index).toBe("Zero. First. Second.".length);
  // The agent renews its presence while it writes nothing. Clients would remove it after 30 s without a renewal.
  for (let second = 0; second < 60; second += 5) {
    await rig.time.advance(5000);
    await settle(rig.clients);
  }
  expect(bob.awareness.getStates().has(500)).toBe(true);
  agent.leave();
  await rig.time.advance(100);
  await settle(rig.clients);
  expect(bob.awareness.getStates().has(500)).toBe(false);
  expect(rig.rooms.presence(articleId).map(({ kind }) => kind)).toEqual(["user"]);
});

it("[RT35] text of an agent is durable before it is shown, and is stored under the agent's author", async () => {
  rig = createRealtimeRig();
  const bob = await rig.join("bob");
  await settle(rig.clients);
  const agent = await enter(500);
  rig.log.hold();
  const edited = agent.edit(append("secret"));
  await turns();
  bob.take();
  expect(bob.text).toBe("");
  await rig.log.release();
  expect(await edited).toMatchObject({ revision: 1, changed: true });
  await settle(rig.clients);
  expect(bob.text).toBe("secret");
  expect(rig.log.batches(articleId).map(({ updates }) => updates.map((update) => update.author))).toEqual([[author]]);
});

it("[RT36] after an agent lost its lease its text is neither stored nor shown; other people's text is", async () => {
  rig = createRealtimeRig();
  const bob = await rig.join("bob");
  await settle(rig.clients);
  const agent = await enter(500);
  await agent.edit(append("kept "));
  await settle(rig.clients);
  rig.log.raiseFence("work", 2);
  const late = agent.edit(append("late"));
  bob.type("bob");
  bob.deliver();
  await expect(late).rejects.toThrow(WriteFenced);
  await expect(agent.edit(append("later"))).rejects.toThrow(WriteFenced);
  if (bob.peer.closed !== undefined) await bob.connect();
  await settle(rig.clients);
  expect(await rig.liveText()).toBe("kept bob");
  expect(bob.text).toBe("kept bob");
  const fresh = await rig.join("cyd");
  await settle(rig.clients);
  expect(fresh.text).toBe("kept bob");
  // The new holder of the lease continues.
  const next = await enter(501, 2);
  await next.edit(append(" on"));
  await settle(rig.clients);
  expect(bob.text).toBe("kept bob on");
});

it("[RT37] a revert removes the text of an agent's earlier attempt and no text of others", async () => {
  rig = createRealtimeRig();
  const bob = await rig.join("bob");
  await settle(rig.clients);
  bob.type("Bob's start. ");
  await settle(rig.clients);
  const first = await enter(500);
  await first.edit(append("The agent begins and stops in the mid"));
  await settle(rig.clients);
  // Bob writes inside the agent's text and deletes some of it.
  bob.type(" (really?)", bob.text.indexOf(" begins"));
  bob.document.getText("content.md").delete(bob.text.indexOf("stops"), 6);
  bob.type(" Bob's end.");
  await settle(rig.clients);
  first.leave();

  const second = await enter(501, 1);
  await second.revert([500, 499]);
  await settle(rig.clients);
  expect(bob.text).toBe("Bob's start.  (really?) Bob's end.");
  await second.edit(append(" Once more."));
  await settle(rig.clients);
  expect(bob.text).toBe("Bob's start.  (really?) Bob's end. Once more.");
  // Nothing is left to revert, so no batch is written.
  const before = rig.log.batches(articleId).length;
  await second.revert([500]);
  expect(rig.log.batches(articleId)).toHaveLength(before);
});

it("[RT37] text that an agent writes right after a revert goes to the intended position", async () => {
  rig = createRealtimeRig();
  const bob = await rig.join("bob");
  await settle(rig.clients);
  const first = await enter(500);
  await first.edit(append("word word"));
  await settle(rig.clients);
  bob.type("[Bob was here]", 4);
  bob.type("Bob's line. ", 0);
  await settle(rig.clients);
  for (let n = 0; n < 20; n += 1) await first.edit(append(" word word word"));
  first.leave();
  const second = await enter(501);
  await second.revert([500]);
  await second.edit(append("A draft."));
  await settle(rig.clients);
  expect(bob.text).toBe("Bob's line. [Bob was here]A draft.");
});

it("[RT37] a revert finds text that another node stored without announcing it", async () => {
  rig = createRealtimeRig({ nodes: 2 });
  const bob = await rig.join("bob");
  await settle(rig.clients);
  bob.type("Bob. ");
  await settle(rig.clients);
  rig.silenceBus(true);
  const elsewhere = await rig.nodes[1]?.rooms.participate(articleId, { author, displayName: "Draft for ada", clientId: 500 });
  await elsewhere?.edit(append("Half a dra"));
  const second = await enter(501);
  await second.revert([500]);
  await second.edit(append("A draft."));
  await settle(rig.clients);
  expect(bob.text).toBe("Bob. A draft.");
  expect(await rig.liveText()).toBe("Bob. A draft.");
});

it("[RT34] an agent continues after its room ended and was opened again", async () => {
  rig = createRealtimeRig();
  const agent = await enter(500);
  await agent.edit(append("one "));
  rig.log.failNext();
  await expect(agent.edit(append("lost "))).rejects.toThrow("the store is gone");
  await agent.edit(append("two"));
  expect(await rig.liveText()).toBe("one two");
  expect(rig.rooms.presence(articleId)).toHaveLength(1);
  agent.leave();
  await expect(agent.edit(append("three"))).rejects.toThrow("after it left");
});
