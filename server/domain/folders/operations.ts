/**
 * Builds the operations on folders and the work of their jobs.
 *
 * It is separate from `service.ts`, which other domains use: articles and topics are in folders, so the operations need
 * these domains, and the domains need only the reader.
 */
import type { JobWork } from "../jobs/port.ts";
import { createFolderArchive } from "./folderArchive.ts";
import { createFolderDeletion } from "./folderDeletion.ts";
import { createFolderRequests, type FolderRequests, type FolderRequestsOptions } from "./folders.ts";
import type { FolderContents } from "./port.ts";
import { createFolders } from "./service.ts";
import { createFolderTree } from "./tree.ts";

export interface FolderOperationsOptions extends Omit<FolderRequestsOptions, "tree" | "deletion" | "archiving"> {
  readonly articles: FolderContents;
}

export interface FolderOperations {
  /** Used by the handlers. */
  readonly folders: FolderRequests;
  /** For the job service. */
  readonly works: readonly JobWork[];
}

export function createFolderOperations(options: FolderOperationsOptions): FolderOperations {
  const { storage, limits, articles, topics } = options;
  const tree = createFolderTree({ storage, folders: createFolders({ storage }) });
  const deletion = createFolderDeletion({ storage, tree, contents: [articles, topics], limits });
  const archiving = createFolderArchive({ storage, topics, limits });
  return {
    folders: createFolderRequests({ ...options, tree, deletion, archiving }),
    works: [deletion.work, archiving.archive, archiving.restore],
  };
}
