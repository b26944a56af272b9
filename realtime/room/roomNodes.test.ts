/** Edits of one document on two nodes at once, while the bus loses all messages. */
import { afterEach, expect, it } from "vitest";
import type * as Y from "yjs";
import { articleId, createRealtimeRig } from "../../test/support/realtimeRig.ts";
import { settle } from "../../test/support/socketPair.ts";

let rig: ReturnType<typeof createRealtimeRig>;
afterEach(() => rig.close());

const author = { username: "ada", kind: "user" } as const;
const file = "content.md";
const textOf = (document: Y.Doc) => document.getText(file).toString();

function write(node: number, change: (document: Y.Doc, revision: number) => unknown, isExact: boolean) {
  const rooms = rig.nodes[node]?.rooms;
  if (rooms === undefined) throw new Error(`there is no node ${node}`);
  return rooms.edit(articleId, author, undefined, change, isExact);
}

async function startApart() {
  rig = createRealtimeRig({ nodes: 2 });
  const bob = await rig.join("bob", { node: 1 });
  await settle(rig.clients);
  rig.silenceBus(true);
  return bob;
}

it("[RT43] an exact edit runs again on the newer document when another node wrote first", async () => {
  const bob = await startApart();
  const seen: [string, number][] = [];
  await write(0, (document) => document.getText(file).insert(0, "first "), false);
  const edited = await write(
    1,
    (document, revision) => {
      seen.push([textOf(document), revision]);
      document.getText(file).insert(textOf(document).length, "second");
    },
    true,
  );
  expect(seen).toEqual([
    ["", 0],
    ["first ", 1],
  ]);
  expect(edited).toMatchObject({ revision: 2, changed: true });
  await settle(rig.clients);
  expect([bob.text, await rig.liveText()]).toEqual(["first second", "first second"]);
  expect(bob.peer.closed).toBeUndefined();
});

it("[RT43] an exact edit that then fails leaves nothing behind", async () => {
  const bob = await startApart();
  await write(0, (document) => document.getText(file).insert(0, "first"), false);
  const edited = write(
    1,
    (document) => {
      if (textOf(document) !== "") throw new Error("somebody was here");
      document.getText(file).insert(0, "second");
    },
    true,
  );
  await expect(edited).rejects.toThrow("somebody was here");
  await settle(rig.clients);
  expect([bob.text, await rig.liveText()]).toEqual(["first", "first"]);
  expect(rig.log.batches(articleId)).toHaveLength(1);
});

it("[RT43] text typed while an exact edit is overtaken is not lost", async () => {
  const bob = await startApart();
  const node = rig.nodes[1];
  await write(0, (document) => document.getText(file).insert(0, "first "), false);
  node?.log.hold();
  const edited = write(1, (document) => document.getText(file).insert(textOf(document).length, "second"), true);
  while (node?.log.waiting === 0) await new Promise((resolve) => setImmediate(resolve));
  bob.type("typed ");
  bob.deliver();
  await node?.log.release();
  await edited;
  await settle(rig.clients);
  expect(bob.peer.closed).toBeUndefined();
  const text = await rig.liveText();
  for (const part of ["first ", "second", "typed "]) expect(text.split(part)).toHaveLength(2);
  expect(bob.text).toBe(text);
});

it("[RT104] an edit that is stored is confirmed, although the log cannot be read afterwards", async () => {
  const bob = await startApart();
  const node = rig.nodes[1];
  if (node === undefined) throw new Error("there is no second node");
  await write(0, (document) => document.getText(file).insert(0, "first "), false);
  const { readAfter } = node.log;
  node.log.readAfter = async () => {
    node.log.readAfter = readAfter;
    throw new Error("the store is gone");
  };
  // Neither edit has a client id that would reveal a repetition.
  const insert = (text: string) => (document: Y.Doc) => document.getText(file).insert(0, text);
  const edited = await Promise.all([write(1, insert("second "), false), write(1, insert("third "), false)]);
  expect(edited[0]).toMatchObject({ revision: 2, changed: true, repeated: false });
  expect(bob.peer.closed?.code).toBe(1013);
  const text = await rig.liveText();
  for (const part of ["first ", "second ", "third "]) expect(text.split(part)).toHaveLength(2);
});
