/** Refusals: what a room refuses, and that a refused client does not affect others. */
import { afterEach, describe, expect, it } from "vitest";
import * as Y from "yjs";
import { rawUpdate, struct, updateFrame } from "../../test/support/hostileFrames.ts";
import { articleId, createRealtimeRig } from "../../test/support/realtimeRig.ts";
import { settle, turns } from "../../test/support/socketPair.ts";

let rig: ReturnType<typeof createRealtimeRig>;
afterEach(() => rig.close());

const api = { username: "api", kind: "key" } as const;

describe("refusals", () => {
  it("[RT9] a refusal sends message 2, and 101 if requested; the third one closes with 4400", async () => {
    rig = createRealtimeRig();
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob", { extensions: true })];
    await settle(rig.clients);
    for (const one of [ada, bob]) {
      one.document.getText("content.md").insert(0, "bold", { bold: true });
      one.deliver();
      one.take();
      expect(one.denied).toHaveLength(1);
    }
    expect(ada.refusals).toEqual([]);
    expect(bob.refusals).toMatchObject([{ code: "content_not_accepted" }]);
    expect(ada.peer.closed).toBeUndefined();
    for (const attribute of ["italic", "code"]) {
      ada.document.getText("content.md").insert(0, "x", { [attribute]: true });
      ada.deliver();
    }
    expect(ada.peer.closed?.code).toBe(4400);
    expect(rig.log.batches(articleId)).toEqual([]);
  });

  it("[RT10] an update that builds on a refused one is refused for any sender; other updates are not", async () => {
    rig = createRealtimeRig();
    const [ada, bob, cyd] = [await rig.join("ada"), await rig.join("bob"), await rig.join("cyd")];
    await settle(rig.clients);
    ada.document.getText("content.md").insert(0, "bold", { bold: true });
    const state = Y.encodeStateAsUpdate(ada.document);
    ada.deliver();
    ada.type("more", 2);
    ada.deliver();
    await turns();
    ada.take();
    expect(ada.denied).toHaveLength(2);
    // Bob gets ada's text without the server, as a second tab of a browser does.
    Y.applyUpdate(bob.document, state, bob);
    bob.type("built on it", 4);
    bob.deliver();
    await turns();
    bob.take();
    expect(bob.denied).toHaveLength(1);
    cyd.type("good");
    await settle([cyd]);
    expect(await rig.liveText()).toBe("good");
    expect(rig.log.batches(articleId)).toHaveLength(1);
  });

  it("[RT13][RT51] a full document closes with 4413 and its limit after the third refusal; deletions are still accepted", async () => {
    rig = createRealtimeRig({ limits: { "article.file": 1000 } });
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
    ada.type("a".repeat(990));
    await settle(rig.clients);
    ada.send(updateFrame(rawUpdate([{ clientId: 7, clock: 0, structs: [struct.gc(5)] }])));
    for (let times = 0; times < 2; times += 1) {
      ada.type("too much too much");
      ada.deliver();
    }
    const reason = "refused 3 times, first: content.md may have at most 1000 bytes of UTF-8 text.";
    expect(ada.peer.closed).toEqual({ code: 4413, reason });
    bob.document.getText("content.md").delete(0, 500);
    await settle([bob]);
    bob.type("b".repeat(400));
    await settle([bob]);
    expect(bob.denied).toEqual([]);
    expect(await rig.liveText()).toHaveLength(890);
  });

  it("[RT13] a whole file can be replaced by another of the largest size while others type", async () => {
    rig = createRealtimeRig({ limits: { "article.file": 1000 } });
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
    ada.type("é".repeat(490));
    await settle(rig.clients);
    rig.log.hold();
    bob.type("x");
    bob.deliver();
    await turns();
    ada.document.transact(() => {
      ada.document.getText("content.md").delete(0, 490);
      ada.document.getText("content.md").insert(0, "z".repeat(999));
    });
    ada.ask();
    ada.deliver();
    await turns();
    await rig.log.release();
    await settle(rig.clients);
    expect(ada.denied).toEqual([]);
    expect(await rig.liveText()).toHaveLength(1000);
    bob.type("y");
    await settle(rig.clients);
    expect(bob.denied).toHaveLength(1);
  });

  it("[RT13] a document has at most document.bytes, document.clientIds and document.pending", async () => {
    rig = createRealtimeRig({ limits: { "document.bytes": 2000, "document.clientIds": 20, "document.pending": 4096 } });
    const text = (clientId: number, length: number) => rawUpdate([{ clientId, clock: 0, structs: [struct.text("x".repeat(length))] }]);
    const apply = (update: Uint8Array) => rig.rooms.applyUpdate(articleId, api, update);
    await apply(text(1, 1500));
    await expect(apply(text(2, 600))).rejects.toMatchObject({ code: "content_too_large" });
    for (let clientId = 2; clientId <= 20; clientId += 1) await apply(text(clientId, 1));
    await expect(apply(text(21, 1))).rejects.toMatchObject({ code: "content_too_large" });
    const waiting = (clock: number) => rawUpdate([{ clientId: 1, clock, structs: [struct.text("w")] }]);
    for (const clock of [2000, 3000, 4000, 5000]) await apply(waiting(clock));
    await expect(apply(waiting(6000))).rejects.toMatchObject({ code: "content_not_accepted" });
    // The missing text arrives, so the pending updates are integrated and free their space.
    await apply(rawUpdate([{ clientId: 1, clock: 1500, structs: [struct.deleted(500)] }]));
    expect(await rig.rooms.read(articleId, (document) => Y.getState(document.store, 1))).toBe(2001);
  });

  it("[RT13] an update above frame.update is refused, unless it answers the server's sync step 1", async () => {
    rig = createRealtimeRig({ limits: { "frame.update": 1000 } });
    const ada = await rig.join("ada");
    ada.disconnect();
    ada.type("written offline: ".repeat(100));
    await ada.connect();
    await settle(rig.clients);
    expect(ada.denied).toEqual([]);
    expect(await rig.liveText()).toBe(ada.text);
    ada.type("pasted at once: ".repeat(100));
    await settle(rig.clients);
    expect(ada.denied).toHaveLength(1);
    expect((await rig.liveText()).length).toBeLessThan(ada.text.length);
  });

  it("[RT14] a reader's updates are denied at most once a second and never counted; it gets no sync step 1", async () => {
    rig = createRealtimeRig();
    const [ada, eve] = [await rig.join("ada"), await rig.join("eve", { mayWrite: false })];
    ada.type("public");
    await settle(rig.clients);
    expect(eve.text).toBe("public");
    for (let times = 0; times < 20; times += 1) eve.type("x");
    eve.deliver();
    await settle(rig.clients);
    expect(eve.denied).toHaveLength(1);
    await rig.time.advance(1000);
    eve.type("x");
    await settle(rig.clients);
    expect(eve.denied).toHaveLength(2);
    expect(eve.peer.closed).toBeUndefined();
    expect(eve.resyncs).toBe(0);
    expect(await rig.liveText()).toBe("public");
    eve.connection?.update({ ...eve.identity, mayWrite: true });
    await settle(rig.clients);
    expect(eve.resyncs).toBe(1);
    expect(await rig.liveText()).toBe(eve.text);
    eve.connection?.update({ ...eve.identity, mayWrite: false });
    await rig.time.advance(1000);
    eve.type("y");
    await settle(rig.clients);
    expect(eve.denied).toHaveLength(3);
  });

  it("[RT12] a client cannot block another open socket's text by using its client id", async () => {
    rig = createRealtimeRig();
    const [ada, mal] = [await rig.join("ada"), await rig.join("mal")];
    ada.type("abc");
    await settle(rig.clients);
    const clientId = ada.document.clientID;
    const attacks = [
      rawUpdate([{ clientId, clock: 3, structs: [struct.gc(5)] }]),
      rawUpdate([{ clientId, clock: 3, structs: [struct.deleted(5)] }]),
      rawUpdate([{ clientId, clock: 3, structs: [struct.text("stolen")] }]),
      rawUpdate([], [{ clientId, ranges: [[3, 100]] }]),
    ];
    for (const [at, attack] of attacks.entries()) {
      const other = await rig.join(`mal${at}`);
      for (const step of [2, 1]) other.send(updateFrame(attack, step));
      await settle(rig.clients);
    }
    mal.send(updateFrame(attacks[0] as Uint8Array));
    await settle(rig.clients);
    expect(mal.denied).toHaveLength(1);
    ada.type("defgh");
    await settle(rig.clients);
    expect(await rig.liveText()).toBe("abcdefgh");
    expect(ada.denied).toEqual([]);
  });

  it("[RT12] two tabs that know each other's unsent text keep all of it, deletions included", async () => {
    rig = createRealtimeRig();
    const [left, right] = [await rig.join("ada"), await rig.join("ada")];
    await settle(rig.clients);
    for (const tab of [left, right]) tab.disconnect();
    left.type("left side ");
    right.type("right sides");
    right.document.getText("content.md").delete(10, 1);
    // As through a BroadcastChannel between tabs.
    Y.applyUpdate(left.document, Y.encodeStateAsUpdate(right.document), left);
    Y.applyUpdate(right.document, Y.encodeStateAsUpdate(left.document), right);
    left.type("!");
    await Promise.all([left.connect(), right.connect()]);
    await settle(rig.clients);
    await rig.time.advance(600);
    await settle(rig.clients);
    expect([left.denied, right.denied]).toEqual([[], []]);
    expect(await rig.liveText()).toBe(left.text);
    expect(right.text).toBe(left.text);
    expect(left.text).toContain("left side ");
    expect(left.text).toContain("right side");
  });

  it("[RT12] if a client leaves before it sent its text, a client that knows the text is asked for it", async () => {
    rig = createRealtimeRig();
    const [left, right] = [await rig.join("bob"), await rig.join("ada")];
    await settle(rig.clients);
    right.disconnect();
    right.type("only here");
    await right.connect();
    right.deliver(2);
    Y.applyUpdate(left.document, Y.encodeStateAsUpdate(right.document), left);
    left.disconnect();
    await left.connect();
    await settle([left]);
    expect(await rig.liveText()).toBe("");
    right.disconnect();
    await rig.time.advance(600);
    await settle([left]);
    expect(await rig.liveText()).toBe("only here");
  });
});

describe("one author on several sockets", () => {
  it("[RT3] [RT12] a client that reconnects before its dead socket closes keeps acknowledged text", async () => {
    rig = createRealtimeRig();
    const ada = await rig.join("ada");
    ada.awareness.setLocalState(null);
    ada.type("one ");
    await settle(rig.clients);
    // The first socket is never closed: its network connection was lost silently.
    await ada.connect();
    ada.toServer.pop();
    await settle(rig.clients);
    const { answers } = ada;
    ada.type("two");
    ada.ask();
    await settle(rig.clients);
    expect(ada.answers).toBe(answers + 1);
    expect(await rig.liveText()).toBe("one two");
    expect(ada.denied).toEqual([]);
  });

  it("[RT3] [RT12] text of a stalled tab that another tab sends is stored before that tab is answered", async () => {
    rig = createRealtimeRig();
    const [still, tab] = [await rig.join("ada"), await rig.join("ada")];
    still.type("seen ");
    await settle(rig.clients);
    still.type("told by the other ");
    // As through a BroadcastChannel between tabs.
    Y.applyUpdate(tab.document, Y.encodeStateAsUpdate(still.document), tab);
    tab.type("and more");
    await settle([tab]);
    await rig.time.advance(300);
    tab.ask();
    await settle([tab]);
    expect(await rig.liveText()).toBe("seen told by the other and more");
    still.type("!");
    await settle(rig.clients);
    expect(await rig.liveText()).toBe(still.text);
    expect(tab.text).toBe(still.text);
  });
});
