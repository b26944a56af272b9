/**
 * Reads folders.
 *
 * An id may come unchecked from a request: an invalid id and a folder of another workspace both count as not found.
 */
import { idPattern } from "../../../api/schema/id.ts";
import type { Storage, Stored } from "../../platform/storage/port.ts";
import { type ContentProject, type FolderRecord, folderRecord } from "./records.ts";

export interface Folders {
  find(workspaceId: string, folderId: string): Promise<Stored<FolderRecord> | undefined>;
  exists(workspaceId: string, folderId: string): Promise<boolean>;
  /** Settings of a folder that is a content project, archived or not. Undefined otherwise. */
  contentProject(workspaceId: string, folderId: string): Promise<ContentProject | undefined>;
}

const folderId = idPattern("fld");

export function createFolders({ storage }: { readonly storage: Pick<Storage, "records"> }): Folders {
  async function find(workspaceId: string, id: string): Promise<Stored<FolderRecord> | undefined> {
    const folder = folderId.test(id) ? await storage.records.get(folderRecord, id) : undefined;
    return folder?.value.workspaceId === workspaceId ? folder : undefined;
  }
  return {
    find,
    exists: async (workspaceId, id) => (await find(workspaceId, id)) !== undefined,
    contentProject: async (workspaceId, id) => (await find(workspaceId, id))?.value.contentProject,
  };
}
