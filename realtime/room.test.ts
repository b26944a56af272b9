/** What is durable, who hears what, and what becomes of edits when the store fails. */

import * as decoding from "lib0/decoding";
import { afterEach, describe, expect, it } from "vitest";
import * as Y from "yjs";
import { AppError } from "../api/schema/error.ts";
import { rawUpdate, struct, updateFrame, updateOf } from "../test/support/hostileFrames.ts";
import { articleId, createRealtimeRig } from "../test/support/realtimeRig.ts";
import { settle, turns } from "../test/support/socketPair.ts";

let rig: ReturnType<typeof createRealtimeRig>;
afterEach(() => rig.close());

const api = { username: "api", kind: "key" } as const;

/** The updates among the frames that wait for a client. */
function waitingUpdates(frames: readonly Uint8Array[]): Uint8Array[] {
  return frames.flatMap((frame) => {
    const decoder = decoding.createDecoder(frame);
    return decoding.readVarUint(decoder) === 0 && decoding.readVarUint(decoder) === 2 ? [decoding.readVarUint8Array(decoder)] : [];
  });
}

describe("durability", () => {
  it("[RT2] while a batch is being written no reader, join, request or answer sees it", async () => {
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
    expect([bob.answers, cyd.answers, cyd.questions]).toEqual([1, 0, 0]);

    await rig.log.release();
    await settle(rig.clients);
    expect([bob.text, cyd.text, read]).toEqual(["secret", "secret", "secret"]);
  });

  it("[RT2] a server edit that is being written is seen by nobody", async () => {
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

  it("[RT2] an answer that waited for room in the socket does not show what is being written", async () => {
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

  it("[RT3] a sync-step-1 waits for what came before it, deletions included", async () => {
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

  it("[RT4] what comes in one turn, and while a batch is written, is one revision each", async () => {
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

  it("[RT5] a reader gets one frame for each batch, with what others wrote; the one who wrote it all gets none", async () => {
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

  it("[RT5] with many writers at once everybody still ends with the same text", async () => {
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

  it("[RT6] a failed append closes every socket with 1013, applies nothing, and the clients' edits survive by being sent again", async () => {
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

  it("[RT6] a request whose append fails is told so, and a request that waited behind it is tried again", async () => {
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

  it("[RT23] an append to a deleted article closes its sockets with 4409 and answers requests with not_found", async () => {
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

describe("server edits", () => {
  it("[RT7] an edit sees what was received before it, and runs once for its client id", async () => {
    rig = createRealtimeRig();
    const ada = await rig.join("ada");
    ada.type("one");
    ada.deliver();
    const seen: [string, number][] = [];
    const append = (document: Y.Doc, revision: number) => {
      const text = document.getText("content.md");
      seen.push([text.toString(), revision]);
      text.insert(text.length, " two");
      return "done";
    };
    const edited = rig.rooms.edit(articleId, api, 42, append);
    await expect(edited).resolves.toEqual({ revision: 2, changed: true, repeated: false, value: "done" });
    expect(seen).toEqual([["one", 1]]);
    await expect(rig.rooms.edit(articleId, api, 42, append)).resolves.toEqual({ revision: 2, changed: false, repeated: true });
    await settle(rig.clients);
    expect(ada.text).toBe("one two");
    expect(
      rig.log
        .batches(articleId)
        .at(-1)
        ?.updates.map(({ author }) => author),
    ).toEqual([api]);
  });

  it("[RT7] an edit that changes nothing makes no revision; one without a client id of its own writes as the document", async () => {
    rig = createRealtimeRig();
    const nothing = await rig.rooms.edit(articleId, api, 1, () => "nothing");
    expect(nothing).toEqual({ revision: 0, changed: false, repeated: false, value: "nothing" });
    for (const letter of "abc") {
      await rig.rooms.edit(articleId, api, undefined, (document) => document.getText("content.md").insert(0, letter));
    }
    expect(await rig.liveText()).toBe("cba");
    expect(await rig.rooms.read(articleId, (document) => document.store.clients.size)).toBe(1);
  });

  it("[RT7] an edit that throws halfway leaves nothing behind and lets the sockets stay", async () => {
    rig = createRealtimeRig();
    const ada = await rig.join("ada");
    ada.type("text");
    await settle(rig.clients);
    const edited = rig.rooms.edit(articleId, api, 1, (document) => {
      document.getText("content.md").insert(0, "half of ");
      throw new AppError("revision_conflict", "no");
    });
    await expect(edited).rejects.toMatchObject({ code: "revision_conflict" });
    expect(await rig.liveText()).toBe("text");
    ada.type("!");
    await settle(rig.clients);
    expect(await rig.liveText()).toBe("text!");
    expect(ada.peer.closed).toBeUndefined();
  });

  it("[RT7] what comes while an edit is taken back is not lost", async () => {
    rig = createRealtimeRig();
    const ada = await rig.join("ada");
    ada.type("text");
    await settle(rig.clients);
    const edited = rig.rooms.edit(articleId, api, 1, (document) => {
      document.getText("content.md").delete(0, 4);
      throw new Error("no");
    });
    await Promise.all([
      expect(edited).rejects.toThrow("no"),
      (async () => {
        await new Promise((resolve) => setImmediate(resolve));
        ada.document.getText("content.md").delete(0, 4);
        ada.type("new");
        ada.deliver();
      })(),
    ]);
    await turns();
    if (ada.peer.closed !== undefined) {
      expect(ada.peer.closed.code).toBe(1012);
      ada.disconnect();
      await ada.connect();
    }
    await settle(rig.clients);
    expect(await rig.liveText()).toBe("new");
  });

  it("[RT7] [RT13] an edit may hold no more than a socket's update: no other root, no half character, no file over its limit", async () => {
    rig = createRealtimeRig({ limits: { "article.file": 100 } });
    const edit = (change: (document: Y.Doc) => void) => rig.rooms.edit(articleId, api, undefined, change);
    await edit((document) => document.getText("content.md").insert(0, "x".repeat(90)));
    await expect(edit((document) => document.getText("content.md").insert(0, "y".repeat(11)))).rejects.toMatchObject({
      code: "content_too_large",
    });
    await expect(edit((document) => document.getText("other.md").insert(0, "y"))).rejects.toMatchObject({ code: "content_not_accepted" });
    await expect(edit((document) => document.getText("content.md").insert(0, "\ud83c"))).rejects.toThrow("surrogate");
    expect(await rig.liveText()).toBe("x".repeat(90));
    await edit((document) => document.getText("content.md").insert(0, "y".repeat(10)));
    expect(await rig.liveText()).toHaveLength(100);
  });

  it("[RT7] an update by request is judged like a socket's and is durable when it is answered", async () => {
    rig = createRealtimeRig();
    const ada = await rig.join("ada");
    const update = updateOf((document) => document.getText("content.md").insert(0, "sent"));
    await expect(rig.rooms.applyUpdate(articleId, api, update)).resolves.toEqual({ revision: 1 });
    await expect(rig.rooms.applyUpdate(articleId, api, update)).resolves.toEqual({ revision: 1 });
    await settle(rig.clients);
    expect(ada.text).toBe("sent");
    const bold = updateOf((document) => document.getText("content.md").insert(0, "x", { bold: true }));
    await expect(rig.rooms.applyUpdate(articleId, api, bold)).rejects.toMatchObject({ code: "content_not_accepted" });
    const large = new Uint8Array(1024 * 1024 + 1);
    await expect(rig.rooms.applyUpdate(articleId, api, large)).rejects.toMatchObject({ code: "payload_too_large" });
    ada.type("!");
    await settle(rig.clients);
    const stolen = rawUpdate([{ clientId: ada.document.clientID, clock: 1, structs: [struct.gc(5)] }]);
    await expect(rig.rooms.applyUpdate(articleId, api, stolen)).rejects.toMatchObject({ code: "content_not_accepted" });
  });
});

describe("refusals", () => {
  it("[RT9] every client is told by message 2, one that asked also by 101; the third refusal closes with 4400", async () => {
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

  it("[RT10] an update that builds on a refused one is refused, whoever sends it; others write on undisturbed", async () => {
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
    // Bob has ada's text by another way, as a second tab of a browser would.
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

  it("[RT13] a document that is full closes with 4413 after the third refusal; deletions are still taken", async () => {
    rig = createRealtimeRig({ limits: { "article.file": 1000 } });
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
    ada.type("a".repeat(990));
    await settle(rig.clients);
    for (let times = 0; times < 3; times += 1) {
      ada.type("too much too much");
      ada.deliver();
    }
    expect(ada.peer.closed?.code).toBe(4413);
    bob.document.getText("content.md").delete(0, 500);
    await settle([bob]);
    bob.type("b".repeat(400));
    await settle([bob]);
    expect(bob.denied).toEqual([]);
    expect(await rig.liveText()).toHaveLength(890);
  });

  it("[RT13] a whole file may be replaced by another of the largest size, while others type", async () => {
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

  it("[RT13] a document keeps at most document.bytes, document.clientIds and document.pending", async () => {
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
    // What they waited for has come, and they with it: then there is room again.
    await apply(rawUpdate([{ clientId: 1, clock: 1500, structs: [struct.deleted(500)] }]));
    expect(await rig.rooms.read(articleId, (document) => Y.getState(document.store, 1))).toBe(2001);
  });

  it("[RT13] an update over frame.update is refused, unless it answers the server's question", async () => {
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

  it("[RT14] a reader's updates are refused without counting, answered at most once a second, and it is never asked", async () => {
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
    expect(eve.questions).toBe(0);
    expect(await rig.liveText()).toBe("public");
    eve.connection?.update({ ...eve.identity, mayWrite: true });
    await settle(rig.clients);
    expect(eve.questions).toBe(1);
    expect(await rig.liveText()).toBe(eve.text);
    eve.connection?.update({ ...eve.identity, mayWrite: false });
    await rig.time.advance(1000);
    eve.type("y");
    await settle(rig.clients);
    expect(eve.denied).toHaveLength(3);
  });

  it("[RT12] nobody makes a document deaf to another open socket by speaking under its client id", async () => {
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

  it("[RT12] two tabs that know each other's unsent text both keep what they wrote, deletions included", async () => {
    rig = createRealtimeRig();
    const [left, right] = [await rig.join("ada"), await rig.join("ada")];
    await settle(rig.clients);
    for (const tab of [left, right]) tab.disconnect();
    left.type("left side ");
    right.type("right sides");
    right.document.getText("content.md").delete(10, 1);
    // As through the browser's own channel between tabs.
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

  it("[RT12] text of a client that goes before it could say it itself is asked of the one that knows it", async () => {
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
  it("[RT3] [RT12] a client without presence that comes back beside its dead socket has stored what it was answered for", async () => {
    rig = createRealtimeRig();
    const ada = await rig.join("ada");
    ada.awareness.setLocalState(null);
    ada.type("one ");
    await settle(rig.clients);
    // The first socket is never closed: the network went without a word.
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

  it("[RT3] [RT12] what a tab says of another tab whose socket stands still is stored before the tab is answered", async () => {
    rig = createRealtimeRig();
    const [still, tab] = [await rig.join("ada"), await rig.join("ada")];
    still.type("seen ");
    await settle(rig.clients);
    still.type("told by the other ");
    // As through the browser's own channel between tabs.
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

describe("questions and answers", () => {
  it("[RT15] a writer is asked when it joins and at most every 250 ms after it wrote; a refused one no more", async () => {
    rig = createRealtimeRig();
    const ada = await rig.join("ada");
    await settle(rig.clients);
    expect(ada.questions).toBe(1);
    await rig.time.advance(300);
    for (let times = 0; times < 10; times += 1) {
      ada.type("x");
      await settle(rig.clients);
    }
    expect(ada.questions).toBe(2);
    await rig.time.advance(250);
    await settle(rig.clients);
    expect(ada.questions).toBe(3);
    await rig.time.advance(2000);
    await settle(rig.clients);
    expect(ada.questions).toBe(3);
    ada.document.getText("research.md").insert(0, "x", { bold: true });
    await settle(rig.clients);
    await rig.time.advance(2000);
    ada.type("y");
    await settle(rig.clients);
    expect(ada.denied.length).toBeGreaterThan(0);
    expect(ada.questions).toBe(3);
  });

  it("[RT15] a frame that was lost on the way is found by the server's question", async () => {
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

  it("[RT15] once the state vector has 4 KiB nobody is asked after writing, but still at joining", async () => {
    rig = createRealtimeRig();
    const sections = Array.from({ length: 1000 }, (_, at) => ({ clientId: 2 ** 31 + at, clock: 0, structs: [struct.text("x")] }));
    await rig.rooms.applyUpdate(articleId, api, rawUpdate(sections));
    const ada = await rig.join("ada");
    await settle(rig.clients);
    await rig.time.advance(1000);
    ada.type("y");
    await settle(rig.clients);
    await rig.time.advance(1000);
    await settle(rig.clients);
    expect(ada.questions).toBe(1);
  });

  it("[RT15] what a client repeats in its answers is not stored again", async () => {
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
    // Its whole state, with a deletion that is just being written.
    ada.send(updateFrame(Y.encodeStateAsUpdate(ada.document), 1));
    ada.deliver();
    await turns();
    await rig.log.release();
    await settle(rig.clients);
    expect(rig.log.batches(articleId)).toHaveLength(2);
  });

  it("[RT16] a client that asked is told the stored revision of what it wrote, also when it was stored before", async () => {
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

  it("[RT18] answers to sync-step-1 wait for their rate, and several are answered by one", async () => {
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

  it("[RT18] answers wait for their bytes and for a client that has not taken the last one", async () => {
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

describe("sockets", () => {
  it("[RT11] a malformed frame closes its own socket with 4400", async () => {
    rig = createRealtimeRig();
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
    ada.connection?.receive(new Uint8Array([9, 9, 9]));
    expect(ada.peer.closed?.code).toBe(4400);
    expect(bob.peer.closed).toBeUndefined();
    expect(rig.rooms.stats().connections).toBe(1);
  });

  it("[RT17] a reader that falls behind by more than socket.buffer is closed with 1013 and resyncs whole", async () => {
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

  it("[RT26] an idle client hears something at least every 20 s", async () => {
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

  it("[RT18] more frames or bytes than a socket may send close it with 4429", async () => {
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

  it("[RT18] a writer that fills the queue of a document is closed with 1013; the others go on", async () => {
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
