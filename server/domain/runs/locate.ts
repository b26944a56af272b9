/** Finds the workspace of a run, for access checks. */
import type { Storage } from "../../platform/storage/port.ts";
import type { Locate } from "../identity/workspaces/access.ts";
import { runRecord } from "./model/records.ts";

export function createLocateRun({ storage }: { readonly storage: Pick<Storage, "records"> }): Locate {
  return async (runId) => {
    const run = await storage.records.get(runRecord, runId);
    return run === undefined ? undefined : { workspaceId: run.value.context.workspaceId };
  };
}
