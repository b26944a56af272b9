/**
 * FolderArchive does the jobs that archive and restore the topics of a folder.
 *
 * The request has already archived or restored the folder. A job ends early if a later request did the opposite: that
 * request has a job of its own, and otherwise the two jobs would undo each other's work. Each piece holds
 * the revision of the folder, so no piece is committed after such a request.
 */
import type { Limits } from "../../../api/limits.ts";
import type { UnitOfWork } from "../../platform/actors/port.ts";
import type { IndexKey, Storage } from "../../platform/storage/port.ts";
import type { JobWork } from "../jobs/port.ts";
import { toItemsAtOnce } from "./folderDeletion.ts";
import type { FolderTopics } from "./port.ts";
import { type FolderRecord, folderRecord } from "./records.ts";

export interface ArchiveState extends Readonly<Record<string, unknown>> {
  readonly folderId: string;
  /** `archivedAtMs` of the folder for which the job archives. */
  readonly archivedAtMs: number;
  readonly note?: string;
  /** Number of topics that the job has archived. */
  readonly topics: number;
}

export interface RestoreState extends Readonly<Record<string, unknown>> {
  readonly folderId: string;
  /** Key of the last topic that the job has read. */
  readonly after?: IndexKey;
  /** Number of topics that the job has restored. */
  readonly topics: number;
}

export interface FolderArchive {
  readonly archive: JobWork<ArchiveState>;
  readonly restore: JobWork<RestoreState>;
}

export interface FolderArchiveOptions {
  readonly storage: Pick<Storage, "records">;
  readonly topics: FolderTopics;
  readonly limits: Pick<Limits, "job.records">;
}

export function createFolderArchive({ storage, topics, limits }: FolderArchiveOptions): FolderArchive {
  const itemsAtOnce = toItemsAtOnce(limits);

  /** Returns true, and holds the folder, if the work of the job is still wanted. */
  async function isWanted(unit: UnitOfWork, folderId: string, test: (folder: FolderRecord) => boolean): Promise<boolean> {
    const folder = await storage.records.get(folderRecord, folderId);
    if (folder === undefined || folder.value.deletedByJobId !== undefined || !test(folder.value)) return false;
    unit.require({ kind: "revision", type: folderRecord, key: folderId, revision: folder.revision });
    return true;
  }

  return {
    archive: {
      kind: "folder.archive",
      async step(unit, { workspaceId, by, state }) {
        const { folderId, archivedAtMs, note } = state;
        const isArchived = (folder: FolderRecord) => folder.archivedAtMs === archivedAtMs;
        if (!(await isWanted(unit, folderId, isArchived))) return { kind: "end", result: { topics: state.topics }, done: 0 };
        const done = await topics.archive(unit, { workspaceId, folderId }, itemsAtOnce, { by, note });
        const total = state.topics + done;
        if (done < itemsAtOnce) return { kind: "end", result: { topics: total }, done };
        return { kind: "next", state: { ...state, topics: total }, done };
      },
    },

    restore: {
      kind: "folder.restore",
      async step(unit, { workspaceId, by, state }) {
        const { folderId, after } = state;
        const isActive = (folder: FolderRecord) => folder.archivedAtMs === undefined;
        if (!(await isWanted(unit, folderId, isActive))) return { kind: "end", result: { topics: state.topics }, done: 0 };
        const piece = await topics.restore(unit, { workspaceId, folderId }, itemsAtOnce, { by, after });
        const total = state.topics + piece.restored;
        if (piece.after === undefined) return { kind: "end", result: { topics: total }, done: piece.read };
        return { kind: "next", state: { ...state, after: piece.after, topics: total }, done: piece.read };
      },
    },
  };
}
