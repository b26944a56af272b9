/** The answers that a live document keeps, and the client id under which the server writes. */
import * as encoding from "lib0/encoding";
import { expect, test } from "vitest";
import { defaultLimits } from "../../api/limits.ts";
import { rawUpdate, struct } from "../../test/support/hostileFrames.ts";
import { LiveDocument } from "./liveDocument.ts";

/** A state vector that names `clients` client ids. */
function stateVectorOf(clients: number): Uint8Array {
  return encoding.encode((encoder) => {
    encoding.writeVarUint(encoder, clients);
    for (let at = 0; at < clients; at += 1) {
      encoding.writeVarUint(encoder, 2 ** 31 + at);
      encoding.writeVarUint(encoder, 0);
    }
  });
}

function createDocument(): LiveDocument<never> {
  return new LiveDocument<never>({
    loaded: { revision: 0, tail: [] },
    limits: defaultLimits,
    clientIds: { ownerOf: () => undefined, mayWriteFor: () => false, isOnOtherNode: () => false },
  });
}

test("[RT81] an answer is kept only if it and its state vector are small together", () => {
  const document = createDocument();
  const isKept = (stateVector: Uint8Array) => {
    const { update } = document.encodeAnswer(stateVector);
    return document.encodeAnswer(stateVector).update === update;
  };
  expect(isKept(stateVectorOf(10))).toBe(true);
  const large = stateVectorOf(400_000);
  expect(large.length).toBeGreaterThan(2 * 1024 * 1024);
  expect(large.length).toBeLessThan(defaultLimits["frame.bytes"]);
  expect(isKept(large)).toBe(false);
});

test("[RT114] after a revert the server does not write under an id with text of another writer", () => {
  const document = createDocument();
  const edited = document.edit(undefined, false, (content) => content.getText("content.md").insert(0, "one"));
  if (edited.kind !== "changed") throw new Error(`the edit is ${edited.kind}`);
  document.applyEdit(edited.update, 1);
  const { clientId = 0 } = document.serverClientId ?? {};
  const forged = rawUpdate([{ clientId, clock: 3, structs: [struct.after("forged", clientId, 2)] }]);
  document.applyRemote([forged], 2);
  expect(document.serverClientId).toBeUndefined();
  document.holdUpdates();
  document.revertTo({
    revision: 2,
    tail: [edited.update, forged].map((update, at) => ({
      revision: at + 1,
      writer: `node ${at}`,
      updates: [{ author: { username: "api", kind: "key" }, update }],
    })),
  });
  expect(document.read((content) => content.getText("content.md").toString())).toBe("oneforged");
  expect(document.serverClientId).toBeUndefined();
});
