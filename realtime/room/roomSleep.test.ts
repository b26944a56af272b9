/** Rooms that are quiet, and the use that wakes them. */
import { afterEach, describe, expect, it, vi } from "vitest";
import * as Y from "yjs";
import { rawUpdate, struct, updateFrame } from "../../test/support/hostileFrames.ts";
import { articleId, createRealtimeRig } from "../../test/support/realtimeRig.ts";
import { type PairedClient, settle, turns } from "../../test/support/socketPair.ts";

let rig: ReturnType<typeof createRealtimeRig>;
afterEach(() => {
  rig.close();
  vi.restoreAllMocks();
});

const api = { username: "api", kind: "key" } as const;
const quietMs = 8000;

function typeEach(client: PairedClient, count: number): void {
  for (let at = 0; at < count; at += 1) client.type("x");
}

/** Two clients in a room that sleeps, and how often the log was loaded so far. */
async function sleeping() {
  rig = createRealtimeRig();
  const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
  ada.type("before ");
  await settle(rig.clients);
  await rig.time.advance(quietMs);
  await settle(rig.clients);
  await rig.time.advance(quietMs);
  return { ada, bob, loads: rig.log.loads };
}

describe("rooms that sleep", () => {
  it("[RT82] an update wakes the room and reaches the others, and its writer is answered after it is durable", async () => {
    const { ada, bob, loads } = await sleeping();
    ada.type("after");
    ada.ask();
    const { answers } = ada;
    await settle(rig.clients);
    expect(rig.log.loads).toBe(loads + 1);
    expect(bob.text).toBe("before after");
    expect(ada.answers).toBe(answers + 1);
    expect(ada.peer.closed).toBeUndefined();
  });

  it("[RT82] frames that arrive while the room wakes are handled in order, of several sockets", async () => {
    const { ada, bob, loads } = await sleeping();
    const { load } = rig.log;
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    rig.log.load = async (id) => {
      await held;
      return load(id);
    };
    for (const word of ["one ", "two ", "three"]) ada.type(word);
    ada.deliver();
    bob.type("(bob) ", 0);
    bob.deliver();
    const edited = rig.rooms.edit(articleId, api, undefined, (document) => document.getText("outline.md").insert(0, "edit"));
    await turns();
    expect(rig.log.batches(articleId)).toHaveLength(1);
    release();
    await edited;
    await settle(rig.clients);
    expect(bob.text).toBe("(bob) before one two three");
    expect(ada.text).toBe(bob.text);
    expect(bob.document.getText("outline.md").toString()).toBe("edit");
    expect(rig.log.loads).toBe(loads + 1);
  });

  it("[RT82] what another node writes reaches the members of a room that sleeps", async () => {
    rig = createRealtimeRig({ nodes: 2 });
    const reader = await rig.join("ada", { node: 0, mayWrite: false });
    await settle(rig.clients);
    await rig.time.advance(2 * quietMs);
    const writer = await rig.join("bob", { node: 1 });
    writer.type("from the other node");
    await settle(rig.clients);
    await rig.time.advance(1000);
    await settle(rig.clients);
    expect(reader.text).toBe("from the other node");
  });

  it("[RT82][RT41] a read that begins while a room wakes shows what another node had stored before", async () => {
    rig = createRealtimeRig({ nodes: 2 });
    const ada = await rig.join("ada", { node: 0 });
    ada.type("one ");
    await settle(rig.clients);
    await rig.time.advance(2 * quietMs);
    const [first, second] = rig.nodes;
    if (first === undefined || second === undefined) throw new Error("the rig has two nodes");
    const { load } = first.log;
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    first.log.load = async (id: string) => {
      const loaded = await load(id);
      await held;
      return loaded;
    };
    ada.ask();
    ada.deliver();
    await turns();
    await second.rooms.edit(articleId, api, undefined, (document) => document.getText("content.md").insert(0, "two "));
    const reading = first.rooms.read(articleId, (document) => document.getText("content.md").toString());
    await turns();
    release();
    expect(await reading).toBe("two one ");
  });

  it.each([
    ["as soon as another node stores text and a snapshot", false],
    ["after it missed the message that another node stored text and a snapshot", true],
  ])("[RT82] a room that sleeps keeps its sockets and sends everything, %s", async (_case, isSilent) => {
    rig = createRealtimeRig({ nodes: 2 });
    const ada = await rig.join("ada", { node: 0 });
    ada.type("one ");
    await settle(rig.clients);
    await rig.time.advance(2 * quietMs);
    const bob = await rig.join("bob", { node: 1 });
    await settle([bob]);
    rig.silenceBus(isSilent);
    bob.type("x".repeat(600_000));
    bob.type("y".repeat(600_000));
    bob.deliver();
    await turns();
    await settle(rig.clients);
    await rig.time.advance(1000);
    await settle(rig.clients);
    await turns();
    expect(ada.peer.closed).toBeUndefined();
    expect(ada.text).toBe(bob.text);
    expect(ada.text).toHaveLength(1_200_004);
  });

  it("[RT82] a log that cannot be read closes the sockets with 1013, and they can come back", async () => {
    const { ada, bob } = await sleeping();
    const { load } = rig.log;
    rig.log.load = () => Promise.reject(new Error("the store is gone"));
    ada.type("after");
    ada.deliver();
    await turns();
    expect([ada.peer.closed?.code, bob.peer.closed?.code]).toEqual([1013, 1013]);
    rig.log.load = load;
    for (const client of [ada, bob]) await client.connect();
    await settle(rig.clients);
    expect(bob.text).toBe("before after");
  });

  it("[RT82] an update that builds on a refused one is refused also after a quiet time", async () => {
    rig = createRealtimeRig();
    const mal = await rig.join("mal");
    await settle(rig.clients);
    mal.send(updateFrame(rawUpdate([{ clientId: 7, clock: 0, structs: [struct.gc(5)] }])));
    await settle(rig.clients);
    await rig.time.advance(60_000);
    const request = rawUpdate([{ clientId: 7, clock: 5, structs: [struct.after("x", 7, 4)] }]);
    await expect(rig.rooms.applyUpdate(articleId, api, request)).rejects.toMatchObject({ code: "content_not_accepted" });
  });

  it("[RT82] the clients of a room that sleeps are kept alive, and shutdown does not wake it", async () => {
    const { ada, loads } = await sleeping();
    for (const client of rig.clients) client.peer.toClient.splice(0);
    await rig.time.advance(20_000);
    expect(ada.peer.toClient.length).toBeGreaterThan(0);
    await rig.rooms.drain();
    expect(ada.peer.closed?.code).toBe(1012);
    expect(rig.log.loads).toBe(loads);
  });
});

describe("documents that are kept as bytes", () => {
  /** A document with a stored state and a few updates after it, opened by nobody. */
  async function stored(): Promise<string> {
    rig = createRealtimeRig();
    const ada = await rig.join("ada");
    typeEach(ada, 64);
    await settle(rig.clients);
    await rig.time.advance(4000);
    expect(rig.log.state(articleId)?.stateVector).toBeDefined();
    ada.type("tail");
    await settle(rig.clients);
    ada.disconnect();
    await rig.time.advance(60_000);
    expect(rig.rooms.stats().rooms).toBe(0);
    return ada.text;
  }

  it("[RT83] a new client gets state and tail, and plain typing reaches it, without a Y.Doc", async () => {
    const text = await stored();
    const applied = vi.spyOn(Y.Doc.prototype, "transact");
    const bob = await rig.join("bob", { mayWrite: false });
    const loaded = rig.log.loads;
    bob.deliver();
    await turns();
    expect(applied).not.toHaveBeenCalled();
    applied.mockRestore();
    await settle([bob]);
    expect(bob.text).toBe(text);
    const cyd = await rig.join("cyd");
    cyd.type("!");
    await settle(rig.clients);
    expect(bob.text).toBe(cyd.text);
    expect(rig.log.loads).toBe(loaded);
  });

  it("[RT83] text that waits for missing text is in no answer, also when it is in the stored state", async () => {
    rig = createRealtimeRig();
    const waits = rawUpdate([{ clientId: 9, clock: 5, structs: [struct.text("waits")] }]);
    await rig.rooms.applyUpdate(articleId, api, waits);
    for (let at = 0; at < 64; at += 1)
      await rig.rooms.edit(articleId, api, undefined, (document) => document.getText("content.md").insert(0, "x"));
    await rig.time.advance(60_000);
    expect(rig.rooms.stats().rooms).toBe(0);
    expect(rig.log.state(articleId)).toBeDefined();
    expect(rig.log.state(articleId)?.stateVector).toBeUndefined();
    const bob = await rig.join("bob");
    await settle([bob]);
    expect(bob.text).toBe("x".repeat(64));
    expect(bob.document.store.pendingStructs).toBeNull();
  });

  it("[RT83] text that waits in the log after the stored state is in no answer", async () => {
    await stored();
    const waits = rawUpdate([{ clientId: 9, clock: 5, structs: [struct.text("waits")] }]);
    await rig.rooms.applyUpdate(articleId, api, waits);
    await rig.time.advance(60_000);
    expect(rig.rooms.stats().rooms).toBe(0);
    const bob = await rig.join("bob");
    await settle([bob]);
    expect(bob.document.store.pendingStructs).toBeNull();
  });
});
