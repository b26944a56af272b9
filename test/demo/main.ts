/**
 * `npm run demo`: plays the stories on its own server, prints them in colour, and removes everything afterwards. With
 * `-- --redis` the data is in its own Redis, which is killed together with the server.
 */
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import colors from "picocolors";
import type { StoreKind } from "../support/stores.ts";
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

/** Returns the store that the command line asks for. Prints an error if the command line is wrong. */
function readStore(): StoreKind | undefined {
  let redis: boolean | undefined;
  try {
    ({ redis } = parseArgs({ options: { redis: { type: "boolean" } } }).values);
  } catch (reason) {
    console.error(`${(reason as Error).message}\nusage: npm run demo, or npm run demo -- --redis`);
    return undefined;
  }
  if (redis !== true) return "embedded";
  if (spawnSync("redis-server", ["--version"]).error === undefined) return "redis";
  console.error("There is no redis-server on the PATH. Install Redis 7 or later, or leave --redis off.");
  return undefined;
}

const store = readStore();
if (store === undefined) process.exit(2);

tell.chapter(`A server, started on an empty ${store === "redis" ? "Redis" : "folder"}`);
const stage = await startStage({ dictationPieceMs: 38, store });
try {
  tell.show("listening", stage.url);
  tell.show("stored in", stage.place);
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
  docs/architecture.md           the house, and six paths through it
  docs/openapi.json              every operation
  test/demo/runStory.ts          what you have just seen, as code
`);
} finally {
  await stage.remove();
}
