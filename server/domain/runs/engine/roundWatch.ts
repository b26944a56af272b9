/**
 * Aborts an execution that its run no longer wants: the run was cancelled or began the step again.
 *
 * A bus message wakes the watch, which then reads the record. If a message is lost, the write fence and the round in
 * the result still reject the outdated execution.
 */
import type { Storage } from "../../../platform/storage/port.ts";
import { type RunRecord, runRecord, statusOf } from "../model/records.ts";

/** Bus topic on which every change of a run is announced. */
export function runTopic(runId: string): string {
  return `run/${runId}`;
}

/** Bus topic on which every change of any run of a workspace is announced. */
export function timelineTopic(workspaceId: string): string {
  return `timeline/${workspaceId}`;
}

const nothing = new Uint8Array();

export function announceRun(bus: Storage["bus"], run: Pick<RunRecord, "id" | "context">): void {
  bus.publish(runTopic(run.id), nothing);
  bus.publish(timelineTopic(run.context.workspaceId), nothing);
}

/** Calls `abort` when the run is no longer running in this round. Returns the function that ends the watch. */
export function watchRound(storage: Pick<Storage, "bus" | "records">, runId: string, round: number, abort: () => void): () => void {
  async function look(): Promise<void> {
    const run = (await storage.records.get(runRecord, runId))?.value;
    if (run === undefined || statusOf(run) !== "running" || run.context.round !== round) abort();
  }
  // A failed read says nothing about the run, so ignore the error.
  const wake = () => void look().catch(() => {});
  const stop = storage.bus.subscribe(runTopic(runId), wake);
  // Check once now: changes between the start of the step and the subscription were not received.
  wake();
  return stop;
}
