/** At most one run of a topic is active, and one of an article without a topic: the store's rule as the API's refusal. */
import { AppError } from "../../api/schema/error.ts";
import { type ActorRuntime, CommitConflict } from "../actors/port.ts";
import type { Storage } from "../storage/port.ts";
import { activeRunRule, runRecord } from "./records.ts";
import type { RunKind } from "./startRun.ts";

/** Runs `commit`; a run that is active already shows as 409 `run_in_progress`, with its state and what it takes now. */
export type RefuseSecondRun = <Value>(commit: () => Promise<Value>) => Promise<Value>;

export interface RefuseSecondRunOptions {
  readonly storage: Pick<Storage, "records">;
  readonly actors: Pick<ActorRuntime, "allowed">;
  readonly kind: () => RunKind;
}

export function createRefuseSecondRun({ storage, actors, kind }: RefuseSecondRunOptions): RefuseSecondRun {
  return async (commit) => {
    try {
      return await commit();
    } catch (reason) {
      if (!(reason instanceof CommitConflict) || reason.conflict.kind !== "unique" || reason.conflict.rule[0] !== activeRunRule)
        throw reason;
      const activeRunId = reason.conflict.key;
      const detail = `The run ${activeRunId} is not over yet. Wait for its end, decide what it waits for, or cancel it.`;
      const run = await storage.records.get(runRecord, activeRunId);
      if (run === undefined) throw new AppError("run_in_progress", detail, { activeRunId });
      const { state, allowed } = actors.allowed(kind(), run.value);
      throw new AppError("run_in_progress", detail, { activeRunId, currentState: state, allowed: [...allowed] });
    }
  };
}
