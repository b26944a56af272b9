/** `npm run demo`: plays the stories on a server of its own, tells them in colour, and leaves nothing behind. */
import colors from "picocolors";
import { createNarrator } from "./narrator.ts";
import { playRunStory } from "./runStory.ts";
import { startStage } from "./stage.ts";
import { playStory } from "./story.ts";

const tell = createNarrator();
const pace = { keyPauseMs: 40 };

function showEnd(text: string): void {
  console.log(
    colors.dim(
      text
        .trimEnd()
        .replace(/(?=.{101})(.{1,100}) /g, "$1\n")
        .replace(/^/gm, "  │ "),
    ),
  );
}

tell.chapter("A server, started on an empty folder");
const stage = await startStage({ dictationPieceMs: 38 });
try {
  tell.show("listening", stage.url);
  const people = await playStory(stage, tell, pace);
  tell.chapter("The end of the people's half, as the disk has it");
  showEnd(people.text);
  const agent = await playRunStory(stage, tell, pace);
  tell.chapter("The end, as the disk has it");
  showEnd(agent.text);
  const commits = people.commitIds.length + agent.commits.length;
  tell.say(`${commits} commits, ${commits} webhooks verified, ${stage.kills} kill -9, ${colors.green("nothing lost")}.`);
  console.log(`
${colors.bold("Where to look next")}
  npm start                      your own server on http://127.0.0.1:8787
  README.md                      the first minutes, by hand
  docs/runs.md, docs/topics.md   workflows, runs, approvals, streams
  docs/architecture.md           the house, and five paths through it
  docs/openapi.json              every operation
  test/demo/runStory.ts          what you have just seen, as code
`);
} finally {
  await stage.remove();
}
