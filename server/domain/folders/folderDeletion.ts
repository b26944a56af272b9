/**
 * FolderDeletion deletes folders: an empty one at once, and one with its contents by a job.
 *
 * The commit of the request marks the folder and the folders below it, so nothing can enter them any more. Therefore a
 * piece of the job that finds a folder empty may delete its record. A tree that is too large for one commit is marked
 * further by the job, always a folder before its subfolders.
 */
import type { Limits } from "../../../api/limits.ts";
import { AppError, notFound } from "../../../api/schema/error.ts";
import type { UnitOfWork } from "../../platform/actors/port.ts";
import type { Storage, Stored } from "../../platform/storage/port.ts";
import type { JobWork, Piece, RunningJob } from "../jobs/port.ts";
import type { FolderContents, FolderPlace } from "./port.ts";
import { type FolderRecord, folderEntriesRecord, folderLists, folderRecord } from "./records.ts";
import type { FolderTree } from "./tree.ts";

/**
 * Most records that one item of a job changes. For an article: itself, its public link and its active run with its
 * topic. For a topic: itself, its audit event and its active run.
 */
const recordsPerItem = 4;

/** Number of items of one piece of a job. */
export function toItemsAtOnce(limits: Pick<Limits, "job.records">): number {
  return Math.max(1, Math.floor(limits["job.records"] / recordsPerItem));
}

/** Numbers of deleted items, which become the result of the job. */
export interface DeletionState extends Readonly<Record<string, unknown>> {
  readonly folders: number;
  readonly articles: number;
  readonly topics: number;
}

export const noDeletions: DeletionState = { folders: 0, articles: 0, topics: 0 };

export interface FolderDeletion {
  readonly work: JobWork<DeletionState>;
  /** Throws `folder_not_empty` if the folder contains articles, topics or folders. Adds the removal of its entries record. */
  requireEmpty(unit: UnitOfWork, folder: FolderRecord): Promise<void>;
  /** Marks the folder and folders below it for the job. Returns the number of items that the job has to delete. */
  mark(unit: UnitOfWork, folder: Stored<FolderRecord>, jobId: string): Promise<number>;
}

export interface FolderDeletionOptions {
  readonly storage: Pick<Storage, "records" | "index">;
  readonly tree: FolderTree;
  readonly contents: readonly FolderContents[];
  readonly limits: Pick<Limits, "job.records">;
}

export function createFolderDeletion({ storage, tree, contents, limits }: FolderDeletionOptions): FolderDeletion {
  const itemsAtOnce = toItemsAtOnce(limits);

  async function countItems(folder: FolderPlace): Promise<number> {
    const counts = await Promise.all(contents.map((content) => content.count(folder)));
    return counts.reduce((sum, count) => sum + count, 1);
  }

  /** Marks the folders directly in the folder. Returns them; fewer than `most` means that there are no more. */
  async function markChildren(
    unit: UnitOfWork,
    { workspaceId, folderId }: FolderPlace,
    jobId: string,
    most: number,
  ): Promise<readonly FolderRecord[]> {
    const ids = most > 0 ? await tree.children(workspaceId, folderId, most) : [];
    if (ids.length === 0) return [];
    const children = (await storage.records.getMany(folderRecord, ids)).filter((child) => child !== undefined);
    for (const child of children) markOne(unit, child, jobId);
    return children.map(({ value }) => value);
  }

  function markOne(unit: UnitOfWork, folder: Stored<FolderRecord>, jobId: string): void {
    unit.record({ op: "put", type: folderRecord, value: { ...folder.value, deletedByJobId: jobId }, replacing: folder });
  }

  async function removeEntries(unit: UnitOfWork, folderId: string): Promise<void> {
    const entries = await storage.records.get(folderEntriesRecord, folderId);
    if (entries !== undefined) unit.record({ op: "delete", type: folderEntriesRecord, replacing: entries });
    else unit.require({ kind: "revision", type: folderEntriesRecord, key: folderId, revision: "absent" });
  }

  async function step(unit: UnitOfWork, { jobId, workspaceId, by, state }: RunningJob<DeletionState>): Promise<Piece<DeletionState>> {
    const prefix = folderLists.deleting(jobId);
    const rows = await storage.index.scan({ partition: unit.partition, prefix, limit: itemsAtOnce });
    if (rows.length === 0) return { kind: "end", result: state, done: 0 };
    const marked = await storage.records.getMany(
      folderRecord,
      rows.map(({ target }) => target),
    );
    let room = itemsAtOnce;
    let found = 0;
    const deleted = { folders: 0, articles: 0, topics: 0 };
    for (const folder of marked) {
      if (folder === undefined || room === 0) continue;
      const place = { workspaceId, folderId: folder.value.folderId };
      const children = await markChildren(unit, place, jobId, room);
      for (const child of children) found += await countItems(child);
      room -= children.length;
      for (const content of contents) {
        const removed = room === 0 ? 0 : await content.remove(unit, place, room, by);
        deleted[content.name] += removed;
        room -= removed;
      }
      // Without room it is unknown whether the folder has more contents; the next piece finds out.
      if (room === 0) continue;
      unit.record({ op: "delete", type: folderRecord, replacing: folder });
      await removeEntries(unit, place.folderId);
      deleted.folders += 1;
      room -= 1;
    }
    if (deleted.folders > 0) await tree.change(unit, workspaceId, deleted.folders);
    return {
      kind: "next",
      state: {
        folders: state.folders + deleted.folders,
        articles: state.articles + deleted.articles,
        topics: state.topics + deleted.topics,
      },
      done: deleted.folders + deleted.articles + deleted.topics,
      found,
    };
  }

  return {
    work: { kind: "folder.delete", step },

    async requireEmpty(unit, folder) {
      // Read before the contents: an entry after this read makes the commit conflict, an earlier one is counted.
      await removeEntries(unit, folder.folderId);
      const children = await tree.children(folder.workspaceId, folder.folderId, 1);
      if (children.length === 0 && (await countItems(folder)) === 1) return;
      throw new AppError(
        "folder_not_empty",
        "The folder contains articles, topics or other folders. Move them, or delete the folder with ?recursive=true.",
      );
    },

    async mark(unit, folder, jobId) {
      if (folder.value.deletedByJobId !== undefined) throw notFound();
      markOne(unit, folder, jobId);
      let items = await countItems(folder.value);
      // Besides the folders, the commit writes the tree record, the job and the kept answer.
      let room = limits["job.records"] - 4;
      for (let level: readonly FolderRecord[] = [folder.value]; level.length > 0 && room > 0; ) {
        const next: FolderRecord[] = [];
        for (const parent of level) {
          const children = await markChildren(unit, parent, jobId, room);
          for (const child of children) items += await countItems(child);
          room -= children.length;
          next.push(...children);
        }
        level = next;
      }
      return items;
    },
  };
}
