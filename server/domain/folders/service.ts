/** Reads folders, and ties changes of other records to them. An id may come unchecked from a request. */
import type { UnitOfWork } from "../../platform/actors/port.ts";
import { findInCollection } from "../../platform/storage/collectionRecord.ts";
import type { Storage, Stored } from "../../platform/storage/port.ts";
import { refuseField } from "../call/refuseField.ts";
import { type ContentProject, type FolderRecord, folderRecord } from "./records.ts";

export interface Folders {
  find(workspaceId: string, folderId: string): Promise<Stored<FolderRecord> | undefined>;
  exists(workspaceId: string, folderId: string): Promise<boolean>;
  /**
   * Throws `validation_failed` with the pointer `/folderId` unless the folder exists in the workspace. The unit's commit
   * fails if the folder is changed or deleted meanwhile.
   */
  requireOpen(unit: Pick<UnitOfWork, "require">, workspaceId: string, folderId: string): Promise<void>;
  /** Settings of a folder that is a content project, archived or not. Undefined otherwise. */
  contentProject(workspaceId: string, folderId: string): Promise<ContentProject | undefined>;
}

export function createFolders({ storage }: { readonly storage: Pick<Storage, "records"> }): Folders {
  const find: Folders["find"] = (workspaceId, folderId) => findInCollection(storage, folderRecord, workspaceId, folderId);
  return {
    find,
    async requireOpen(unit, workspaceId, folderId) {
      const folder = await find(workspaceId, folderId);
      if (folder === undefined) throw refuseField("folderId", "must be the id of a folder of the workspace", "not_found");
      unit.require({ kind: "revision", type: folderRecord, key: folderId, revision: folder.revision });
    },
    exists: async (workspaceId, id) => (await find(workspaceId, id)) !== undefined,
    contentProject: async (workspaceId, id) => (await find(workspaceId, id))?.value.contentProject,
  };
}
