/** Tests of joined keystrokes. */
import fc from "fast-check";
import { expect, it } from "vitest";
import * as Y from "yjs";
import type { BatchedUpdate } from "./applyBatch.ts";
import { joinKeystrokes } from "./joinKeystrokes.ts";

const file = "content.md";

function openAuthor(clientId: number, start: Uint8Array): { readonly document: Y.Doc; readonly updates: Uint8Array[] } {
  const document = new Y.Doc();
  document.clientID = clientId;
  Y.applyUpdate(document, start);
  const updates: Uint8Array[] = [];
  document.on("update", (update: Uint8Array) => updates.push(update));
  return { document, updates };
}

function contentOf(start: Uint8Array, updates: readonly Uint8Array[]) {
  const document = new Y.Doc();
  for (const update of [start, ...updates]) Y.applyUpdate(document, update);
  return {
    text: document.getText(file).toString(),
    state: Y.encodeStateAsUpdate(document),
    isComplete: document.store.pendingStructs === null,
  };
}

const toBatch = (sender: number, updates: readonly Uint8Array[]): BatchedUpdate<number>[] =>
  updates.map((update) => ({ sender, update, mayBePending: false }));

const startText = (): Uint8Array => {
  const document = new Y.Doc();
  document.clientID = 1;
  document.getText(file).insert(0, "A first line.\nA second line.\n");
  return Y.encodeStateAsUpdate(document);
};

it("[RT106] a hundred characters typed one after the other are one update", () => {
  const start = startText();
  const { document, updates } = openAuthor(7, start);
  let cursor = 3;
  for (let at = 0; at < 100; at += 1) {
    const text = at % 9 === 0 ? "é漢🙂" : "x";
    document.getText(file).insert(cursor, text);
    cursor += text.length;
  }
  const joined = joinKeystrokes(toBatch(1, updates));
  expect(updates).toHaveLength(100);
  expect(joined).toHaveLength(1);
  expect(contentOf(start, [joined[0]?.update ?? new Uint8Array()])).toEqual(contentOf(start, updates));
});

it("[RT106] joined keystrokes leave the same document as keystrokes one by one", () => {
  const edit = fc.record({
    who: fc.nat(1),
    moves: fc.constantFrom(true, false, false, false, false, false),
    at: fc.nat(40),
    text: fc.oneof({ weight: 6, arbitrary: fc.constantFrom("a", "b", "c") }, fc.constantFrom("é", "🙂", "two words", "\n")),
    erase: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2),
  });
  let joinedUpdates = 0;
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 60 }), (edits) => {
      const start = startText();
      const authors = [openAuthor(7, start), openAuthor(300, start)];
      const cursors = [5, 20];
      for (const { who, moves, at, text, erase } of edits) {
        const { document } = authors[who] ?? openAuthor(7, start);
        const content = document.getText(file);
        const from = Math.min(moves ? at : (cursors[who] ?? 0), content.length);
        document.transact(() => {
          content.delete(from, Math.min(erase, content.length - from));
          content.insert(from, text);
        });
        cursors[who] = from + text.length;
      }
      const batch = authors.flatMap(({ updates }, sender) => toBatch(sender, updates));
      const joined = joinKeystrokes(batch);
      joinedUpdates += batch.length - joined.length;
      const oneByOne = batch.map(({ update }) => update);
      const updates = joined.map(({ update }) => update);
      expect(contentOf(start, updates)).toEqual(contentOf(start, oneByOne));
      // A reader that has a part of the characters already skips them.
      const half = oneByOne.slice(0, oneByOne.length / 2);
      expect(contentOf(start, [...half, ...updates])).toEqual(contentOf(start, oneByOne));
      if (updates.length > 0) expect(contentOf(start, [Y.mergeUpdates([...updates])])).toEqual(contentOf(start, oneByOne));
    }),
    { numRuns: 200 },
  );
  expect(joinedUpdates).toBeGreaterThan(300);
});
