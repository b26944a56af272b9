/**
 * Reads folders for other domains, and lets them put articles and topics into folders. An id may come unchecked from a
 * request. A folder that is being deleted counts as missing.
 */
import type { AppError } from "../../../api/schema/error.ts";
import type { UnitOfWork } from "../../platform/actors/port.ts";
import { findInCollection } from "../../platform/storage/collectionRecord.ts";
import type { Storage, Stored } from "../../platform/storage/port.ts";
import { refuseField } from "../call/refuseField.ts";
import { type ContentProject, type FolderRecord, folderEntriesRecord, folderRecord } from "./records.ts";

export interface Folders {
  find(workspaceId: string, folderId: string): Promise<Stored<FolderRecord> | undefined>;
  exists(workspaceId: string, folderId: string): Promise<boolean>;
  /** Settings of a folder that is a content project, archived or not. Undefined otherwise. */
  contentProject(workspaceId: string, folderId: string): Promise<ContentProject | undefined>;
  /**
   * Requires that the folder accepts new contents, and holds it: for a commit that puts an article into the folder.
   * Throws `validation_failed` (pointer `/folderId`) if the folder is missing, is being deleted or is archived.
   */
  requireOpen(unit: UnitOfWork, workspaceId: string, folderId: string): Promise<void>;
  /**
   * Makes the commit of the unit and every deletion, archiving or other change of the folder exclude each other. Every
   * commit that puts an article or topic into a folder must hold it. A folder may be held several times in one unit.
   */
  hold(unit: UnitOfWork, folder: Stored<FolderRecord>): Promise<void>;
  /** Holds the folder, also if it is archived: for an article that was in it before. Returns false if the folder is missing. */
  keep(unit: UnitOfWork, workspaceId: string, folderId: string): Promise<boolean>;
}

/** The folders that each open unit holds. The record of the entries may be written only once in a commit. */
const heldIn = new WeakMap<UnitOfWork, Set<string>>();

export function createFolders({ storage }: { readonly storage: Pick<Storage, "records"> }): Folders {
  const find: Folders["find"] = async (workspaceId, folderId) => {
    const folder = await findInCollection(storage, folderRecord, workspaceId, folderId);
    return folder?.value.deletedByJobId === undefined ? folder : undefined;
  };

  const hold: Folders["hold"] = async (unit, { value: { folderId }, revision }) => {
    const held = heldIn.get(unit) ?? new Set();
    heldIn.set(unit, held);
    if (held.has(folderId)) return;
    held.add(folderId);
    const stored = await storage.records.get(folderEntriesRecord, folderId);
    const value = { folderId, entries: (stored?.value.entries ?? 0) + 1 };
    unit.require({ kind: "revision", type: folderRecord, key: folderId, revision });
    unit.record({ op: "put", type: folderEntriesRecord, value, replacing: stored ?? null });
  };

  return {
    find,
    exists: async (workspaceId, id) => (await find(workspaceId, id)) !== undefined,
    contentProject: async (workspaceId, id) => (await find(workspaceId, id))?.value.contentProject,
    hold,
    async requireOpen(unit, workspaceId, folderId) {
      const folder = await find(workspaceId, folderId);
      if (folder === undefined || folder.value.archivedAtMs !== undefined) throw refuseFolder("folderId");
      await hold(unit, folder);
    },
    async keep(unit, workspaceId, folderId) {
      const folder = await find(workspaceId, folderId);
      if (folder !== undefined) await hold(unit, folder);
      return folder !== undefined;
    },
  };
}

/** Error for a request that puts something into a folder which does not accept it. */
export function refuseFolder(field: "folderId" | "parentFolderId"): AppError {
  return refuseField(field, "must be the id of a folder of the workspace that is not archived", "not_found");
}
