/** What is durable, who hears what, and what becomes of edits when the store fails. */
import * as decoding from "lib0/decoding";
import { afterEach, describe, expect, it } from "vitest";
import * as Y from "yjs";
import { AppError } from "../../api/schema/error.ts";
import { rawUpdate, struct, updateOf } from "../../test/support/hostileFrames.ts";
import { articleId, createRealtimeRig } from "../../test/support/realtimeRig.ts";
import { settle, turns } from "../../test/support/socketPair.ts";

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
    expect([bob.answers, cyd.answers]).toEqual([1, 0]);

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
    const stolen = rawUpdate([{ clientId: ada.document.clientID, clock: 1, structs: [struct.deleted(5)] }]);
    await expect(rig.rooms.applyUpdate(articleId, api, stolen)).rejects.toMatchObject({ code: "content_not_accepted" });
  });
});
