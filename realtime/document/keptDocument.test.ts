/** Tests of documents that are kept as bytes. */
import { expect, it } from "vitest";
import * as Y from "yjs";
import { defaultLimits } from "../../api/limits.ts";
import { KeptDocument } from "./keptDocument.ts";

const textOf = (update: Uint8Array) => {
  const document = new Y.Doc();
  Y.applyUpdate(document, update);
  return document.getText("content.md").toString();
};

it("[RT83] a kept document does not depend on the memory in which its updates arrived", () => {
  const updates: Uint8Array[] = [];
  const author = new Y.Doc();
  author.on("update", (update: Uint8Array) => updates.push(update));
  for (let at = 0; at < 100; at += 1) author.getText("content.md").insert(at, String(at % 10));
  const kept = KeptDocument.from({ revision: 0, tail: [] }, defaultLimits);
  if (kept === undefined) throw new Error("an empty document can be kept");
  const frame = new Uint8Array(64);
  for (const update of updates) {
    frame.set(update);
    kept.add(frame.subarray(0, update.length));
  }
  frame.fill(0);
  expect(textOf(kept.encode().update)).toBe(author.getText("content.md").toString());
  expect(kept.build().getText("content.md").toString()).toBe(author.getText("content.md").toString());
});
