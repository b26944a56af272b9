/** Tests one socket: what closes it, what it may have in its buffer, and what it keeps while it is idle. */
import { afterEach, describe, expect, it } from "vitest";
import { createRealtimeRig } from "../../test/support/realtimeRig.ts";
import { settle, turns } from "../../test/support/socketPair.ts";

let rig: ReturnType<typeof createRealtimeRig>;
afterEach(() => rig.close());

describe("sockets", () => {
  it("[RT11] a malformed frame closes its own socket with 4400", async () => {
    rig = createRealtimeRig();
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
    ada.connection?.receive(new Uint8Array([9, 9, 9]));
    expect(ada.peer.closed?.code).toBe(4400);
    expect(bob.peer.closed).toBeUndefined();
    expect(rig.rooms.stats().connections).toBe(1);
  });

  it("[RT113] presence that a client gets when it joins or asks is allowed on top of socket.buffer", async () => {
    rig = createRealtimeRig({ limits: { "socket.buffer": 2000 } });
    const ada = await rig.join("ada");
    ada.awareness.setLocalStateField("cursor", "x".repeat(3000));
    await settle(rig.clients);
    const slow = await rig.join("slow");
    slow.peer.isSlow = true;
    await settle(rig.clients);
    await rig.time.advance(100);
    expect(slow.peer.bufferedBytes).toBeGreaterThan(3000);
    expect(slow.peer.closed).toBeUndefined();
    ada.type("x".repeat(1900));
    await settle(rig.clients);
    expect(slow.peer.closed).toBeUndefined();
    ada.type("x".repeat(300));
    await settle(rig.clients);
    expect(slow.peer.closed?.code).toBe(1013);
  });

  it("[RT17] a reader that is behind by more than socket.buffer is closed with 1013 and can resync", async () => {
    rig = createRealtimeRig({ limits: { "socket.buffer": 2000 } });
    const [ada, slow] = [await rig.join("ada"), await rig.join("slow")];
    await settle(rig.clients);
    slow.peer.isSlow = true;
    let sent = 0;
    while (slow.peer.closed === undefined && sent < 100) {
      ada.type("a line of text that has to go somewhere\n");
      sent += 1;
      ada.deliver();
      await turns(2);
    }
    expect(slow.peer.closed?.code).toBe(1013);
    expect(sent).toBeGreaterThan(10);
    expect(ada.peer.closed).toBeUndefined();
    slow.disconnect();
    await slow.connect();
    await settle(rig.clients);
    expect(slow.text).toBe(ada.text);
  });

  it("[RT26] an idle client receives a frame at least every 20 s", async () => {
    rig = createRealtimeRig();
    const ada = await rig.join("ada", { mayWrite: false });
    await settle(rig.clients);
    for (let times = 0; times < 5; times += 1) {
      await rig.time.advance(20_000);
      expect(ada.peer.toClient).toHaveLength(1);
      expect(ada.take()).toBe(true);
    }
    ada.disconnect();
    await rig.time.advance(60_000);
    expect(rig.rooms.stats().rooms).toBe(0);
  });

  it("[RT18] a socket that sends too many frames or bytes is closed with 4429", async () => {
    const rate = { count: 10, seconds: 1, burst: 20 };
    rig = createRealtimeRig({ limits: { "socket.frames": rate } });
    const ada = await rig.join("ada");
    for (let times = 0; times < 30; times += 1) ada.type("x");
    ada.deliver();
    expect(ada.peer.closed?.code).toBe(4429);
    rig.close();
    rig = createRealtimeRig({ limits: { "socket.bytes": { count: 1000, seconds: 1, burst: 5000 } } });
    const bob = await rig.join("bob");
    bob.type("x".repeat(6000));
    bob.deliver();
    expect(bob.peer.closed?.code).toBe(4429);
  });

  it("[RT18] a writer that fills the queue of a document is closed with 1013; the others stay", async () => {
    rig = createRealtimeRig({ limits: { "room.queue": 10_000 } });
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
    await settle(rig.clients);
    rig.log.hold();
    for (let times = 0; times < 12; times += 1) ada.type("x".repeat(1000));
    ada.deliver();
    await turns();
    expect(ada.peer.closed?.code).toBe(1013);
    await rig.log.release();
    bob.type("still here");
    await settle([bob]);
    expect(await rig.liveText()).toContain("still here");
    ada.disconnect();
    await ada.connect();
    await settle(rig.clients);
    await rig.time.advance(600);
    await settle(rig.clients);
    expect(bob.text).toBe(ada.text);
  });
});

/** The state of a member that an idle connection or room does not have. */
const held = (owner: object, field: string) => (owner as Record<string, unknown>)[field];

describe("idle connections", () => {
  it("[RT97] an idle connection drops its state, and its client is served as before", async () => {
    rig = createRealtimeRig();
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
    ada.type("a");
    await settle(rig.clients);
    expect(held(ada.connection ?? {}, "ownParts")).toBeDefined();
    await rig.time.advance(20_000);
    await settle(rig.clients);
    await rig.time.advance(20_000);
    expect(held(ada.connection ?? {}, "ownParts")).toBeUndefined();
    ada.type("b");
    await settle(rig.clients);
    expect([ada.text, bob.text]).toEqual([bob.text, ada.text]);
    expect(bob.text).toHaveLength(2);
    ada.ask();
    await settle(rig.clients);
    expect(ada.peer.closed).toBeUndefined();
  });

  it("[RT97] a client whose update was refused is remembered, however long it is idle", async () => {
    rig = createRealtimeRig();
    const ada = await rig.join("ada");
    await settle(rig.clients);
    const { resyncs } = ada;
    ada.document.getText("research.md").insert(0, "x", { bold: true });
    await settle(rig.clients);
    await rig.time.advance(120_000);
    expect(held(ada.connection ?? {}, "ownParts")).toBeDefined();
    ada.type("y");
    await settle(rig.clients);
    await rig.time.advance(20_000);
    expect(ada.resyncs).toBe(resyncs);
  });
});
