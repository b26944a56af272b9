/** Reading folders. An id is taken as it comes from a request: what is none, or of another workspace, is nothing. */
import { idPattern } from "../../api/schema/id.ts";
import type { Storage, Stored } from "../storage/port.ts";
import { type ContentProject, type FolderRecord, folderRecord } from "./records.ts";

export interface Folders {
  find(workspaceId: string, folderId: string): Promise<Stored<FolderRecord> | undefined>;
  exists(workspaceId: string, folderId: string): Promise<boolean>;
  /** The settings of a folder that is a content project, archived or not. */
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
