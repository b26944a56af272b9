/** Tests that counting only the changed lines gives the count of the whole text. */
import { expect, test } from "vitest";
import { countWords } from "../call/countWords.ts";
import { WordCounter } from "./wordCounter.ts";

function createRig() {
  const rig = { counted: 0, isBusy: false };
  const counter = new WordCounter(
    {
      async countWords(_owner, text) {
        if (rig.isBusy) throw new Error("busy");
        rig.counted += text.length;
        return countWords(text);
      },
    },
    "streams",
  );
  return Object.assign(rig, { counter });
}

/** A generator of numbers from 0 up to, but not including, 1, which gives the same series in every run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

const pieces = ["word", " ", "\n", "don’t", "well-known", "漢字", "\n\n", "-", "'", "x", "é", "日本 text", "👍"];

test("[SE68] after any edits the number of words equals the count of the whole text", async () => {
  const random = createRandom(7);
  const { counter } = createRig();
  let text = "";
  for (let edits = 0; edits < 2000; edits += 1) {
    const from = Math.floor(random() * (text.length + 1));
    const to = random() < 0.5 ? from : Math.min(text.length, from + Math.floor(random() * 12));
    const piece = random() < 0.8 ? (pieces[Math.floor(random() * pieces.length)] ?? "") : "";
    text = text.slice(0, from) + piece + text.slice(to);
    if (random() < 0.01) text = text.slice(0, 20);
    expect(await counter.count(text), JSON.stringify(text)).toBe(countWords(text));
  }
});

test("[SE68] a keystroke in a long text counts its line only, and a failed count changes nothing", async () => {
  const rig = createRig();
  const line = "one two three four five six seven eight nine ten\n";
  const long = line.repeat(10_000);
  expect(await rig.counter.count(long)).toBe(100_000);
  rig.counted = 0;
  const middle = 5000 * line.length + 3;
  const typed = `${long.slice(0, middle)} more${long.slice(middle)}`;
  rig.isBusy = true;
  await expect(rig.counter.count(typed)).rejects.toThrow("busy");
  rig.isBusy = false;
  expect(await rig.counter.count(typed)).toBe(100_001);
  expect(rig.counted).toBeLessThan(3 * line.length);
});
