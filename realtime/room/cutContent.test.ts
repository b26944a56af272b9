/** Tests what a client is told about text that was cut out of its updates. */
import { afterEach, expect, it } from "vitest";
import * as Y from "yjs";
import { rawUpdate, struct, updateFrame, updateOf } from "../../test/support/hostileFrames.ts";
import { createRealtimeRig } from "../../test/support/realtimeRig.ts";
import { settle, turns } from "../../test/support/socketPair.ts";

let rig: ReturnType<typeof createRealtimeRig>;
afterEach(() => rig.close());

it("[RT116] text under a client id that another author's socket holds is not acknowledged until it is stored", async () => {
  rig = createRealtimeRig();
  const [ada, mal] = [await rig.join("ada", { extensions: true }), await rig.join("mal")];
  ada.type("abc");
  await settle(rig.clients);
  ada.disconnect();
  const hijack = rawUpdate([{ clientId: ada.document.clientID, clock: 3, structs: [struct.text("M")] }]);
  mal.send(updateFrame(hijack));
  await settle(rig.clients);
  ada.type(" while away");
  await ada.connect();
  await settle(rig.clients);
  const { answers, acks } = { answers: ada.answers, acks: ada.acks.length };
  ada.type(" and back");
  // Of this text nothing is cut out, but the client must not take its acknowledgement for that of the rest.
  ada.send(updateFrame(updateOf((document) => document.getText("content.md").insert(0, "own "), 7)));
  for (let times = 0; times < 3; times += 1) {
    ada.ask();
    await settle(rig.clients);
    await rig.time.advance(10_000);
  }
  expect(await rig.liveText()).toContain("own ");
  expect(await rig.liveText()).not.toContain("back");
  expect([ada.answers, ada.acks.length]).toEqual([answers, acks]);
  mal.disconnect();
  await rig.time.advance(10_000);
  await settle(rig.clients);
  expect(await rig.liveText()).toContain("while away and back");
  expect([ada.answers, ada.acks.length]).toEqual([answers + 1, acks + 1]);
  expect(ada.denied).toEqual([]);
});

it("[RT116] a client that passes on text of another one is acknowledged when that one has sent it", async () => {
  rig = createRealtimeRig();
  const [ada, bob] = [await rig.join("ada"), await rig.join("bob", { extensions: true })];
  await settle(rig.clients);
  ada.type("first");
  Y.applyUpdate(bob.document, Y.encodeStateAsUpdate(ada.document), "another provider");
  bob.ask();
  const { answers } = bob;
  bob.deliver();
  await settle([bob]);
  expect([await rig.liveText(), bob.answers, bob.acks]).toEqual(["", answers, []]);
  await settle(rig.clients);
  await rig.time.advance(1000);
  await settle(rig.clients);
  expect([await rig.liveText(), bob.answers, bob.acks.length, bob.denied]).toEqual(["first", answers + 1, 1, []]);
});

it("[RT116] a client that may no longer write is denied what was cut out, and then answered", async () => {
  rig = createRealtimeRig();
  const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
  await settle(rig.clients);
  ada.type("only ada may send this");
  Y.applyUpdate(bob.document, Y.encodeStateAsUpdate(ada.document), "another provider");
  bob.ask();
  const { answers } = bob;
  await settle([bob]);
  expect([bob.answers, bob.denied]).toEqual([answers, []]);
  bob.connection?.update({ ...bob.identity, mayWrite: false });
  await turns();
  const [presence, denial, answer] = [1, 2, 0];
  expect(bob.peer.toClient.map(([type]) => type).filter((type) => type !== presence)).toEqual([denial, answer]);
  await settle([bob]);
  bob.ask();
  await settle([bob]);
  expect(bob.answers).toBe(answers + 2);
  expect(await rig.liveText()).toBe("");
});

it("[RT116] text of a client on another node is acknowledged when this node has read it, or that client is gone", async () => {
  rig = createRealtimeRig({ nodes: 2 });
  const [ada, bob] = [await rig.join("ada"), await rig.join("bob", { node: 1 })];
  await settle(rig.clients);
  const passOn = async () => {
    Y.applyUpdate(bob.document, Y.encodeStateAsUpdate(ada.document, Y.encodeStateVector(bob.document)), "another provider");
    bob.ask();
    const { answers } = bob;
    await settle([bob]);
    expect(bob.answers).toBe(answers);
    return answers;
  };
  ada.type("first");
  const before = await passOn();
  await settle(rig.clients);
  await rig.time.advance(6000);
  await settle(rig.clients);
  expect([await rig.liveText(), bob.answers]).toEqual(["first", before + 1]);
  ada.type(" second");
  const beforeLoss = await passOn();
  ada.disconnect();
  await rig.time.advance(12_000);
  await settle(rig.clients);
  expect([await rig.liveText(), bob.answers, bob.denied]).toEqual(["first second", beforeLoss + 1, []]);
});
