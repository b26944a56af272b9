/** A hostile socket sends malformed frames of all kinds while honest clients write. */
import * as decoding from "lib0/decoding";
import { expect, it } from "vitest";
import * as Y from "yjs";
import { brokenFrames, cutUpdates, forbiddenUpdates, type HostileFrame, randomFrames, updateFrame } from "../support/hostileFrames.ts";
import { articleId, createRealtimeRig } from "../support/realtimeRig.ts";
import { PairedClient, settle, turns, writerIdentity } from "../support/socketPair.ts";

const seed = 20_261_121;

function hostileFrames(): HostileFrame[] {
  const updates = [...forbiddenUpdates(), ...cutUpdates()];
  return [
    ...brokenFrames(),
    ...updates.map(({ name, bytes }) => ({ name: `an update with ${name}`, bytes: updateFrame(bytes) })),
    ...updates.map(({ name, bytes }) => ({ name: `an answer with ${name}`, bytes: updateFrame(bytes, 1) })),
    ...randomFrames(300, seed),
    { name: "an update over frame.update", bytes: updateFrame(new Uint8Array(1024 * 1024 + 1)) },
    { name: "an answer over frame.update that nobody asked for", bytes: updateFrame(new Uint8Array(1024 * 1024 + 1), 1) },
  ];
}

/** True for random bytes that happen to be a valid and harmless frame. */
function isHarmless(bytes: Uint8Array): boolean {
  if (bytes.length === 1 && bytes[0] === 3) return true;
  return bytes.length === 4 && bytes[0] === 0 && bytes[2] === 2 && bytes[3] === 0;
}

it("[RT11] [RT8] 400 kinds of bad frames change nothing, reach no one and close only their own socket", async () => {
  const rig = createRealtimeRig();
  const frames = hostileFrames().filter(({ bytes }) => !isHarmless(bytes));
  expect(new Set(frames.map(({ name }) => name)).size).toBeGreaterThan(400);

  const control = new Y.Doc();
  const leaks: string[] = [];
  const good = [await rig.join("ada"), await rig.join("bob"), await rig.join("cyd")];
  const goodIds = new Set(good.map((one) => one.document.clientID));
  for (const one of good) {
    one.document.on("update", (update: Uint8Array, origin: unknown) => {
      if (origin !== one) Y.applyUpdate(control, update);
    });
    one.onServerFrame = (frame) => {
      const decoder = decoding.createDecoder(frame);
      if (decoding.readVarUint(decoder) !== 0 || decoding.readVarUint(decoder) === 0) return;
      const { structs } = Y.decodeUpdate(decoding.readVarUint8Array(decoder));
      for (const { id } of structs) if (!goodIds.has(id.client)) leaks.push(`client ${id.client}`);
    };
    one.peer.onSend = one.onServerFrame;
  }
  await settle(good);

  const survivors: string[] = [];
  for (const [number, { name, bytes }] of frames.entries()) {
    const bad = new PairedClient(rig.rooms, articleId, writerIdentity("mal"), { broadcast: rig.broadcast });
    await bad.connect();
    bad.toServer = [];
    for (let times = 0; times < 3; times += 1) bad.connection?.receive(bytes.slice());
    const writer = good[number % 3] as PairedClient;
    writer.type(`${number} `, (number * 7) % (writer.text.length + 1));
    if (number % 5 === 0) writer.document.getText("content.md").delete(0, Math.min(2, writer.text.length));
    writer.deliver();
    await turns(1);
    for (const one of good) one.take();
    if (![4400, 4413].includes(bad.peer.closed?.code ?? 0)) survivors.push(name);
    bad.destroy();
  }
  await settle(good);

  expect(survivors).toEqual([]);
  expect(leaks).toEqual([]);
  for (const one of good) {
    expect(one.peer.closed).toBeUndefined();
    expect(one.denied).toEqual([]);
    expect(one.text).toBe(control.getText("content.md").toString());
  }
  expect(await rig.liveText()).toBe(control.getText("content.md").toString());
  const authors = rig.log.batches(articleId).flatMap(({ updates }) => updates.map(({ author }) => author.username));
  expect(new Set(authors)).toEqual(new Set(["ada", "bob", "cyd"]));
  rig.close();
});
