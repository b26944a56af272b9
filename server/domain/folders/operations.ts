/**
 * Builds the operations on folders and the work of their jobs.
 *
 * It is separate from `service.ts`, which other domains use: articles and topics are in folders, so the operations need
 * these domains, and the domains need only the reader.
 */
import type { Logger } from "pino";
import type { Limits } from "../../../api/limits.ts";
import type { ActorRuntime } from "../../platform/actors/port.ts";
import type { Storage } from "../../platform/storage/port.ts";
import type { Pager } from "../call/paging.ts";
import type { JobWork, StartJob } from "../jobs/port.ts";
import { createFolderArchive } from "./folderArchive.ts";
import { createFolderDeletion } from "./folderDeletion.ts";
import { createFolderRequests, type FolderRequests } from "./folders.ts";
import type { FolderContents, FolderTopics } from "./port.ts";
import { createFolders } from "./service.ts";
import { createFolderTree } from "./tree.ts";

export interface FolderOperationsOptions {
  readonly storage: Pick<Storage, "records" | "index" | "now">;
  readonly actors: Pick<ActorRuntime, "openUnit" | "commitUnit">;
  readonly pager: Pager;
  readonly log: Logger;
  readonly limits: Limits;
  readonly articles: FolderContents;
  readonly topics: FolderTopics;
  readonly startJob: StartJob;
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
