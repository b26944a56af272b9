/** Reads folders. An id may come unchecked from a request. */
import { findInCollection } from "../../platform/storage/collectionRecord.ts";
import type { Storage, Stored } from "../../platform/storage/port.ts";
import { type ContentProject, type FolderRecord, folderRecord } from "./records.ts";

export interface Folders {
  find(workspaceId: string, folderId: string): Promise<Stored<FolderRecord> | undefined>;
  exists(workspaceId: string, folderId: string): Promise<boolean>;
  /** Settings of a folder that is a content project, archived or not. Undefined otherwise. */
  contentProject(workspaceId: string, folderId: string): Promise<ContentProject | undefined>;
}

export function createFolders({ storage }: { readonly storage: Pick<Storage, "records"> }): Folders {
  const find: Folders["find"] = (workspaceId, folderId) => findInCollection(storage, folderRecord, workspaceId, folderId);
  return {
    find,
    exists: async (workspaceId, id) => (await find(workspaceId, id)) !== undefined,
    contentProject: async (workspaceId, id) => (await find(workspaceId, id))?.value.contentProject,
  };
}
