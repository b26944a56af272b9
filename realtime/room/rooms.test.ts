/** How rooms are opened, shared between nodes and closed. */
import { afterEach, describe, expect, it } from "vitest";
import * as Y from "yjs";
import { articleId, createRealtimeRig } from "../../test/support/realtimeRig.ts";
import { type PairedClient, settle, turns } from "../../test/support/socketPair.ts";

let rig: ReturnType<typeof createRealtimeRig>;
afterEach(() => rig.close());

const api = { username: "api", kind: "key" } as const;
const insert = (text: string) => (document: Y.Doc) => document.getText("content.md").insert(0, text);

/** Types one character at a time, so that each is an update of its own. Returns the text. */
function typeEach(client: PairedClient, count: number): string {
  for (let at = 0; at < count; at += 1) client.type("x");
  return "x".repeat(count);
}

describe("rooms", () => {
  it("[RT21] many requests at once load a document only once", async () => {
    rig = createRealtimeRig();
    await Promise.all([...Array.from({ length: 50 }, (_, at) => rig.join(`user${at}`)), rig.liveText(), rig.liveText()]);
    expect(rig.log.loads).toBe(1);
    expect(rig.rooms.stats()).toEqual({ rooms: 1, connections: 50 });
  });

  it("[RT21] an idle document is saved and closed; the next use loads the same text", async () => {
    rig = createRealtimeRig();
    const ada = await rig.join("ada");
    const text = typeEach(ada, 64);
    await settle(rig.clients);
    ada.disconnect();
    await rig.time.advance(29_000);
    expect(rig.rooms.stats().rooms).toBe(1);
    await rig.time.advance(31_000);
    expect(rig.rooms.stats().rooms).toBe(0);
    expect(rig.log.state(articleId)?.revision).toBe(1);
    rig.log.trim(articleId, 1);
    expect(await rig.liveText()).toBe(text);
    expect(rig.log.loads).toBe(2);
  });

  it("[RT21] a client that joins while the snapshot is being saved finds the document open", async () => {
    rig = createRealtimeRig();
    const ada = await rig.join("ada");
    const text = typeEach(ada, 64);
    await settle(rig.clients);
    ada.disconnect();
    let release = () => {};
    rig.log.saveState = () => new Promise<void>((resolve) => (release = resolve));
    await rig.time.advance(30_000);
    const bob = await rig.join("bob");
    release();
    await turns();
    await settle([bob]);
    expect(rig.log.loads).toBe(1);
    expect(bob.text).toBe(text);
    await rig.time.advance(120_000);
    expect(bob.peer.closed).toBeUndefined();
  });

  it("[RT90] if no other node can write, the log is not polled and nothing is sent over the bus", async () => {
    rig = createRealtimeRig({ isShared: false });
    const calls: string[] = [];
    const { tail } = rig.log;
    rig.log.tail = (article) => {
      calls.push("tail");
      return tail(article);
    };
    rig.bus.publish = () => void calls.push("publish");
    rig.bus.subscribe = () => {
      calls.push("subscribe");
      return () => {};
    };
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
    ada.type("text");
    await settle(rig.clients);
    await rig.rooms.edit(articleId, api, 7, insert("more "));
    await rig.time.advance(10_000);
    await settle(rig.clients);
    expect([bob.text, await rig.liveText()]).toEqual(["more text", "more text"]);
    expect(calls).toEqual([]);
  });

  it("[RT21] a snapshot is saved as the log grows, and a failure to save it loses nothing", async () => {
    rig = createRealtimeRig();
    const { saveState } = rig.log;
    rig.log.saveState = () => Promise.reject(new Error("no room"));
    for (let revision = 1; revision <= 1000; revision += 1) await rig.rooms.edit(articleId, api, undefined, insert("x"));
    await turns();
    expect(rig.log.state(articleId)).toBeUndefined();
    rig.log.saveState = saveState;
    for (let revision = 1; revision <= 1000; revision += 1) await rig.rooms.edit(articleId, api, undefined, insert("y"));
    await turns();
    expect(rig.log.state(articleId)?.revision).toBe(2000);
    const kept = new Y.Doc();
    Y.applyUpdate(kept, rig.log.state(articleId)?.bytes as Uint8Array);
    expect(kept.getText("content.md").toString()).toBe("y".repeat(1000) + "x".repeat(1000));
    expect(await rig.liveText()).toHaveLength(2000);
  });

  it("[RT21] a failed load fails all waiting callers, and the next caller loads again", async () => {
    rig = createRealtimeRig();
    const { load } = rig.log;
    rig.log.load = () => Promise.reject(new Error("store away"));
    const asked = await Promise.allSettled([rig.liveText(), rig.join("ada")]);
    expect(asked.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(rig.rooms.stats()).toEqual({ rooms: 0, connections: 0 });
    rig.log.load = load;
    expect(await rig.liveText()).toBe("");
  });

  it("[RT20] a socket above sockets.article or sockets.credential is refused; open sockets stay", async () => {
    rig = createRealtimeRig({ limits: { "sockets.article": 3, "sockets.credential": 2 } });
    const [ada] = [await rig.join("ada"), await rig.join("ada")];
    await expect(rig.join("ada")).rejects.toMatchObject({ code: "rate_limited" });
    await rig.join("bob");
    await expect(rig.join("cyd")).rejects.toMatchObject({ code: "rate_limited" });
    ada.disconnect();
    await rig.join("cyd");
    expect(rig.rooms.stats().connections).toBe(3);
    expect(rig.clients.every((client) => client.peer.closed === undefined)).toBe(true);
  });

  it("[RT22] two nodes read each other's batches by log position, also when the bus loses messages", async () => {
    rig = createRealtimeRig({ nodes: 2 });
    const [ada, bob] = [await rig.join("ada", { node: 0 }), await rig.join("bob", { node: 1 })];
    await settle(rig.clients);
    ada.type("from one ");
    await settle(rig.clients);
    expect(bob.text).toBe("from one ");
    bob.type("from two");
    await settle(rig.clients);
    expect(ada.text).toBe(bob.text);

    rig.silenceBus(true);
    ada.type(" unheard");
    await settle(rig.clients);
    expect(bob.text).not.toContain("unheard");
    rig.silenceBus(false);
    // The revision of its own next batch shows the second node that it lacks one.
    bob.type("!");
    await settle(rig.clients);
    expect(bob.text).toContain("unheard");
    expect(ada.text).toBe(bob.text);
    const [one, two] = await Promise.all(
      rig.nodes.map(({ rooms }) => rooms.read(articleId, (document, revision) => [document.getText("content.md").toString(), revision])),
    );
    expect(one).toEqual(two);
  });

  it("[RT22] two nodes that write at once converge in any log order", async () => {
    rig = createRealtimeRig({ nodes: 2 });
    const all = [];
    for (const [at, name] of ["ada", "bob", "cyd", "dan"].entries()) all.push(await rig.join(name, { node: at % 2 }));
    await settle(all);
    for (let round = 0; round < 30; round += 1) {
      for (const one of all) one.type(`${round}`, (round * 5) % (one.text.length + 1));
      for (const one of all) if (round % 3 !== 0) one.deliver();
      await turns(1);
    }
    await settle(all);
    expect(new Set(all.map((one) => one.text)).size).toBe(1);
    for (const { rooms } of rig.nodes) {
      expect(await rooms.read(articleId, (document, revision) => [document.getText("content.md").toString(), revision])).toEqual([
        all[0]?.text,
        rig.log.batches(articleId).length,
      ]);
    }
  });

  it("[RT22] a node reads the snapshot if the log no longer has the batches that it lacks", async () => {
    rig = createRealtimeRig({ nodes: 2 });
    const [ada, bob] = [await rig.join("ada", { node: 0 }), await rig.join("bob", { node: 1 })];
    bob.type("here ");
    await settle(rig.clients);
    rig.silenceBus(true);
    for (const word of ["a ", "b ", "c "]) {
      ada.type(word);
      await settle(rig.clients);
    }
    await rig.log.saveState(articleId, 4, Y.encodeStateAsUpdate(ada.document));
    rig.log.trim(articleId, 4);
    rig.silenceBus(false);
    ada.type("d");
    await settle(rig.clients);
    expect(bob.text).toBe(ada.text);
    expect(bob.text).toBe("here a b c d");
  });

  it("[RT24] draining closes sockets with 1012, refuses new ones, and ends when all is durable", async () => {
    rig = createRealtimeRig();
    const ada = await rig.join("ada");
    await settle(rig.clients);
    rig.log.hold();
    ada.type("last words");
    ada.deliver();
    await turns();
    let drained = false;
    const draining = rig.rooms.drain().then(() => {
      drained = true;
    });
    await turns();
    expect(ada.peer.closed?.code).toBe(1012);
    expect(drained).toBe(false);
    await expect(rig.join("bob")).rejects.toMatchObject({ code: "unavailable" });
    await rig.log.release();
    await draining;
    expect(rig.log.batches(articleId)).toHaveLength(1);
  });

  it("[RT25] after a change of access an open socket continues, becomes read-only, or closes", async () => {
    rig = createRealtimeRig();
    const [ada, bob, cyd] = [await rig.join("ada"), await rig.join("bob"), await rig.join("cyd")];
    await settle(rig.clients);
    const identity = bob.connection?.identity;
    if (identity === undefined) throw new Error("bob is not connected");
    bob.connection?.update({ ...identity, mayWrite: false });
    cyd.connection?.close(4403, "access was lost");
    expect(cyd.peer.closed?.code).toBe(4403);
    bob.type("no more");
    ada.type("still");
    await settle([ada, bob]);
    expect(await rig.liveText()).toBe("still");
    for (const one of [ada, bob]) one.connection?.close(4409, "the article was deleted");
    expect([ada, bob].map((one) => one.peer.closed?.code)).toEqual([4409, 4409]);
    expect(rig.rooms.stats().connections).toBe(0);
  });

  it("[RT11] nothing is sent to a closed socket", async () => {
    rig = createRealtimeRig();
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
    await settle(rig.clients);
    const { connection } = bob;
    connection?.closed();
    connection?.closed();
    connection?.close(4400, "again");
    connection?.receive(new Uint8Array([0, 0, 1, 0]));
    ada.type("x");
    await settle([ada]);
    expect(bob.peer.toClient).toEqual([]);
    expect(bob.peer.closed).toBeUndefined();
  });
});
