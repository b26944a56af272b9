/** Tests how frames reach the members of a room that is large enough for a topic. */
import { afterEach, expect, it } from "vitest";
import { articleId, createRealtimeRig } from "../../test/support/realtimeRig.ts";
import { type PairedClient, settle, turns } from "../../test/support/socketPair.ts";

let rig: ReturnType<typeof createRealtimeRig>;
afterEach(() => rig.close());

/** Joins members of whom only the named ones may write. */
async function crowd(...writers: string[]): Promise<PairedClient[]> {
  const members: PairedClient[] = [];
  for (const name of writers) members.push(await rig.join(name));
  for (let at = members.length; at < 20; at += 1) members.push(await rig.join(`reader${at}`, { mayWrite: false }));
  await settle(rig.clients);
  // Presence at the join was sent to the others only.
  await rig.time.advance(3000);
  await settle(rig.clients);
  return members;
}

const isUpdate = (frame: Uint8Array) => frame[0] === 0 && frame[1] === 2;
const subscribers = () => rig.broadcast.subscribers.get(articleId)?.size ?? 0;

/** Lets clients type in one batch. Returns how many update frames each member gets for it. */
async function framesFor(members: readonly PairedClient[], ...typists: readonly PairedClient[]): Promise<number[]> {
  for (const typist of typists) typist.type("x");
  for (const typist of typists) typist.deliver();
  await turns();
  const counts = members.map(({ peer }) => peer.toClient.filter(isUpdate).length);
  await settle(rig.clients);
  return counts;
}

it("[RT96] in a large room an author gets what others wrote and not its own text", async () => {
  rig = createRealtimeRig();
  const members = await crowd("ada", "bob");
  const [ada, bob] = members as [PairedClient, PairedClient];
  const others = members.slice(2).map(() => 1);
  expect(await framesFor(members, ada)).toEqual([0, 1, ...others]);
  expect(subscribers()).toBe(19);
  expect(await framesFor(members, bob)).toEqual([1, 0, ...others]);
  expect(await framesFor(members, ada, bob)).toEqual([1, 1, ...others]);
  expect(subscribers()).toBe(18);
  // After a pause the authors return with the next batch of someone else.
  await rig.time.advance(3000);
  expect(await framesFor(members, bob)).toEqual([1, 0, ...others]);
  expect(subscribers()).toBe(19);
  expect(await framesFor(members, ada)).toEqual([0, 1, ...others]);
  for (const { text } of members) expect(text).toBe(ada.text);
});

it("[RT96] in a large room the authors of a batch of more than four get the whole batch", async () => {
  rig = createRealtimeRig();
  const members = await crowd("ada", "bob", "cyd", "dan", "eve");
  expect(await framesFor(members, ...members.slice(0, 4))).toEqual(members.map(() => 1));
  expect(subscribers()).toBe(16);
  expect(await framesFor(members, ...members.slice(0, 5))).toEqual(members.map(() => 1));
  // Everyone gets the same frame, so no further member has left the topic.
  expect(subscribers()).toBe(16);
  for (const { text } of members) expect(text).toHaveLength(9);
});

it("[RT96] a member that joins or leaves a large room gets each batch once or not at all", async () => {
  rig = createRealtimeRig();
  const members = await crowd("ada");
  const [ada, leaver] = members as [PairedClient, PairedClient];
  await framesFor(members, ada);
  rig.log.hold();
  ada.type("while one joins");
  ada.deliver();
  await turns();
  const joiner = await rig.join("late", { mayWrite: false });
  const { peer } = leaver;
  leaver.disconnect();
  await rig.log.release();
  await settle(rig.clients);
  expect(peer.toClient).toEqual([]);
  expect(joiner.text).toBe(ada.text);
  expect(await framesFor([joiner], ada)).toEqual([1]);
  expect(await framesFor([joiner], ada)).toEqual([1]);
  expect(joiner.text).toBe(ada.text);
});

it("[RT96] when a large room ends, no socket of it gets a frame of the next room", async () => {
  rig = createRealtimeRig();
  const members = await crowd("ada");
  const [ada] = members as [PairedClient];
  await framesFor(members, ada);
  rig.log.failNext();
  ada.type("not stored");
  ada.deliver();
  await turns();
  expect(members.map(({ peer }) => peer.closed?.code)).toEqual(members.map(() => 1013));
  expect(subscribers()).toBe(0);
});

it("[RT95] a slow reader of a large room is closed with 1013 within a quarter above socket.buffer", async () => {
  const buffer = 8000;
  rig = createRealtimeRig({ limits: { "socket.buffer": buffer } });
  const members = await crowd("ada");
  const [ada, slow, ...others] = members as [PairedClient, PairedClient, ...PairedClient[]];
  await framesFor(members, ada);
  slow.peer.isSlow = true;
  const frameBytes = 100;
  for (let times = 0; slow.peer.closed === undefined && times < 1000; times += 1) {
    ada.type("a line of text that has to go somewhere\n");
    ada.deliver();
    await turns(2);
  }
  expect(slow.peer.closed?.code).toBe(1013);
  expect(slow.peer.bufferedBytes).toBeGreaterThan(buffer);
  expect(slow.peer.bufferedBytes).toBeLessThan(1.25 * buffer + 2 * frameBytes);
  await settle(rig.clients);
  expect(others.map(({ peer, text }) => [peer.closed, text])).toEqual(others.map(() => [undefined, ada.text]));
  slow.disconnect();
  await slow.connect();
  await settle(rig.clients);
  expect(slow.text).toBe(ada.text);
});
