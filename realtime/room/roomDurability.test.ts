/** Durability: what is shown when, and what happens when the store fails. */
import * as decoding from "lib0/decoding";
import { afterEach, describe, expect, it } from "vitest";
import * as Y from "yjs";
import { articleId, createRealtimeRig } from "../../test/support/realtimeRig.ts";
import { settle, turns } from "../../test/support/socketPair.ts";

let rig: ReturnType<typeof createRealtimeRig>;
afterEach(() => rig.close());

const api = { username: "api", kind: "key" } as const;

/** The updates among the frames that a client has not taken yet. */
function waitingUpdates(frames: readonly Uint8Array[]): Uint8Array[] {
  return frames.flatMap((frame) => {
    const decoder = decoding.createDecoder(frame);
    return decoding.readVarUint(decoder) === 0 && decoding.readVarUint(decoder) === 2 ? [decoding.readVarUint8Array(decoder)] : [];
  });
}

describe("durability", () => {
  it("[RT2] while a batch is being written, no reader, join, request or answer shows it", async () => {
    rig = createRealtimeRig();
    const ada = await rig.join("ada");
    const bob = await rig.join("bob");
    await settle(rig.clients);
    rig.log.hold();
    ada.type("secret");
    ada.deliver();
    await turns();
    bob.ask();
    bob.deliver();
    const cyd = await rig.join("cyd");
    cyd.deliver();
    let read: string | undefined;
    void rig.liveText().then((text) => {
      read = text;
    });
    await turns();
    bob.take();
    cyd.take();
    expect([bob.text, cyd.text, read]).toEqual(["", "", undefined]);
    expect([bob.answers, cyd.answers]).toEqual([1, 0]);

    await rig.log.release();
    await settle(rig.clients);
    expect([bob.text, cyd.text, read]).toEqual(["secret", "secret", "secret"]);
  });

  it("[RT2] a server edit that is being written is not shown to anyone", async () => {
    rig = createRealtimeRig();
    const ada = await rig.join("ada");
    await settle(rig.clients);
    rig.log.hold();
    const edited = rig.rooms.edit(articleId, api, 77, (document) => document.getText("content.md").insert(0, "by request"));
    await turns();
    ada.ask();
    ada.deliver();
    let read: string | undefined;
    void rig.liveText().then((text) => {
      read = text;
    });
    await turns();
    ada.take();
    expect([ada.text, ada.answers, read]).toEqual(["", 1, undefined]);
    await rig.log.release();
    await expect(edited).resolves.toMatchObject({ revision: 1, changed: true, repeated: false });
    await settle(rig.clients);
    expect([ada.text, ada.answers, read]).toEqual(["by request", 2, "by request"]);
  });

  it("[RT2] an answer that waited for a full socket buffer does not show a batch that is being written", async () => {
    rig = createRealtimeRig({ limits: { "socket.buffer": 1000 } });
    const ada = await rig.join("ada");
    await settle(rig.clients);
    ada.peer.bufferedBytes = 900;
    ada.ask();
    ada.deliver();
    rig.log.hold();
    const edited = rig.rooms.edit(articleId, api, 1, (document) => document.getText("content.md").insert(0, "not yet"));
    await turns();
    ada.peer.bufferedBytes = 0;
    ada.connection?.drained();
    ada.send(new Uint8Array([3]));
    ada.deliver();
    await turns();
    ada.take();
    expect([ada.text, ada.answers]).toEqual(["", 1]);
    await rig.log.release();
    await edited;
    ada.take();
    expect([ada.text, ada.answers]).toEqual(["not yet", 2]);
  });

  it("[RT3] sync step 1 is answered only after earlier updates are durable, deletions included", async () => {
    rig = createRealtimeRig();
    const ada = await rig.join("ada");
    ada.type("abc");
    await settle(rig.clients);
    rig.log.hold();
    const before = ada.answers;
    ada.document.getText("content.md").delete(0, 2);
    ada.ask();
    ada.deliver();
    await turns();
    ada.take();
    expect(ada.answers).toBe(before);
    await rig.log.release();
    ada.take();
    expect(ada.answers).toBe(before + 1);
    expect(await rig.liveText()).toBe("c");
  });

  it("[RT4] updates of one event loop turn, or that arrive during a write, become one revision", async () => {
    rig = createRealtimeRig();
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
    await settle(rig.clients);
    rig.log.hold();
    for (const letter of "abc") ada.type(letter);
    ada.deliver();
    await turns();
    for (const letter of "defgh") ada.type(letter);
    bob.type("!");
    ada.deliver();
    bob.deliver();
    await turns();
    await rig.log.release();
    await turns();
    const batches = rig.log.batches(articleId);
    expect(batches.map(({ revision, updates }) => [revision, updates.length])).toEqual([
      [1, 3],
      [2, 6],
    ]);
    expect(new Set(batches[1]?.updates.map(({ author }) => author.username))).toEqual(new Set(["ada", "bob"]));
  });

  it("[RT5] a reader gets one frame per batch with the changes of others; a sole writer gets none", async () => {
    rig = createRealtimeRig();
    const [ada, bob, cyd] = [await rig.join("ada"), await rig.join("bob"), await rig.join("cyd")];
    await settle(rig.clients);
    for (const letter of "hello") ada.type(letter);
    ada.deliver();
    await turns();
    expect(waitingUpdates(ada.peer.toClient)).toEqual([]);
    for (const reader of [bob, cyd]) expect(waitingUpdates(reader.peer.toClient)).toHaveLength(1);
    await settle(rig.clients);

    ada.type("A");
    bob.type("B");
    ada.deliver();
    bob.deliver();
    await turns();
    const [toAda, toBob, toCyd] = [ada, bob, cyd].map((one) =>
      waitingUpdates(one.peer.toClient).map((update) => Y.decodeUpdate(update).structs.map(({ id }) => id.client)),
    );
    expect(toAda).toEqual([[bob.document.clientID]]);
    expect(toBob).toEqual([[ada.document.clientID]]);
    expect(toCyd?.map((ids) => [...ids].sort())).toEqual([[ada.document.clientID, bob.document.clientID].sort()]);
  });

  it("[RT5] many writers in one batch end with the same text", async () => {
    rig = createRealtimeRig();
    const writers = await Promise.all(Array.from({ length: 9 }, (_, at) => rig.join(`writer${at}`)));
    await settle(rig.clients);
    for (const [at, writer] of writers.entries()) writer.type(`<${at}>`);
    for (const writer of writers) writer.deliver();
    await turns();
    expect(rig.log.batches(articleId)).toHaveLength(1);
    for (const writer of writers) expect(waitingUpdates(writer.peer.toClient)).toHaveLength(1);
    await settle(rig.clients);
    expect(new Set(writers.map((writer) => writer.text)).size).toBe(1);
    expect(writers[0]?.text).toHaveLength(27);
  });

  it("[RT6] a failed append closes every socket with 1013 and applies nothing; clients send again", async () => {
    rig = createRealtimeRig();
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
    ada.type("kept ");
    await settle(rig.clients);
    rig.log.failNext();
    ada.type("at risk");
    ada.deliver();
    await turns();
    expect([ada, bob].map((one) => one.peer.closed?.code)).toEqual([1013, 1013]);
    expect(await rig.liveText()).toBe("kept ");
    expect(bob.text).toBe("kept ");
    for (const one of [ada, bob]) {
      one.disconnect();
      await one.connect();
    }
    await settle(rig.clients);
    expect(bob.text).toBe("kept at risk");
    expect(await rig.liveText()).toBe("kept at risk");
  });

  it("[RT6] a request fails if its append fails, and a request that waited behind it is retried", async () => {
    rig = createRealtimeRig();
    rig.log.hold();
    const insert = (text: string) => (document: Y.Doc) => document.getText("content.md").insert(0, text);
    const first = rig.rooms.edit(articleId, api, 1, insert("a"));
    await turns();
    const second = rig.rooms.edit(articleId, api, 2, insert("b"));
    const read = rig.liveText();
    rig.log.failNext(new Error("disk full"));
    const failed = expect(first).rejects.toThrow("disk full");
    await rig.log.release();
    await failed;
    await expect(second).resolves.toMatchObject({ revision: 1 });
    await expect(read).resolves.toBe("b");
  });

  it("[RT23] an append to a deleted article closes sockets with 4409 and fails requests with not_found", async () => {
    rig = createRealtimeRig();
    const ada = await rig.join("ada");
    await settle(rig.clients);
    rig.log.deleteArticle(articleId);
    ada.type("too late");
    ada.deliver();
    await turns();
    expect(ada.peer.closed?.code).toBe(4409);
    const edited = rig.rooms.edit(articleId, api, 1, (document) => document.getText("content.md").insert(0, "x"));
    await expect(edited).rejects.toMatchObject({ code: "not_found" });
  });
});
