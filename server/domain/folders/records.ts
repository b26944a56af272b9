/**
 * Defines the stored records of folders: the folder, the size of a workspace's tree, and the entries into a folder.
 *
 * A folder may be a content project. Then it sets which approvals the runs of its topics require, and the length and
 * style of their texts. This module reads and writes nothing.
 */
import type { ContentProject } from "../../../api/schema/folder.ts";
import { type CollectionRecord, collectionList, defineCollectionRecord } from "../../platform/storage/collectionRecord.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { IndexKey } from "../../platform/storage/port.ts";
import { defineRecord } from "../../platform/storage/recordType.ts";

export type { ContentProject } from "../../../api/schema/folder.ts";

export interface FolderRecord extends CollectionRecord {
  readonly folderId: string;
  readonly parentFolderId: string | null;
  readonly name: string;
  readonly slug: string;
  readonly contentProject?: ContentProject;
  /** From the workspace's project counter. Given to a folder when it first becomes a content project. */
  readonly projectNumber?: number;
  readonly archivedAtMs?: number;
  /** The job that deletes the folder. The folder then exists for this job only: everywhere else it counts as missing. */
  readonly deletedByJobId?: string;
}

const nameRule = "folder.name";
/** Id of the top level in keys. No folder has this id. */
const topLevel = "";

/** Lists of folders that are not being deleted, except `all` and `deleting`. They are ordered by (createdAt, folderId). */
export const folderLists = {
  /** Includes folders that are being deleted. */
  all: (workspaceId: string): IndexKey => collectionList({ name: "folder" }, workspaceId),
  /** Folders directly in a folder; with null, those at the top level. */
  children: (workspaceId: string, parentFolderId: string | null): IndexKey => ["folder.children", workspaceId, parentFolderId ?? topLevel],
  /** The folder with this slug. */
  withSlug: (workspaceId: string, slug: string): IndexKey => ["folder.slug", workspaceId, slug],
  /** Folders that the job still has to delete. */
  deleting: (jobId: string): IndexKey => ["folder.deleting", jobId],
};

/** Names that are equal under this key count as the same name. */
function toNameKey(name: string): string {
  return name.normalize("NFC").toLowerCase();
}

export const folderRecord = defineCollectionRecord<FolderRecord>({
  name: "folder",
  version: 1,
  id: { field: "folderId", prefix: "fld" },
  indexes: ({ workspaceId, parentFolderId, slug, createdAtMs, folderId, deletedByJobId }) => {
    const place = [createdAtMs, folderId] as const;
    if (deletedByJobId !== undefined) return [[...folderLists.deleting(deletedByJobId), ...place]];
    return [
      [...folderLists.children(workspaceId, parentFolderId), ...place],
      [...folderLists.withSlug(workspaceId, slug), ...place],
    ];
  },
  // A folder that is being deleted leaves its name to a new folder.
  unique: ({ workspaceId, parentFolderId, name, deletedByJobId }) =>
    deletedByJobId === undefined ? [[nameRule, workspaceId, parentFolderId ?? topLevel, toNameKey(name)]] : [],
});

/** Messages of the refusal `name_taken`, by unique rule. */
export const takenNames = { [nameRule]: "The parent folder contains a folder with this name; case does not count." } as const;

/**
 * The tree of folders of a workspace. Every change of its shape writes this record. So two such changes never follow
 * from the same state of the tree, and neither concurrent moves nor concurrent creations can break its rules.
 */
export interface FolderTreeRecord {
  readonly workspaceId: string;
  /** Number of folders, including those that are being deleted. */
  readonly folders: number;
}

export const folderTreeRecord = defineRecord<FolderTreeRecord>({
  name: "folderTree",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: ({ workspaceId }) => workspaceId,
});

/**
 * The entries into a folder. Every commit that puts an article or topic into the folder writes this record, so that the
 * deletion of an empty folder conflicts with it. It is not part of the folder's own record, because that would change
 * the entity tag of the folder with each new article. It is created with the first entry.
 */
export interface FolderEntriesRecord {
  readonly folderId: string;
  readonly entries: number;
}

export const folderEntriesRecord = defineRecord<FolderEntriesRecord>({
  name: "folderEntries",
  version: 1,
  partitionOf: partitionOfId,
  keyOf: ({ folderId }) => folderId,
});

export const folderRecordTypes = [folderRecord, folderTreeRecord, folderEntriesRecord] as const;
