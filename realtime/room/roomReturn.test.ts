/** Clients that come back with what they wrote while they were away, and do not stop typing. */
import * as decoding from "lib0/decoding";
import { afterEach, describe, expect, it } from "vitest";
import * as Y from "yjs";
import { articleId, createRealtimeRig } from "../../test/support/realtimeRig.ts";
import { type PairedClient, settle, turns } from "../../test/support/socketPair.ts";

let rig: ReturnType<typeof createRealtimeRig>;
afterEach(() => rig.close());

const api = { username: "api", kind: "key" } as const;

/** The state vectors of the questions among the frames that wait for a client. */
function waitingQuestions({ peer }: PairedClient): Map<number, number>[] {
  return peer.toClient.flatMap((frame) => {
    const decoder = decoding.createDecoder(frame);
    const isQuestion = decoding.readVarUint(decoder) === 0 && decoding.readVarUint(decoder) === 0;
    return isQuestion ? [Y.decodeStateVector(decoding.readVarUint8Array(decoder))] : [];
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

describe("a writer who comes back", () => {
  it("[RT42] loses nothing of what it types before it has said what it wrote while away, however much that is", async () => {
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

  it("[RT42] [RT3] is told that all is safe only when what was left to its answer is", async () => {
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
    // The answer to the question it opened with, and none to those that came since.
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

  it("[RT42] is told that all is safe after an answer that was refused, as after any refusal", async () => {
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

  it("[RT42] who may not write any more is denied its answer, and goes on reading", async () => {
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

  it("[RT42] who has said what it had is refused when it goes on building on what never came", async () => {
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

  it("[RT42] who may write again has not yet said what was denied to it", async () => {
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

  it("[RT42] is asked at once while a batch is being written, for what is durable and nothing else", async () => {
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
    expect(waitingQuestions(ada)).toEqual([new Map([[bob.document.clientID, 7]])]);
    // Its answer is on the way before the batch is written, and nothing it types then is too much.
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

  it("[RT42] [RT2] is not asked while an edit of the server shows and is not written", async () => {
    rig = createRealtimeRig();
    await rig.join("bob");
    await settle(rig.clients);
    rig.log.hold();
    const edited = rig.rooms.edit(articleId, api, 77, (document) => document.getText("content.md").insert(0, "by request"));
    await turns();
    const ada = await rig.join("ada");
    await turns();
    expect(waitingQuestions(ada)).toEqual([]);
    await rig.log.release();
    await edited;
    await turns();
    expect(waitingQuestions(ada)).toEqual([new Map([[77, 10]])]);
  });

  it("[RT42] comes again when it is refused before it could be asked for what was left", async () => {
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
