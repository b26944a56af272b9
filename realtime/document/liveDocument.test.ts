/** The answers that a live document keeps. */
import * as encoding from "lib0/encoding";
import { expect, test } from "vitest";
import { defaultLimits } from "../../api/limits.ts";
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

test("[RT81] an answer is kept only if it and its state vector are small together", () => {
  const document = new LiveDocument<never>({
    loaded: { revision: 0, tail: [] },
    limits: defaultLimits,
    clientIds: { ownerOf: () => undefined, mayWriteFor: () => false, isOnOtherNode: () => false },
  });
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
