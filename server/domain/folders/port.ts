/**
 * Port of the folders domain: the functions that it needs of the domains whose records are in folders.
 *
 * Each function adds its changes to the unit of a piece of a job and commits nothing itself. The folder cannot receive
 * further contents meanwhile: it is being deleted or, for topics, archived.
 */
import type { UnitOfWork } from "../../platform/actors/port.ts";
import type { IndexKey } from "../../platform/storage/port.ts";

export interface FolderPlace {
  readonly workspaceId: string;
  readonly folderId: string;
}

/** One kind of contents of folders. */
export interface FolderContents {
  /** Name of the contents in the result of a deletion. */
  readonly name: "articles" | "topics";
  count(folder: FolderPlace): Promise<number>;
  /**
   * Removes at most `most` items from a folder that is being deleted. Returns the number of items that it found; fewer
   * than `most` means that the folder has no more. `by` is a username.
   */
  remove(unit: UnitOfWork, folder: FolderPlace, most: number, by: string): Promise<number>;
}

/** The topics of content projects. */
export interface FolderTopics extends FolderContents {
  /** Number of topics that an archiving or a restore has to read. */
  countTo(action: "archive" | "restore", folder: FolderPlace): Promise<number>;
  /**
   * Archives at most `most` topics of the folder and cancels their runs. Returns the number of topics that it found;
   * fewer than `most` means that no active topic is left.
   */
  archive(
    unit: UnitOfWork,
    folder: FolderPlace,
    most: number,
    event: { readonly by: string; readonly note?: string | undefined },
  ): Promise<number>;
  /**
   * Reads at most `most` archived topics after the key `after`, and restores those that were archived with the folder.
   * `after` of the result is the key for the next call; undefined at the end of the list.
   */
  restore(
    unit: UnitOfWork,
    folder: FolderPlace,
    most: number,
    event: { readonly by: string; readonly after?: IndexKey | undefined },
  ): Promise<{ readonly read: number; readonly restored: number; readonly after?: IndexKey }>;
}
