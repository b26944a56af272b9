/** Clients that reconnect with offline work and keep typing. */
import * as decoding from "lib0/decoding";
import { afterEach, describe, expect, it } from "vitest";
import * as Y from "yjs";
import { articleId, createRealtimeRig } from "../../test/support/realtimeRig.ts";
import { type PairedClient, settle, turns } from "../../test/support/socketPair.ts";

let rig: ReturnType<typeof createRealtimeRig>;
afterEach(() => rig.close());

const api = { username: "api", kind: "key" } as const;

/** The state vectors of the sync steps 1 among the frames that a client has not taken yet. */
function waitingSyncSteps({ peer }: PairedClient): Map<number, number>[] {
  return peer.toClient.flatMap((frame) => {
    const decoder = decoding.createDecoder(frame);
    const isSyncStep1 = decoding.readVarUint(decoder) === 0 && decoding.readVarUint(decoder) === 0;
    return isSyncStep1 ? [Y.decodeStateVector(decoding.readVarUint8Array(decoder))] : [];
  });
}

/** Each letter is an update of its own. */
function typeLetters(client: PairedClient, count: number): void {
  for (let letter = 0; letter < count; letter += 1) client.type("x");
}

async function joinAndLeave(): Promise<PairedClient> {
  const ada = await rig.join("ada");
  await settle(rig.clients);
  ada.disconnect();
  return ada;
}

describe("a writer that reconnects", () => {
  it("[RT42] loses no text that it types before it has sent its offline work, of any size", async () => {
    rig = createRealtimeRig({ limits: { "document.pending": 10 * 1024 } });
    const ada = await joinAndLeave();
    ada.type("while away ".repeat(2000));
    await ada.connect();
    typeLetters(ada, 50);
    ada.deliver();
    await settle(rig.clients);
    expect([ada.denied, ada.peer.closed]).toEqual([[], undefined]);
    expect(await rig.liveText()).toBe(`${"while away ".repeat(2000)}${"x".repeat(50)}`);
    typeLetters(ada, 50);
    await settle(rig.clients);
    expect(await rig.liveText()).toBe(ada.text);
  });

  it("[RT42] [RT3] gets no acknowledgement before its deferred updates are durable", async () => {
    rig = createRealtimeRig({ limits: { "document.pending": 10 * 1024 } });
    const ada = await joinAndLeave();
    ada.type("while away");
    await ada.connect();
    typeLetters(ada, 50);
    const before = ada.answers;
    ada.deliver();
    await turns();
    ada.ask();
    ada.ask();
    ada.deliver();
    await turns();
    // The sync step 1 of the connect is answered, the later ones are not.
    ada.take();
    expect(ada.answers).toBe(before + 1);
    rig.log.hold();
    ada.deliver();
    await turns();
    ada.take();
    expect(ada.answers).toBe(before + 1);
    await rig.log.release();
    ada.take();
    expect(ada.answers).toBe(before + 2);
    expect(await rig.liveText()).toBe(ada.text);
  });

  it("[RT42] gets its sync answers after its own sync step 2 was refused", async () => {
    rig = createRealtimeRig({ limits: { "document.pending": 10 * 1024, "frame.bytes": 1000 } });
    const ada = await joinAndLeave();
    ada.type("while away ".repeat(200));
    await ada.connect();
    typeLetters(ada, 50);
    ada.ask();
    await settle(rig.clients);
    expect(ada.denied).toHaveLength(1);
    expect(ada.answers).toBe(3);
  });

  it("[RT42] that lost write access is denied its sync step 2 and continues to read", async () => {
    rig = createRealtimeRig({ limits: { "document.pending": 10 * 1024 } });
    const ada = await joinAndLeave();
    ada.type("while away");
    await ada.connect();
    typeLetters(ada, 11);
    ada.ask();
    ada.deliver();
    await turns();
    ada.connection?.update({ ...ada.identity, mayWrite: false });
    await settle(rig.clients);
    expect(ada.denied).toHaveLength(1);
    expect(ada.answers).toBe(3);
  });

  it("[RT42] that has answered sync step 1 is refused when it builds on text that it never sent", async () => {
    rig = createRealtimeRig({ limits: { "document.pending": 10 * 1024 } });
    const ada = await rig.join("ada");
    await settle(rig.clients);
    ada.type("never sent");
    ada.toServer = [];
    typeLetters(ada, 11);
    ada.deliver();
    ada.take();
    expect(ada.denied).toHaveLength(1);
    expect(ada.peer.closed).toBeUndefined();
  });

  it("[RT42] that may write again can still defer updates, because its earlier ones were denied", async () => {
    rig = createRealtimeRig({ limits: { "document.pending": 10 * 1024 } });
    const ada = await rig.join("ada");
    await settle(rig.clients);
    ada.connection?.update({ ...ada.identity, mayWrite: false });
    ada.type("denied");
    ada.deliver();
    ada.take();
    const denials = ada.denied.length;
    ada.connection?.update(ada.identity);
    typeLetters(ada, 11);
    ada.deliver();
    await settle(rig.clients);
    expect(ada.denied).toHaveLength(denials);
    expect(await rig.liveText()).toBe(`denied${"x".repeat(11)}`);
  });

  it("[RT42] gets sync step 1 at once during a write, with the durable state vector", async () => {
    rig = createRealtimeRig({ limits: { "document.pending": 10 * 1024 } });
    const bob = await rig.join("bob");
    bob.type("durable");
    await settle(rig.clients);
    const ada = await joinAndLeave();
    ada.type("while away");
    rig.log.hold();
    bob.type(" not yet");
    bob.deliver();
    await turns();
    await ada.connect();
    expect(waitingSyncSteps(ada)).toEqual([new Map([[bob.document.clientID, 7]])]);
    // The sync step 2 is sent before the batch is written, so all text typed after it is accepted.
    ada.take();
    typeLetters(ada, 50);
    ada.deliver();
    expect(ada.peer.closed).toBeUndefined();
    await rig.log.release();
    await settle(rig.clients);
    const text = await rig.liveText();
    expect([...text].sort().join("")).toBe([...`durable not yetwhile away${"x".repeat(50)}`].sort().join(""));
    expect([ada.text, bob.text]).toEqual([text, text]);
  });

  it("[RT42] [RT2] gets no sync step 1 while the document shows an edit that is not written", async () => {
    rig = createRealtimeRig();
    await rig.join("bob");
    await settle(rig.clients);
    rig.log.hold();
    const edited = rig.rooms.edit(articleId, api, 77, (document) => document.getText("content.md").insert(0, "by request"));
    await turns();
    const ada = await rig.join("ada");
    await turns();
    expect(waitingSyncSteps(ada)).toEqual([]);
    await rig.log.release();
    await edited;
    await turns();
    expect(waitingSyncSteps(ada)).toEqual([new Map([[77, 10]])]);
  });

  it("[RT42] is closed with 1013 when it is refused before it could be asked for deferred updates", async () => {
    rig = createRealtimeRig({ limits: { "document.pending": 10 * 1024 } });
    const ada = await joinAndLeave();
    ada.type("while away");
    await settle([await rig.join("bob")]);
    rig.log.hold();
    const edited = rig.rooms.edit(articleId, api, 77, (document) => document.getText("content.md").insert(0, "by request "));
    await turns();
    await ada.connect();
    typeLetters(ada, 11);
    ada.document.getText("research.md").insert(0, "bold", { bold: true });
    ada.deliver();
    expect(ada.peer.closed?.code).toBe(1013);
    await rig.log.release();
    await edited;
  });
});
