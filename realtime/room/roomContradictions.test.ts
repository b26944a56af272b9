/** Updates that no editor makes: clocks that do not exist yet, and two versions of one clock. They must not affect others. */
import { afterEach, describe, expect, it } from "vitest";
import * as Y from "yjs";
import { rawUpdate, struct, updateFrame } from "../../test/support/hostileFrames.ts";
import { articleId, createRealtimeRig } from "../../test/support/realtimeRig.ts";
import { settle } from "../../test/support/socketPair.ts";

let rig: ReturnType<typeof createRealtimeRig>;
afterEach(() => rig.close());

const api = { username: "api", kind: "key" } as const;
const prepend = (text: string) => rig.rooms.edit(articleId, api, undefined, (document) => document.getText("content.md").insert(0, text));
const serverId = () => rig.rooms.read(articleId, (document) => document.clientID);

/** Text of the log when its updates are applied one after another, as after a crash. */
function replayed(): string {
  const document = new Y.Doc();
  for (const { updates } of rig.log.batches(articleId)) for (const { update } of updates) Y.applyUpdate(document, update);
  return document.getText("content.md").toString();
}

/** Disconnects all clients, lets the document be saved and closed, and loads it from its snapshot. */
async function reloaded(): Promise<string> {
  for (const client of rig.clients) client.disconnect();
  await rig.time.advance(61_000);
  expect(rig.rooms.stats().rooms).toBe(0);
  return rig.liveText();
}

describe("contradictory updates", () => {
  it("[RT8] text that continues a GC run cannot make the article impossible to open", async () => {
    rig = createRealtimeRig();
    const [ada, mal] = [await rig.join("ada"), await rig.join("mal")];
    ada.type("kept");
    await settle(rig.clients);
    for (const one of [struct.gc(1), struct.text("ab")]) {
      mal.send(updateFrame(rawUpdate([{ clientId: 7, clock: 0, structs: [one] }])));
      await settle(rig.clients);
    }
    ada.type("!");
    await settle(rig.clients);
    expect(ada.peer.closed).toBeUndefined();
    const { text } = ada;
    expect(text).toContain("kept!");
    expect(await reloaded()).toBe(text);
  });

  it("[RT12] a client cannot write or delete clocks that the server has not used yet", async () => {
    rig = createRealtimeRig();
    const ada = await rig.join("ada");
    await prepend("one ");
    const clientId = await serverId();
    const attacks = [
      rawUpdate([{ clientId, clock: 8, structs: [struct.text("stolen")] }]),
      rawUpdate([], [{ clientId, ranges: [[4, 100]] }]),
      rawUpdate([{ clientId: 7, clock: 0, structs: [struct.after("beside", clientId, 4)] }]),
    ];
    for (const [at, attack] of attacks.entries()) {
      const other = await rig.join(`mal${at}`);
      for (const step of [2, 1]) other.send(updateFrame(attack, step));
      await settle(rig.clients);
      expect(other.denied).toHaveLength(2);
    }
    for (const text of ["two ", "six "]) await prepend(text);
    ada.type("end");
    await settle(rig.clients);
    expect(await rig.liveText()).toBe("six two one end");
    expect(ada.text).toBe("six two one end");
    expect(replayed()).toBe("six two one end");
  });

  it("[RT1] [RT21] a pending second version of a clock does not replace the first one in the snapshot", async () => {
    rig = createRealtimeRig();
    const [ada, mal] = [await rig.join("ada"), await rig.join("mal")];
    const waits = rawUpdate([{ clientId: 5, clock: 0, structs: [struct.after("E", 4_000_000_000, 0)] }]);
    const stands = rawUpdate([
      { clientId: 6, clock: 1, structs: [struct.deleted(1)] },
      { clientId: 5, clock: 0, structs: [struct.text("E")] },
    ]);
    for (const update of [waits, stands]) {
      mal.send(updateFrame(update, 1));
      await settle(rig.clients);
    }
    await prepend("acknowledged ");
    await settle(rig.clients);
    expect(ada.text).toBe("acknowledged E");
    expect(replayed()).toBe("acknowledged E");
    expect(await reloaded()).toBe("acknowledged E");
  });

  it("[RT1] a pending update that begins at a known clock is not shown, also after a reload", async () => {
    rig = createRealtimeRig();
    const [ada, mal] = [await rig.join("ada"), await rig.join("mal")];
    const first = rawUpdate([{ clientId: 5, clock: 0, structs: [struct.text("E")] }]);
    const waits = rawUpdate([{ clientId: 5, clock: 0, structs: [struct.after("EV", 4_000_000_000, 0)] }]);
    for (const update of [waits, first]) {
      mal.send(updateFrame(update));
      await settle(rig.clients);
    }
    await prepend("X");
    await settle(rig.clients);
    expect(await rig.liveText()).toBe("XE");
    expect(ada.text).toBe("XE");
    const late = await rig.join("eve");
    await settle(rig.clients);
    expect(late.text).toBe("XE");
    expect(await reloaded()).toBe("XE");
  });

  it("[RT108] the new part of an update continues the known text, whatever its known part builds on", async () => {
    rig = createRealtimeRig();
    const [ada, mal] = [await rig.join("ada"), await rig.join("mal")];
    const first = rawUpdate([{ clientId: 5, clock: 0, structs: [struct.text("E")] }]);
    const repeats = rawUpdate([{ clientId: 5, clock: 0, structs: [struct.after("FV", 4_000_000_000, 0)] }]);
    for (const update of [first, repeats]) {
      mal.send(updateFrame(update));
      await settle(rig.clients);
    }
    expect(ada.text).toBe("EV");
    expect(await rig.liveText()).toBe("EV");
    expect(replayed()).toBe("EV");
    expect(await reloaded()).toBe("EV");
  });

  it("[RT1] the log keeps a batch in the order in which the room applied it", async () => {
    rig = createRealtimeRig();
    const [mal, ada] = [await rig.join("mal"), await rig.join("ada")];
    await settle(rig.clients);
    const answer = (text: string) => updateFrame(rawUpdate([{ clientId: 5, clock: 0, structs: [struct.text(text)] }]), 1);
    mal.connection?.receive(updateFrame(rawUpdate([{ clientId: 8, clock: 0, structs: [struct.text("m")] }]), 1));
    ada.connection?.receive(answer("a"));
    mal.connection?.receive(answer("bb"));
    await settle(rig.clients);
    expect(await rig.liveText()).toBe(replayed());
    expect(await rig.liveText()).toContain("b");
  });
});
