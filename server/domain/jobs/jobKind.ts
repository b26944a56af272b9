/**
 * Defines jobs as an actor kind, and provides the effect `work` that does their pieces.
 *
 * The piece is gathered in the unit that settles the effect. So its changes, the progress of the job and the next
 * effect are one commit under the fence of this effect: a process that lost the effect commits nothing.
 */
import type { Limits } from "../../../api/limits.ts";
import { createJobMachine, type JobContext, type JobEvent } from "../../../machines/job.ts";
import type { ActorKind, ProvidedKind, Timeless } from "../../platform/actors/port.ts";
import { provide } from "../../platform/actors/provide.ts";
import type { JobState, JobWork, Piece, StartJob } from "./port.ts";
import { jobRecord } from "./records.ts";

/** Most pieces that run at once in this process, so that jobs leave room for requests and other effects. */
const maxInFlight = 4;

export type JobKind = ActorKind<JobContext, JobEvent, "work">;

export function defineJobKind(limits: Pick<Limits, "keep.jobs">): JobKind {
  return {
    name: "job",
    machine: createJobMachine({ keepMs: limits["keep.jobs"] }),
    machineVersion: 1,
    record: jobRecord,
    effects: ["work"],
    commands: [],
    maxInFlight,
    // One workspace with many jobs does not delay the jobs of others.
    lane: ({ workspaceId }) => ({ name: `job ${workspaceId}`, max: 1 }),
  };
}

export function createStartJob(kind: JobKind): StartJob {
  return (unit, work, { jobId, ...order }) => void unit.create(kind, jobId, { kind: work.kind, ...order });
}

function toEvent(piece: Piece<JobState>): Timeless<JobEvent> {
  switch (piece.kind) {
    case "next":
      return { type: "piece.done", state: piece.state, done: piece.done, found: piece.found ?? 0 };
    case "end":
      return { type: "work.finished", result: piece.result, done: piece.done };
    case "failed":
      return { type: "work.failed", error: piece.error };
  }
}

/** `works` has the work of each kind of job. A job of another kind, as of a newer server, is retried later. */
export function provideJobEffects(kind: JobKind, works: readonly JobWork[]): ProvidedKind {
  const byKind = new Map(works.map((work) => [work.kind, work]));
  return provide(kind, {
    work: async ({ actorId, attempt }) => ({
      kind: "decide",
      async decide(unit, { value: { context } }) {
        const work = byKind.get(context.kind);
        if (work === undefined) throw new Error(`this server cannot do jobs of kind ${context.kind}`);
        const { workspaceId, by, state } = context;
        return { event: toEvent(await work.step(unit, { jobId: actorId, workspaceId, by, state, attempt })) };
      },
    }),
  });
}
