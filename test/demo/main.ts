/** `npm run demo`: plays the story on a server of its own, tells it in colour, and leaves nothing behind. */
import colors from "picocolors";
import { startStage } from "./stage.ts";
import { type Narrator, playStory } from "./story.ts";

const startedAt = Date.now();
const elapsed = () => colors.dim(`${((Date.now() - startedAt) / 1000).toFixed(1).padStart(5)} s`);

const narrator: Narrator = {
  chapter: (name) => console.log(`\n${colors.bold(colors.cyan(name))}`),
  say: (line) => console.log(`${elapsed()}  ${line}`),
  show: (label, value) => console.log(`${elapsed()}  ${colors.yellow(label)}  ${value}`),
  watch: (look) => {
    if (!process.stdout.isTTY) return () => {};
    const halves = ["first ", "second"];
    let painted = 0;
    const paint = () => {
      const width = Math.max(20, (process.stdout.columns ?? 80) - 18);
      const lines = look().map((text, at) => `${elapsed()}  ${colors.magenta(halves[at] ?? "")} ${text.slice(-width)}▏`);
      process.stdout.write(`${painted > 0 ? `\x1b[${painted}A` : ""}${lines.map((line) => `\x1b[2K${line}\n`).join("")}`);
      painted = lines.length;
    };
    const timer = setInterval(paint, 60);
    return () => {
      clearInterval(timer);
      paint();
    };
  },
};

narrator.chapter("A server, started on an empty folder");
const stage = await startStage();
try {
  narrator.show("listening", stage.url);
  const ending = await playStory(stage, narrator, { keyPauseMs: 40 });
  narrator.chapter("The end, as the disk has it");
  console.log(colors.dim(ending.text.replace(/(?=.{101})(.{1,100}) /g, "$1\n").replace(/^/gm, "  │ ")));
  narrator.say(
    `${ending.commitIds.length} commit, ${ending.deliveredCommitIds.length} webhook verified, ${stage.kills} kill -9, ${colors.green("nothing lost")}.`,
  );
  console.log(`
${colors.bold("Where to look next")}
  npm start                      your own server on http://127.0.0.1:8787
  README.md                      the first minute, by hand
  docs/architecture.md           the house, and four paths through it
  docs/openapi.json              every operation
  test/demo/story.ts             what you have just seen, as code
`);
} finally {
  await stage.remove();
}
