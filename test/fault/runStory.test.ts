/**
 * The agent's half of the demo's story under a server that is killed again and again. The story's own checks hold what
 * was seen and that no finished step ran again; here its end is compared with an undisturbed one.
 */
import { expect, it } from "vitest";
import { playRunStory, type RunEnding, withoutNotes } from "../demo/runStory.ts";
import { playKilled, playUndisturbed } from "./killedStory.ts";

const kills = 20;

/** What has to be the same, whenever the server was killed: not the ids, and not where the people's notes came to stand. */
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

it(`[RU90] ${kills} kill -9 in a staged workflow: same end, no finished step reruns, no seen text lost`, async () => {
  const undisturbed = toOutcome(await playUndisturbed(playRunStory));
  let done = 0;
  while (done < kills) {
    const { ending, told, ...played } = await playKilled(playRunStory, { kills: 5, withinMs: { least: 100, most: 2500 } });
    expect(toOutcome(ending), told).toEqual(undisturbed);
    expect(ending.deliveredCommitIds, told).toEqual(expect.arrayContaining(ending.commits.map(({ commitId }) => commitId)));
    done += played.kills;
  }
}, 300_000);
