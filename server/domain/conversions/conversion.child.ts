/**
 * Entry point of the process that converts documents. The sandbox comes first; the engine is loaded inside of it.
 *
 * The arguments are the folders and files that the process may read: it may not even look for them itself.
 */
import { serveJobs } from "../../platform/workers/childJobs.ts";
import { enterSandbox } from "./sandbox.ts";

serveJobs({
  async prepare() {
    enterSandbox(process.argv.slice(2));
    return (await import("./conversionJob.ts")).runConversionJob;
  },
});
