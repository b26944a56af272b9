/**
 * Reads folders for other domains, and lets them put articles and topics into folders. An id may come unchecked from a
 * request. A folder that is being deleted counts as missing.
 */
import { AppError } from "../../../api/schema/error.ts";
import type { UnitOfWork } from "../../platform/actors/port.ts";
import { findInCollection } from "../../platform/storage/collectionRecord.ts";
import type { RecordWrite, Requirement, Storage, Stored } from "../../platform/storage/port.ts";
import { type ContentProject, type FolderEntriesRecord, type FolderRecord, folderEntriesRecord, folderRecord } from "./records.ts";

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
  /** The condition and the write of `hold`, for a commit that is not a unit. */
  toHold(folder: Stored<FolderRecord>): Promise<{ readonly require: Requirement; readonly record: RecordWrite<FolderEntriesRecord> }>;
}

/** The folders that each open unit holds. The record of the entries may be written only once in a commit. */
const heldIn = new WeakMap<UnitOfWork, Set<string>>();

export function createFolders({ storage }: { readonly storage: Pick<Storage, "records"> }): Folders {
  const find: Folders["find"] = async (workspaceId, folderId) => {
    const folder = await findInCollection(storage, folderRecord, workspaceId, folderId);
    return folder?.value.deletedByJobId === undefined ? folder : undefined;
  };

  const toHold: Folders["toHold"] = async ({ value: { folderId }, revision }) => {
    const stored = await storage.records.get(folderEntriesRecord, folderId);
    const value = { folderId, entries: (stored?.value.entries ?? 0) + 1 };
    return {
      require: { kind: "revision", type: folderRecord, key: folderId, revision },
      record: { op: "put", type: folderEntriesRecord, value, replacing: stored ?? null },
    };
  };

  const hold: Folders["hold"] = async (unit, folder) => {
    const held = heldIn.get(unit) ?? new Set();
    heldIn.set(unit, held);
    const { folderId } = folder.value;
    if (held.has(folderId)) return;
    held.add(folderId);
    const { require, record } = await toHold(folder);
    unit.require(require);
    unit.record(record);
  };

  return {
    find,
    exists: async (workspaceId, id) => (await find(workspaceId, id)) !== undefined,
    contentProject: async (workspaceId, id) => (await find(workspaceId, id))?.value.contentProject,
    hold,
    toHold,
    async requireOpen(unit, workspaceId, folderId) {
      const folder = await find(workspaceId, folderId);
      if (folder === undefined || folder.value.archivedAtMs !== undefined) throw refuseFolder("folderId");
      await hold(unit, folder);
    },
  };
}

/** Error for a request that puts something into a folder which does not accept it. */
export function refuseFolder(field: "folderId" | "parentFolderId"): AppError {
  const message = "must be the id of a folder of the workspace that is not archived";
  const errors = [{ pointer: `/${field}`, code: "not_found", message }];
  return new AppError("validation_failed", `The value of ${field} ${message}.`, { errors });
}
