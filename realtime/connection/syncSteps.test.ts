/** Tests sync steps: when the server asks, what it stores of an answer, and how it limits its own answers. */
import { afterEach, describe, expect, it } from "vitest";
import * as Y from "yjs";
import { rawUpdate, struct, updateFrame } from "../../test/support/hostileFrames.ts";
import { articleId, createRealtimeRig } from "../../test/support/realtimeRig.ts";
import { settle, turns } from "../../test/support/socketPair.ts";

let rig: ReturnType<typeof createRealtimeRig>;
afterEach(() => rig.close());

const api = { username: "api", kind: "key" } as const;

/** Writes under so many client ids that the state vector of the document has more than 4 KiB. */
async function fillStateVector(): Promise<void> {
  const sections = Array.from({ length: 1000 }, (_, at) => ({ clientId: 2 ** 31 - at, clock: 0, structs: [struct.text("x")] }));
  await rig.rooms.applyUpdate(articleId, api, rawUpdate(sections));
}

describe("sync steps", () => {
  it("[RT15] a writer gets sync step 1 on join and every 5 s while it writes, until it is refused", async () => {
    rig = createRealtimeRig();
    const ada = await rig.join("ada");
    await settle(rig.clients);
    expect(ada.resyncs).toBe(1);
    await rig.time.advance(5000);
    for (let times = 0; times < 10; times += 1) {
      ada.type("x");
      await settle(rig.clients);
    }
    expect(ada.resyncs).toBe(2);
    await rig.time.advance(4900);
    await settle(rig.clients);
    expect(ada.resyncs).toBe(2);
    await rig.time.advance(100);
    await settle(rig.clients);
    expect(ada.resyncs).toBe(3);
    await rig.time.advance(20_000);
    await settle(rig.clients);
    expect(ada.resyncs).toBe(3);
    ada.document.getText("research.md").insert(0, "x", { bold: true });
    await settle(rig.clients);
    await rig.time.advance(20_000);
    ada.type("y");
    await settle(rig.clients);
    expect(ada.denied.length).toBeGreaterThan(0);
    expect(ada.resyncs).toBe(3);
  });

  it("[RT70] a writer that waits for its next question is asked at once when its update lacks content", async () => {
    rig = createRealtimeRig();
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
    await settle(rig.clients);
    await rig.time.advance(5000);
    ada.type("x");
    await settle(rig.clients);
    ada.type("x");
    await settle(rig.clients);
    expect(ada.resyncs).toBe(2);
    ada.type("lost ");
    ada.toServer = [];
    ada.type("found");
    await settle(rig.clients);
    await rig.time.advance(250);
    await settle(rig.clients);
    expect(ada.resyncs).toBe(3);
    expect(bob.text).toBe("xxlost found");
  });

  it("[RT15] the server's sync step 1 recovers a lost frame", async () => {
    rig = createRealtimeRig();
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
    await settle(rig.clients);
    await rig.time.advance(300);
    ada.type("lost ");
    ada.toServer = [];
    ada.type("found");
    await settle(rig.clients);
    await rig.time.advance(300);
    await settle(rig.clients);
    expect(bob.text).toBe("lost found");
  });

  it("[RT15] with a state vector of 4 KiB a writer gets sync step 1 on join only", async () => {
    rig = createRealtimeRig();
    await fillStateVector();
    const ada = await rig.join("ada");
    await settle(rig.clients);
    await rig.time.advance(1000);
    ada.type("y");
    await settle(rig.clients);
    await rig.time.advance(1000);
    await settle(rig.clients);
    expect(ada.resyncs).toBe(1);
  });

  it("[RT70] the server's sync step 1 recovers a lost frame, also with a state vector of 4 KiB", async () => {
    rig = createRealtimeRig();
    await fillStateVector();
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
    await settle(rig.clients);
    await rig.time.advance(300);
    const before = ada.text;
    ada.type("lost ");
    ada.toServer = [];
    ada.type("found");
    await settle(rig.clients);
    await rig.time.advance(300);
    await settle(rig.clients);
    expect(bob.text).toBe(`${before}lost found`);
    expect(ada.resyncs).toBe(2);
    await rig.time.advance(2000);
    await settle(rig.clients);
    expect(ada.resyncs).toBe(2);
  });

  it("[RT70] the owner of cut-out text is asked for it, also with a state vector of 4 KiB", async () => {
    rig = createRealtimeRig();
    await fillStateVector();
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
    await settle(rig.clients);
    await rig.time.advance(300);
    const before = ada.text;
    ada.type("lost");
    ada.toServer = [];
    // Bob gets ada's text without the server and sends all that it has.
    Y.applyUpdate(bob.document, Y.encodeStateAsUpdate(ada.document), bob);
    bob.send(updateFrame(Y.encodeStateAsUpdate(bob.document), 1));
    await settle([bob]);
    expect(await rig.liveText()).toBe(before);
    await settle(rig.clients);
    expect(await rig.liveText()).toBe(`${before}lost`);
  });

  it("[RT15] content that a client repeats in its sync step 2 is not stored again", async () => {
    rig = createRealtimeRig();
    const ada = await rig.join("ada");
    ada.type("some text");
    ada.document.getText("content.md").delete(2, 3);
    await settle(rig.clients);
    await rig.time.advance(300);
    rig.log.hold();
    ada.document.getText("content.md").delete(0, 1);
    ada.deliver();
    await turns();
    // The client's whole state, with a deletion that is being written.
    ada.send(updateFrame(Y.encodeStateAsUpdate(ada.document), 1));
    ada.deliver();
    await turns();
    await rig.log.release();
    await settle(rig.clients);
    expect(rig.log.batches(articleId)).toHaveLength(2);
  });

  it("[RT16] a client with extensions gets the stored revision, also for content that it repeats", async () => {
    rig = createRealtimeRig();
    const ada = await rig.join("ada", { extensions: true });
    await settle(rig.clients);
    expect(ada.acks).toEqual([]);
    ada.type("a");
    const first = ada.toServer.at(-1) as Uint8Array;
    await settle(rig.clients);
    ada.type("b");
    await settle(rig.clients);
    expect(ada.acks).toEqual([1, 2]);
    ada.send(first);
    await settle(rig.clients);
    expect(ada.acks).toEqual([1, 2, 2]);
  });

  it("[RT103] while the store does not answer, at most one acknowledgement of repeated updates waits", async () => {
    rig = createRealtimeRig();
    const ada = await rig.join("ada", { extensions: true });
    await settle(rig.clients);
    ada.type("a");
    const first = ada.toServer.at(-1) as Uint8Array;
    await settle(rig.clients);
    rig.log.hold();
    ada.type("b");
    for (let times = 0; times < 50; times += 1) ada.send(first);
    ada.deliver();
    await turns();
    ada.type("c");
    const last = ada.toServer.at(-1) as Uint8Array;
    for (let times = 0; times < 50; times += 1) ada.send(last);
    ada.deliver();
    await turns();
    await rig.log.release(1);
    ada.take();
    // The batch with "b", and the first repetition. The repetitions of "c" wait until that text is durable.
    expect(ada.acks).toEqual([1, 2, 2]);
    await rig.log.release();
    await settle(rig.clients);
    expect(ada.acks).toEqual([1, 2, 2, 3, 3]);
  });

  it("[RT18] answers to sync step 1 wait for their rate, and one answer serves several requests", async () => {
    rig = createRealtimeRig({ limits: { "socket.syncAnswers": { count: 2, seconds: 1, burst: 2 } } });
    const ada = await rig.join("ada");
    await settle(rig.clients);
    for (let times = 0; times < 30; times += 1) ada.ask();
    await settle(rig.clients);
    expect(ada.answers).toBe(2);
    await rig.time.advance(500);
    await settle(rig.clients);
    expect(ada.answers).toBe(3);
    await rig.time.advance(5000);
    await settle(rig.clients);
    expect(ada.answers).toBe(3);
  });

  it("[RT18] an answer waits for its byte rate and until the client has read the last one", async () => {
    rig = createRealtimeRig({ limits: { "socket.syncBytes": { count: 1000, seconds: 1, burst: 1000 }, "socket.buffer": 4000 } });
    await rig.rooms.edit(articleId, api, 1, (document) => document.getText("content.md").insert(0, "x".repeat(3000)));
    const ada = await rig.join("ada");
    await settle(rig.clients);
    expect(ada.text).toHaveLength(3000);
    ada.ask();
    await settle(rig.clients);
    expect(ada.answers).toBe(1);
    ada.peer.bufferedBytes = 3000;
    await rig.time.advance(10_000);
    expect(ada.peer.toClient).toEqual([]);
    ada.peer.bufferedBytes = 0;
    ada.connection?.drained();
    await settle(rig.clients);
    expect(ada.answers).toBe(2);
  });
});
