/**
 * FolderTree keeps the rules of the tree of folders: no folder is inside itself, the depth and the number of folders
 * are limited, and a folder is put only into one that accepts it.
 *
 * Every change of the tree's shape reads the tree record first and writes it in its commit. If another change was
 * committed in between, on this or another node, the commit meets a conflict and the rules are checked again.
 */
import type { Limits } from "../../../api/limits.ts";
import { AppError } from "../../../api/schema/error.ts";
import type { UnitOfWork } from "../../platform/actors/port.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import type { IndexKey, Storage } from "../../platform/storage/port.ts";
import { toSlug } from "../call/slug.ts";
import { type FolderRecord, folderLists, folderRecord, folderTreeRecord } from "./records.ts";
import { type Folders, refuseFolder } from "./service.ts";

type TreeLimits = Pick<Limits, "folder.perWorkspace" | "folder.depth">;

export interface FolderTree {
  /** For the commit of a new folder. Throws `limit_reached`, and `validation_failed` for a parent that cannot be used. */
  add(unit: UnitOfWork, workspaceId: string, parentFolderId: string | null, limits: TreeLimits): Promise<void>;
  /** For the commit that moves the folder with everything below it. Throws `cycle` and the errors of `add`. */
  move(unit: UnitOfWork, folder: FolderRecord, parentFolderId: string | null, limits: TreeLimits): Promise<void>;
  /**
   * For every other commit that changes the tree's shape. `removed` is the number of folders whose records it deletes.
   */
  change(unit: UnitOfWork, workspaceId: string, removed: number): Promise<void>;
  /** Ids of at most `most` folders directly in the folder. Folders that are being deleted are not included. */
  children(workspaceId: string, folderId: string, most: number): Promise<readonly string[]>;
  /** A slug that no folder of the workspace has. Use it in a commit of `add`. */
  freeSlug(workspaceId: string, name: string, folderId: string): Promise<string>;
}

const chunk = 200;

export function createFolderTree(options: { readonly storage: Pick<Storage, "records" | "index">; readonly folders: Folders }): FolderTree {
  const { storage, folders } = options;

  /** Writes the tree record. Call it before the tree is read. Returns the number of folders before the change. */
  async function writeTree(unit: UnitOfWork, workspaceId: string, added: number): Promise<number> {
    const stored = await storage.records.get(folderTreeRecord, workspaceId);
    const count = stored?.value.folders ?? 0;
    const value = { workspaceId, folders: Math.max(0, count + added) };
    unit.record({ op: "put", type: folderTreeRecord, value, replacing: stored ?? null });
    return count;
  }

  /** Returns the level of a folder in this parent, 1 at the top. `moved` is the folder that moves there, if it exists. */
  async function levelIn(
    unit: UnitOfWork,
    workspaceId: string,
    parentFolderId: string | null,
    most: number,
    moved?: string,
  ): Promise<number> {
    let level = 1;
    for (let id = parentFolderId; id !== null; level += 1) {
      if (id === moved) throw new AppError("cycle", "A folder cannot be moved into itself or into a folder below it.");
      const folder = await folders.find(workspaceId, id);
      if (folder === undefined) throw refuseFolder("parentFolderId");
      if (id === parentFolderId) {
        if (folder.value.archivedAtMs !== undefined) throw refuseFolder("parentFolderId");
        unit.require({ kind: "revision", type: folderRecord, key: id, revision: folder.revision });
      }
      if (level > most) break;
      id = folder.value.parentFolderId;
    }
    return level;
  }

  function requireDepth(depth: number, most: number): void {
    if (depth <= most) return;
    throw new AppError("limit_reached", `The folders would be more than ${most} levels deep.`);
  }

  async function scanChildren(workspaceId: string, folderId: string, limit: number, after?: IndexKey) {
    const prefix = folderLists.children(workspaceId, folderId);
    const scan = { partition: partitionOfId(workspaceId), prefix, limit };
    return storage.index.scan(after === undefined ? scan : { ...scan, after });
  }

  async function allChildren(workspaceId: string, folderId: string): Promise<readonly string[]> {
    const ids: string[] = [];
    for (let after: IndexKey | undefined; ; ) {
      const rows = await scanChildren(workspaceId, folderId, chunk, after);
      ids.push(...rows.map(({ target }) => target));
      after = rows.at(-1)?.key;
      if (rows.length < chunk) return ids;
    }
  }

  /** Returns the number of levels of the folder with everything below it, at most `most` + 1. */
  async function heightOf({ workspaceId, folderId }: FolderRecord, most: number): Promise<number> {
    let height = 0;
    for (let level: readonly string[] = [folderId]; level.length > 0 && height <= most; height += 1) {
      level = (await Promise.all(level.map((id) => allChildren(workspaceId, id)))).flat();
    }
    return height;
  }

  return {
    async add(unit, workspaceId, parentFolderId, limits) {
      const most = limits["folder.perWorkspace"];
      const count = await writeTree(unit, workspaceId, 1);
      if (count >= most) {
        throw new AppError("limit_reached", `The workspace has ${count} folders; at most ${most} are allowed. Delete one first.`);
      }
      requireDepth(await levelIn(unit, workspaceId, parentFolderId, limits["folder.depth"]), limits["folder.depth"]);
    },

    async move(unit, folder, parentFolderId, limits) {
      const most = limits["folder.depth"];
      const { workspaceId, folderId } = folder;
      await writeTree(unit, workspaceId, 0);
      const level = await levelIn(unit, workspaceId, parentFolderId, most, folderId);
      requireDepth(level, most);
      requireDepth(level - 1 + (await heightOf(folder, most)), most);
    },

    async change(unit, workspaceId, removed) {
      await writeTree(unit, workspaceId, -removed);
    },

    async children(workspaceId, folderId, most) {
      return (await scanChildren(workspaceId, folderId, most)).map(({ target }) => target);
    },

    async freeSlug(workspaceId, name, folderId) {
      // The end of the id makes the name of the second folder unique without a search for a free number.
      const ending = folderId.slice(-6).toLowerCase();
      const slug = toSlug(name, `folder-${ending}`);
      const rows = await storage.index.scan({
        partition: partitionOfId(workspaceId),
        prefix: folderLists.withSlug(workspaceId, slug),
        limit: 1,
      });
      return rows.length === 0 ? slug : `${slug}-${ending}`;
    },
  };
}
