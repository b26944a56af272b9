/**
 * The story of the demo under a server that is killed at random moments, again and again: the people in it notice
 * nothing but a pause. The story's own checks hold what was seen; here its end is compared with an undisturbed one.
 */
import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { type DemoStage, startStage } from "../demo/stage.ts";
import { type Ending, type Narrator, playStory } from "../demo/story.ts";

const kills = 20;
const killsPerStory = 5;
const silence: Narrator = { chapter: () => {}, say: () => {}, show: () => {}, watch: () => () => {} };

async function play(disturb: (stage: DemoStage, over: AbortSignal) => Promise<void>): Promise<Ending & { kills: number }> {
  const stage = await startStage();
  const over = new AbortController();
  try {
    const playing = playStory(stage, silence, { keyPauseMs: 12 }).finally(() => over.abort());
    const [ending] = await Promise.all([playing, disturb(stage, over.signal)]);
    return { ...ending, kills: stage.kills };
  } finally {
    await stage.remove();
  }
}

it(`[OP20] kill -9 at ${kills} random moments of the story: the same end each time, nothing seen is gone, no webhook missing`, async () => {
  const undisturbed = await play(async () => {});
  let done = 0;
  while (done < kills) {
    const moments: number[] = [];
    const ending = await play(async (stage, over) => {
      while (!over.aborted && stage.kills < killsPerStory) {
        const delayMs = Math.round(100 + Math.random() * 1500);
        moments.push(delayMs);
        await pause(delayMs, undefined, { signal: over }).catch(() => {});
        if (!over.aborted) await stage.crash();
      }
    });
    const told = `killed after ${moments.join(", ")} ms`;
    expect(ending.text, told).toBe(undisturbed.text);
    expect(ending.publicPage, told).toBe(undisturbed.publicPage);
    expect(ending.commitIds.length, told).toBe(undisturbed.commitIds.length);
    expect(ending.deliveredCommitIds, told).toEqual(expect.arrayContaining([...ending.commitIds]));
    done += ending.kills;
  }
}, 300_000);
