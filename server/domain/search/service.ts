/**
 * Builds the search of one node: its index, the follower that keeps it up to date, and the operation.
 *
 * The sources come from the domains whose records are found. A domain that adds one also adds its record type to the list
 * in `server/compose.ts`, so that its changes are recorded.
 */
import type { Logger } from "pino";
import type { Limits } from "../../../api/limits.ts";
import type { Clock } from "../../../realtime/ports.ts";
import type { Manifest } from "../../platform/composition/manifest.ts";
import type { Storage } from "../../platform/storage/port.ts";
import { createFollower, type IndexProgress } from "./follower.ts";
import type { RecordedChanges, SearchSource } from "./port.ts";
import { createSearch, type Search } from "./search.ts";
import { createSearchIndex } from "./searchIndex.ts";

export interface SearchServiceOptions {
  /** A store of `recordSearchChanges`. */
  readonly storage: Pick<Storage, "records" | "log" | "bus" | "isShared">;
  readonly clock: Pick<Clock, "after">;
  readonly limits: Limits;
  readonly log: Logger;
  readonly sources: readonly SearchSource[];
  /** The changes that `recordSearchChanges` records. */
  readonly recorded: RecordedChanges;
  /** The setting `SEARCH_DIR`. */
  readonly directory: string;
}

export interface SearchService {
  readonly search: Search;
  /** For `/readyz` and `/metrics`. */
  readonly progress: () => IndexProgress;
  /** Opens the index and brings it up to date in the background. */
  start(): void;
  readonly manifest: Manifest;
}

export function createSearchService(options: SearchServiceOptions): SearchService {
  const { storage, clock, limits, log, sources, recorded, directory } = options;
  for (const { name, record, dependency } of sources) {
    const isRecorded = recorded.records.includes(record) && (dependency === undefined || recorded.dependencies.includes(dependency.on));
    if (!isRecorded) throw new Error(`the changes of ${name} are not recorded, so the search would not follow them`);
  }
  const index = createSearchIndex({ parentDirectory: directory, maxSearchMs: limits["search.workMs"] });
  const follower = createFollower({ storage, clock, index, sources, log, polls: storage.isShared });
  return {
    search: createSearch({ index, follower, sources, limits }),
    progress: follower.progress,
    start: follower.start,
    manifest: {
      name: "search",
      async close() {
        await follower.stop();
        await index.close();
      },
    },
  };
}
