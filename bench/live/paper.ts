/**
 * Paper makes the editing history of a long paper: 259,778 keystrokes by one author, 70 % of them insertions.
 *
 * The shape follows the recorded LaTeX paper that CRDT benchmarks use: runs of typing, backspaces in place, and jumps of the
 * cursor. A seeded generator makes the same history at each call. Updates hold ten keystrokes each, as a provider that
 * batches while a person types would send them.
 */
import * as Y from "yjs";

const keystrokes = 259_778;
const keystrokesPerUpdate = 10;
const insertShare = 0.7;
const jumpShare = 0.02;
const letters = "etaoinshrdlucmfwypvbgkjqxz    \n";

/** Mulberry32: a small generator of numbers from 0 to 1. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface Paper {
  readonly updates: readonly Uint8Array[];
  readonly text: string;
  /** Size of the whole document in the compact encoding, without deleted text. */
  readonly compactBytes: number;
}

export function makePaper(): Paper {
  const random = seeded(1);
  const document = new Y.Doc();
  const text = document.getText("content.md");
  const updates: Uint8Array[] = [];
  document.on("update", (update: Uint8Array) => updates.push(update));
  let cursor = 0;
  let isDeleting = false;
  for (let done = 0; done < keystrokes; done += keystrokesPerUpdate) {
    document.transact(() => {
      for (let at = done; at < Math.min(done + keystrokesPerUpdate, keystrokes); at += 1) {
        if (random() < jumpShare) cursor = Math.floor(random() * (text.length + 1));
        // Deletions come in runs, so the share is kept by the length of the runs.
        if (random() < 0.1) isDeleting = random() > insertShare;
        if (isDeleting && cursor > 0) {
          cursor -= 1;
          text.delete(cursor, 1);
        } else {
          text.insert(cursor, letters.charAt(Math.floor(random() * letters.length)));
          cursor += 1;
        }
      }
    });
  }
  const paper = { updates, text: text.toString(), compactBytes: Y.encodeStateAsUpdate(document).length };
  document.destroy();
  return paper;
}
