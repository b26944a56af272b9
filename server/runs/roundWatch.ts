/**
 * Calls an execution off that is not wanted any more: its run was cancelled, or asked for the step anew. Woken by the
 * bus, it looks at the record; what it misses, the fence and the round in the result keep out all the same.
 */
import type { Storage } from "../storage/port.ts";
import { type RunRecord, runRecord, statusOf } from "./records.ts";

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

/** Aborts when the run is no longer in that round; returns the function that ends the watch. */
export function watchRound(storage: Pick<Storage, "bus" | "records">, runId: string, round: number, abort: () => void): () => void {
  async function look(): Promise<void> {
    const run = (await storage.records.get(runRecord, runId))?.value;
    if (run === undefined || statusOf(run) !== "running" || run.context.round !== round) abort();
  }
  // A store that does not answer now says nothing about the run.
  const wake = () => void look().catch(() => {});
  const stop = storage.bus.subscribe(runTopic(runId), wake);
  // What happened since the step was told to begin was announced to nobody here.
  wake();
  return stop;
}
