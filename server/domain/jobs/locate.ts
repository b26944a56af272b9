/** Finds the workspace of a job, for access checks. */
import type { Storage } from "../../platform/storage/port.ts";
import type { Locate } from "../identity/workspaces/access.ts";
import { jobRecord } from "./records.ts";

export function createLocateJob({ storage }: { readonly storage: Pick<Storage, "records"> }): Locate {
  return async (jobId) => {
    const job = await storage.records.get(jobRecord, jobId);
    return job === undefined ? undefined : { workspaceId: job.value.context.workspaceId };
  };
}
