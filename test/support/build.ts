/** Builds the server once before the tests that start it as a separate process. */
import { runBuild } from "./runBuild.ts";

export default function buildServerOnce(): void {
  runBuild("the server", "esbuild.config.mjs");
}
