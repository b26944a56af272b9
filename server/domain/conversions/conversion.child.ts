/** Entry point of the process that converts documents. The sandbox comes first; the engine is loaded inside of it. */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { serveJobs } from "../../platform/workers/childJobs.ts";
import { enterSandbox } from "./sandbox.ts";

const folder = dirname(fileURLToPath(import.meta.url));

serveJobs({
  async prepare() {
    enterSandbox(findProgramFolders(folder));
    return (await import("./conversionJob.ts")).runConversionJob;
  },
});

/** The folder of this program, and every `node_modules` above it. */
function findProgramFolders(start: string): readonly string[] {
  const above: string[] = [];
  for (let at = start; dirname(at) !== at; at = dirname(at)) above.push(join(at, "node_modules"));
  return [start, ...above];
}
