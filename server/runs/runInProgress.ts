/** At most one run of a topic is active, and one of an article without a topic: the store's rule as the API's refusal. */
import { AppError } from "../../api/schema/error.ts";
import { CommitConflict } from "../actors/port.ts";
import { activeRunRule } from "./records.ts";

/** Runs `commit`; a run that is active already shows as 409 `run_in_progress`. */
export async function refuseSecondRun<Value>(commit: () => Promise<Value>): Promise<Value> {
  try {
    return await commit();
  } catch (reason) {
    if (!(reason instanceof CommitConflict) || reason.conflict.kind !== "unique" || reason.conflict.rule[0] !== activeRunRule) throw reason;
    throw runInProgress(reason.conflict.key);
  }
}

export function runInProgress(activeRunId: string): AppError {
  const detail = `The run ${activeRunId} is not over yet. Wait for its end, decide what it waits for, or cancel it.`;
  return new AppError("run_in_progress", detail, { activeRunId });
}
