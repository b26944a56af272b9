/**
 * Tests the agent's part of the demo under a server that is killed repeatedly. The story's own checks cover what people
 * see and that no finished step ran again. This test compares its end with an undisturbed one.
 */
import { expect, it } from "vitest";
import { playRunStory, type RunEnding, withoutNotes } from "../demo/runStory.ts";
import { kills, playKilled, playUndisturbed } from "./killedStory.ts";

/** Returns what must be equal however the server was killed: no ids and no positions of the people's notes. */
function toOutcome({ text, outline, status, audit, history, commits }: RunEnding) {
  return {
    text: withoutNotes(text),
    outline,
    status,
    audit,
    history,
    commits: commits.map(({ kind, message }) => ({ kind, message })),
  };
}

it(
  `[RU90] ${kills} kill -9 in a staged workflow: same end, no finished step reruns, no seen text lost`,
  async () => {
    const undisturbed = toOutcome(await playUndisturbed(playRunStory));
    let done = 0;
    while (done < kills) {
      const { ending, told, ...played } = await playKilled(playRunStory, { kills: 4, withinMs: { least: 100, most: 2500 } });
      expect(toOutcome(ending), told).toEqual(undisturbed);
      expect(ending.deliveredCommitIds, told).toEqual(expect.arrayContaining(ending.commits.map(({ commitId }) => commitId)));
      done += played.kills;
    }
  },
  kills * 120_000,
);
