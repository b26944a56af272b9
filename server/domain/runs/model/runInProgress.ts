/**
 * Converts a violation of the one-active-run rule into the API error `run_in_progress`.
 *
 * The store allows one active run for each topic, and for each article without a topic.
 */
import { AppError } from "../../../../api/schema/error.ts";
import { type ActorRuntime, CommitConflict } from "../../../platform/actors/port.ts";
import type { Storage } from "../../../platform/storage/port.ts";
import { activeRunRule, type RunKind, runRecord } from "./records.ts";

/**
 * Runs `commit`. If another run is already active, throws 409 `run_in_progress` with the active run's id, state and
 * possible operations.
 */
export type RefuseSecondRun = <Value>(commit: () => Promise<Value>) => Promise<Value>;

export interface RefuseSecondRunOptions {
  readonly storage: Pick<Storage, "records">;
  readonly actors: Pick<ActorRuntime, "allowed">;
  readonly kind: RunKind;
}

export function createRefuseSecondRun({ storage, actors, kind }: RefuseSecondRunOptions): RefuseSecondRun {
  return async (commit) => {
    try {
      return await commit();
    } catch (reason) {
      if (!(reason instanceof CommitConflict) || reason.conflict.kind !== "unique" || reason.conflict.rule[0] !== activeRunRule)
        throw reason;
      const activeRunId = reason.conflict.key;
      const detail = `The run ${activeRunId} has not ended yet. Wait for its end, decide its approval, or cancel it.`;
      const run = await storage.records.get(runRecord, activeRunId);
      if (run === undefined) throw new AppError("run_in_progress", detail, { activeRunId });
      const { state, operations } = actors.allowed(kind, run.value);
      throw new AppError("run_in_progress", detail, { activeRunId, currentState: state, allowed: [...operations] });
    }
  };
}
