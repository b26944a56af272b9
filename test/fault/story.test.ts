/**
 * Tests the story of the demo under a server that is killed repeatedly. The story's own checks cover what people see.
 * This test compares its end with an undisturbed one.
 */
import { expect, it } from "vitest";
import { playStory } from "../demo/story.ts";
import { kills, playKilled, playUndisturbed } from "./killedStory.ts";

it(
  `[OP20] ${kills} kill -9 during the story: same end, no seen text lost, no webhook missing`,
  async () => {
    const undisturbed = await playUndisturbed(playStory);
    let done = 0;
    while (done < kills) {
      const { ending, told, ...played } = await playKilled(playStory, { kills: 4, withinMs: { least: 100, most: 1600 } });
      expect(ending.text, told).toBe(undisturbed.text);
      expect(ending.publicPage, told).toBe(undisturbed.publicPage);
      expect(ending.commitIds.length, told).toBe(undisturbed.commitIds.length);
      expect(ending.deliveredCommitIds, told).toEqual(expect.arrayContaining([...ending.commitIds]));
      done += played.kills;
    }
  },
  kills * 120_000,
);
