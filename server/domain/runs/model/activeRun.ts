/** Finds the active run of a topic. A unique rule of the store allows one at most. */
import type { UnitOfWork } from "../../../platform/actors/port.ts";
import { partitionOfId } from "../../../platform/storage/ids.ts";
import type { Storage, Stored } from "../../../platform/storage/port.ts";
import { isActive, type RunKind, type RunRecord, runLists, runRecord } from "./records.ts";

/** The active run of the topic, as the unit leaves it if one is given; undefined if no run of the topic is active. */
export type FindActiveRun = (topicId: string, unit?: UnitOfWork) => Promise<Stored<RunRecord> | undefined>;

export interface FindActiveRunOptions {
  readonly storage: Pick<Storage, "records" | "index">;
  readonly kind: RunKind;
}

export function createFindActiveRun({ storage, kind }: FindActiveRunOptions): FindActiveRun {
  return async (topicId, unit) => {
    const [row] = await storage.index.scan({ partition: partitionOfId(topicId), prefix: runLists.activeOfTopic(topicId), limit: 1 });
    if (row === undefined) return undefined;
    const run = await (unit === undefined ? storage.records.get(runRecord, row.target) : unit.read(kind, row.target));
    // The run may have ended after the index was read.
    return run !== undefined && isActive(run.value) ? run : undefined;
  };
}
