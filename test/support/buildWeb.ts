/** Builds the web app once before the tests that start a whole server, which serves it. */
import { runBuild } from "./runBuild.ts";

export default function buildWebOnce(): void {
  runBuild("the web app", "web/build.mjs");
}
