/** Finds the workspace of a folder, for access checks. */
import type { Storage } from "../../platform/storage/port.ts";
import type { Locate } from "../identity/workspaces/access.ts";
import { folderRecord } from "./records.ts";

/** A folder that is being deleted is not found. */
export function createLocateFolder({ storage }: { readonly storage: Pick<Storage, "records"> }): Locate {
  return async (folderId) => {
    const folder = (await storage.records.get(folderRecord, folderId))?.value;
    return folder === undefined || folder.deletedByJobId !== undefined ? undefined : { workspaceId: folder.workspaceId };
  };
}
