/**
 * Port of jobs: how other domains define and start long work.
 *
 * A domain gives the work of each of its kinds to the job service, and starts a job in the unit of the request that
 * needs it. The job then does the work in pieces, each in one commit with its own progress.
 */
import type { JobState } from "../../../machines/job.ts";
import type { UnitOfWork } from "../../platform/actors/port.ts";

export type { JobState } from "../../../machines/job.ts";

export interface RunningJob<State> {
  readonly jobId: string;
  readonly workspaceId: string;
  /** Username of the account that started the job. */
  readonly by: string;
  /** As the last piece left it. */
  readonly state: State;
  /** Counts from 1 for each piece, including attempts that died with their process. */
  readonly attempt: number;
}

export type Piece<State> =
  /** More is left to do. `done` counts the items of this piece, `found` further items that nothing has counted before. */
  | { readonly kind: "next"; readonly state: State; readonly done: number; readonly found?: number }
  /** Everything is done, with this piece. */
  | { readonly kind: "end"; readonly result: JobState; readonly done: number }
  /** The work cannot succeed. The piece must have added nothing to the unit. */
  | { readonly kind: "failed"; readonly error: { readonly code: string; readonly message: string } };

export interface JobWork<State extends JobState = JobState> {
  /** Kind of the jobs, such as `folder.delete`. It is part of stored jobs and must not change. */
  readonly kind: string;
  /**
   * Adds the changes of the next piece to the unit and returns the remaining work. The changes and the progress become one
   * commit. After a conflict the piece is decided again in a new unit, so it must read everything again. A piece changes
   * at most `job.records` records. An error is retried without an end, with waits of up to ten minutes.
   */
  step(unit: UnitOfWork, job: RunningJob<State>): Promise<Piece<State>>;
}

export interface JobOrder<State extends JobState> {
  /** New id in the partition of the unit. */
  readonly jobId: string;
  readonly workspaceId: string;
  /** Username. */
  readonly by: string;
  /** Number of items that the work is expected to have; shown as progress. */
  readonly of: number;
  readonly state: State;
}

/** Starts a job in the unit. All records that the job changes must be in the partition of the unit. */
export type StartJob = <State extends JobState>(unit: UnitOfWork, work: Pick<JobWork<State>, "kind">, order: JobOrder<State>) => void;
