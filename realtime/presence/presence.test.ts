/** Presence over queued sockets: which client may publish which state. */
import * as encoding from "lib0/encoding";
import { afterEach, describe, expect, it } from "vitest";
import { applyAwarenessUpdate, encodeAwarenessUpdate } from "y-protocols/awareness";
import { defaultLimits } from "../../api/limits.ts";
import { createManualTime } from "../../test/support/manualTime.ts";
import { articleId, createRealtimeRig } from "../../test/support/realtimeRig.ts";
import { type PairedClient, settle, writerIdentity } from "../../test/support/socketPair.ts";
import { Presence, type PresenceRoom } from "./presence.ts";

let rig: ReturnType<typeof createRealtimeRig>;
afterEach(() => rig.close());

interface ShownUser {
  readonly name: string;
  readonly username: string;
  readonly kind: string;
  readonly color: string;
}

/** State that `reader` shows for the client id of `of`. */
function seen(reader: PairedClient, of: PairedClient): { user?: ShownUser; cursor?: unknown } | undefined {
  return reader.awareness.getStates().get(of.document.clientID);
}

function presenceFrame(entries: readonly { clientId: number; clock: number; json: string }[]): Uint8Array {
  const payload = encoding.encode((encoder) => {
    encoding.writeVarUint(encoder, entries.length);
    for (const { clientId, clock, json } of entries) {
      encoding.writeVarUint(encoder, clientId);
      encoding.writeVarUint(encoder, clock);
      encoding.writeVarString(encoder, json);
    }
  });
  return encoding.encode((encoder) => {
    encoding.writeVarUint(encoder, 1);
    encoding.writeVarUint8Array(encoder, payload);
  });
}

/** Delivers all frames, and lets gathered presence be sent. */
async function calm(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await settle(rig.clients);
    await rig.time.advance(40);
  }
  await settle(rig.clients);
}

describe("presence", () => {
  it("[RT19] members are shown with the name of their credential, not the name that the client sends", async () => {
    rig = createRealtimeRig();
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
    bob.awareness.setLocalState({ user: { name: "ada", color: "red", username: "ada" }, cursor: { at: 3 } });
    await calm();
    expect(seen(ada, bob)?.cursor).toEqual({ at: 3 });
    expect(seen(ada, bob)?.user).toMatchObject({ name: "bob", username: "bob", kind: "user" });
    expect(seen(ada, bob)?.user?.color).toMatch(/^#[0-9a-f]{6}$/);
    expect(seen(bob, ada)?.user?.username).toBe("ada");
    const cyd = await rig.join("cyd");
    await calm();
    expect(seen(cyd, ada)?.user?.color).toBe(seen(bob, ada)?.user?.color);
    expect(rig.rooms.presence(articleId)).toMatchObject([
      { username: "ada", kind: "user", mode: "write" },
      { username: "bob", mode: "write" },
      { username: "cyd", mode: "write" },
    ]);
  });

  it("[RT45] a client's own fields of user are kept, except the server's fields and values not an object", async () => {
    rig = createRealtimeRig();
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
    await calm();
    const server = { name: "bob", username: "bob", kind: "user", color: seen(ada, bob)?.user?.color, colorLight: expect.any(String) };
    for (const [user, kept] of [
      [
        { role: "editor", avatar: { url: "x" }, name: "ada", username: "ada", kind: "agent", color: "red", colorLight: "red" },
        { role: "editor", avatar: { url: "x" } },
      ],
      ["ada", {}],
      [["ada"], {}],
      [null, {}],
    ] as const) {
      bob.awareness.setLocalState({ user });
      await calm();
      expect(seen(ada, bob)?.user).toEqual({ ...kept, ...server });
    }
  });

  it("[RT19] a socket cannot publish under a client id that another one introduced, at any clock", async () => {
    rig = createRealtimeRig();
    const [ada, bob, mal] = [await rig.join("ada"), await rig.join("bob"), await rig.join("mal")];
    bob.awareness.setLocalStateField("cursor", 1);
    await calm();
    const clientId = bob.document.clientID;
    for (const clock of [5, 2 ** 31, 2 ** 32, 2 ** 53 - 1]) {
      mal.send(presenceFrame([{ clientId, clock, json: '{"cursor":"stolen"}' }]));
      mal.send(presenceFrame([{ clientId, clock, json: "null" }]));
    }
    await calm();
    expect(seen(ada, bob)).toMatchObject({ cursor: 1, user: { username: "bob" } });
    bob.awareness.setLocalStateField("cursor", 2);
    await calm();
    expect(seen(ada, bob)?.cursor).toBe(2);
    expect(mal.peer.closed).toBeUndefined();
  });

  it("[RT19] the highest clock from one socket does not block the next owner of the client id", async () => {
    rig = createRealtimeRig();
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
    await calm();
    bob.disconnect();
    const mal = await rig.join("mal");
    mal.send(presenceFrame([{ clientId: bob.document.clientID, clock: 2 ** 32 - 1, json: '{"cursor":"ghost"}' }]));
    await calm();
    expect(seen(ada, bob)?.user?.username).toBe("mal");
    mal.disconnect();
    await bob.connect();
    await calm();
    expect(seen(ada, bob)?.user?.username).toBe("bob");
  });

  it("[RT19] the echo of a stock client neither restores a removed state nor is relayed", async () => {
    rig = createRealtimeRig();
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
    await calm();
    bob.awareness.setLocalStateField("cursor", 1);
    bob.deliver();
    await rig.time.advance(40);
    ada.take();
    expect(ada.toServer.length).toBeGreaterThan(0);
    bob.disconnect();
    await calm();
    expect(seen(ada, bob)).toBeUndefined();
    const cyd = await rig.join("cyd");
    await calm();
    expect(seen(cyd, bob)).toBeUndefined();
  });

  it("[RT19] a client that reconnects takes over its client id from its own dead socket", async () => {
    rig = createRealtimeRig();
    const ada = await rig.join("ada");
    const bob = await rig.join("bob");
    await calm();
    const halfOpen = bob.connection;
    await bob.connect();
    await calm();
    bob.awareness.setLocalStateField("cursor", "back");
    bob.type("after the reconnect");
    await calm();
    expect(seen(ada, bob)?.cursor).toBe("back");
    expect(ada.text).toBe("after the reconnect");
    halfOpen?.closed();
    await calm();
    expect(seen(ada, bob)?.cursor).toBe("back");
  });

  it("[RT19] a client that got its own state from another tab is still shown after a reconnect", async () => {
    rig = createRealtimeRig();
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
    await calm();
    const clientId = bob.document.clientID;
    const heard = encoding.encode((encoder) => {
      encoding.writeVarUint(encoder, 1);
      encoding.writeVarUint(encoder, clientId);
      encoding.writeVarUint(encoder, ada.awareness.meta.get(clientId)?.clock ?? 0);
      encoding.writeVarString(encoder, JSON.stringify(seen(ada, bob)));
    });
    applyAwarenessUpdate(bob.awareness, heard, "another tab");
    bob.awareness.setLocalStateField("cursor", 1);
    await calm();
    expect(seen(ada, bob)?.cursor).toBe(1);
    bob.disconnect();
    await calm();
    expect(seen(ada, bob)).toBeUndefined();
    await bob.connect();
    await calm();
    expect(seen(ada, bob)).toMatchObject({ cursor: 1, user: { username: "bob" } });
  });

  it("[RT105] a state that comes back through another tab does not replace a newer one", async () => {
    rig = createRealtimeRig();
    const [ada, tab, bob] = [await rig.join("ada"), await rig.join("ada"), await rig.join("bob")];
    await calm();
    /** Passes on the state of `ada` as `tab` has it, as tabs of one browser do. */
    const relay = () => {
      const heard = encodeAwarenessUpdate(tab.awareness, [ada.document.clientID]);
      applyAwarenessUpdate(ada.awareness, heard, "another tab");
    };
    ada.awareness.setLocalStateField("cursor", 1);
    // The tab has an older state with a higher clock, which the server has set. A stock client takes it, and sends it.
    relay();
    expect(ada.awareness.getLocalState()?.cursor).toBeUndefined();
    await calm();
    expect(seen(bob, ada)?.cursor).toBe(1);
    // The newer state comes back with a higher clock, which repairs the client.
    relay();
    expect(ada.awareness.getLocalState()?.cursor).toBe(1);
    ada.awareness.setLocalStateField("cursor", 2);
    relay();
    await calm();
    expect(seen(bob, ada)?.cursor).toBe(2);
  });

  it("[RT19] a state is removed when its socket closes, or after 30 s without a renewal", async () => {
    rig = createRealtimeRig();
    const [ada, bob, cyd] = [await rig.join("ada"), await rig.join("bob"), await rig.join("cyd")];
    await calm();
    expect(seen(ada, bob)).toBeDefined();
    bob.connection?.closed();
    await calm();
    expect(seen(ada, bob)).toBeUndefined();
    await rig.time.advance(20_000);
    cyd.awareness.setLocalState(cyd.awareness.getLocalState());
    await calm();
    await rig.time.advance(15_000);
    await calm();
    expect(seen(ada, cyd)).toBeDefined();
    expect(seen(cyd, ada)).toBeUndefined();
    await rig.time.advance(20_000);
    await calm();
    expect(seen(ada, cyd)).toBeUndefined();
  });

  it("[RT19] too large states, too many client ids and too many frames are dropped; the newest is kept", async () => {
    rig = createRealtimeRig({ limits: { "awareness.rate": { count: 1, seconds: 1, burst: 2 }, "awareness.states": 3 } });
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
    await calm();
    for (let cursor = 0; cursor < 50; cursor += 1) bob.awareness.setLocalStateField("cursor", cursor);
    bob.deliver();
    await rig.time.advance(100);
    ada.take();
    expect(seen(ada, bob)?.cursor).toBe(0);
    await rig.time.advance(2000);
    ada.take();
    expect(seen(ada, bob)?.cursor).toBe(49);
    await rig.time.advance(5000);
    bob.awareness.setLocalStateField("cursor", "x".repeat(5000));
    await calm();
    expect(seen(ada, bob)?.cursor).toBe(49);
    await rig.time.advance(5000);
    const many = Array.from({ length: 10 }, (_, at) => ({ clientId: 100 + at, clock: 1, json: "{}" }));
    bob.send(presenceFrame(many));
    await calm();
    const introduced = many.filter(({ clientId }) => ada.awareness.getStates().has(clientId));
    expect(introduced).toHaveLength(2);
  });

  it("[RT112] a socket shows at most awareness.socket states, and may replace one of them", async () => {
    rig = createRealtimeRig({ limits: { "awareness.socket": 2 } });
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
    await calm();
    const publish = (clientIds: readonly number[], clock: number, json: string) =>
      bob.send(presenceFrame(clientIds.map((clientId) => ({ clientId, clock, json }))));
    const cursors = () => [101, 102].map((clientId) => ada.awareness.getStates().get(clientId)?.cursor);
    publish([101, 102], 1, '{"cursor":1}');
    await calm();
    expect(cursors()).toEqual([1, undefined]);
    publish([101], 2, "null");
    publish([102], 2, '{"cursor":2}');
    await calm();
    expect(cursors()).toEqual([undefined, 2]);
  });

  it("[RT112] a state of more than awareness.state bytes is not shown", async () => {
    rig = createRealtimeRig({ limits: { "awareness.state": 100 } });
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
    await calm();
    for (const [clientId, cursor] of [
      [101, "x".repeat(80)],
      [102, "x".repeat(120)],
      [103, "漢".repeat(50)],
    ] as const) {
      bob.send(presenceFrame([{ clientId, clock: 1, json: JSON.stringify({ cursor }) }]));
      await calm();
    }
    expect([101, 102, 103].map((clientId) => ada.awareness.getStates().has(clientId))).toEqual([true, false, false]);
  });

  it("[RT112] states above awareness.room are not shown; shown ones change, and their room is given back", async () => {
    rig = createRealtimeRig({ limits: { "awareness.room": 6 * 512 } });
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
    await calm();
    const publish = (client: PairedClient, clientIds: readonly number[], clock: number, state: object | null) =>
      client.send(presenceFrame(clientIds.map((clientId) => ({ clientId, clock, json: JSON.stringify(state) }))));
    const shown = () => [...ada.awareness.getStates().keys()].filter((clientId) => clientId > 100 && clientId < 120);
    publish(bob, [101, 102, 103, 104, 105, 106, 107], 1, { cursor: 1 });
    await calm();
    expect(shown()).toEqual([101, 102, 103, 104]);
    publish(bob, [101], 2, { cursor: "x".repeat(200) });
    publish(bob, [102], 2, { cursor: "x".repeat(600) });
    await calm();
    expect(ada.awareness.getStates().get(101)?.cursor).toHaveLength(200);
    expect(ada.awareness.getStates().get(102)?.cursor).toBe(1);
    publish(bob, [103, 104], 3, null);
    await calm();
    publish(bob, [102], 3, { cursor: "x".repeat(600) });
    await calm();
    expect(shown()).toEqual([101, 102]);
    expect(ada.awareness.getStates().get(102)?.cursor).toHaveLength(600);
    bob.disconnect();
    await calm();
    const cyd = await rig.join("cyd");
    await calm();
    publish(cyd, [111, 112, 113, 114, 115], 1, { cursor: 1 });
    await calm();
    expect(shown()).toEqual([111, 112, 113, 114]);
  });

  it("[RT19] a client that publishes no presence still sees the others", async () => {
    rig = createRealtimeRig();
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
    await calm();
    bob.disconnect();
    bob.awareness.setLocalState(null);
    await bob.connect();
    bob.toServer = bob.toServer.slice(0, 1);
    await calm();
    bob.awareness.getStates().delete(ada.document.clientID);
    await rig.time.advance(1000);
    await calm();
    ada.awareness.setLocalStateField("cursor", 1);
    await calm();
    expect(seen(bob, ada)?.cursor).toBe(1);
    expect(seen(ada, bob)).toBeUndefined();
  });

  it("[RT19] a presence query returns the others, and a changed name or mode is shown", async () => {
    rig = createRealtimeRig();
    const [ada, bob] = [await rig.join("ada"), await rig.join("bob")];
    await calm();
    ada.awareness.getStates().delete(bob.document.clientID);
    ada.awareness.meta.delete(bob.document.clientID);
    ada.send(new Uint8Array([3]));
    await calm();
    expect(seen(ada, bob)).toBeDefined();
    bob.connection?.update({ ...bob.identity, displayName: "Bob B.", mayWrite: false });
    await calm();
    expect(seen(ada, bob)?.user?.name).toBe("Bob B.");
    expect(rig.rooms.presence(articleId)[1]).toMatchObject({ username: "bob", mode: "read" });
  });

  it("[RT98] a presence without published states holds no store, and shows the first state that arrives", async () => {
    const time = createManualTime();
    const member = { identity: writerIdentity("ada"), joinedAtMs: time.now(), isSubscribed: false };
    const reader = { identity: writerIdentity("bob"), joinedAtMs: time.now(), isSubscribed: false };
    const members = new Set([member, reader]);
    const delivered: string[] = [];
    const room: PresenceRoom<typeof member> = {
      members,
      sendPresence: (entries, to) => void delivered.push(...to.flatMap(() => entries.map(({ json }) => json))),
      answerPresence: (entries) => void delivered.push(...entries.map(({ json }) => json)),
      broadcastPresence: () => {},
      membersChanged: () => {},
    };
    const presence = new Presence(room, { clock: time, limits: defaultLimits });
    const store = () => (presence as unknown as { readonly store: unknown }).store;
    for (let at = 0; at < members.size; at += 1) presence.join();
    for (const each of members) presence.subscribe(each);
    await time.advance(60_000);
    expect([store(), presence.list().length]).toEqual([undefined, 2]);
    presence.publish(member, [{ clientId: 7, clock: 1, json: new TextEncoder().encode('{"cursor":1}') }]);
    await time.advance(40);
    expect([store() === undefined, presence.ownerOf(7), delivered.length]).toEqual([false, member, 1]);
    members.delete(member);
    presence.leave(member);
    await time.advance(40);
    expect([store(), presence.ownerOf(7), delivered.at(-1)]).toEqual([undefined, undefined, "null"]);
    presence.stop();
  });
});
