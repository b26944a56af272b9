/**
 * Job is the state machine of long work that is done in pieces: queued, running, then succeeded or failed.
 *
 * Each piece is one run of the effect `work`. Its event is committed together with the changes of the piece and
 * requests the next piece, so no piece is done twice and none is left out. A job fails only if its own work reports
 * that it cannot succeed. An error of the server is no such report: the effect is then retried without an end.
 */
import { assign, setup } from "xstate";
import { effect } from "./effect.ts";

/** Data of the work as JSON: its order, and how far it has come. Only the kind of the job knows the fields. */
export type JobState = Readonly<Record<string, unknown>>;

export interface JobInput {
  readonly nowMs: number;
  /** Kind of work, such as `folder.delete`. */
  readonly kind: string;
  readonly workspaceId: string;
  /** Username of the account that started the job. */
  readonly by: string;
  /** Number of items that the work is expected to have. */
  readonly of: number;
  readonly state: JobState;
}

export interface JobContext extends Omit<JobInput, "nowMs"> {
  readonly createdAtMs: number;
  /** Number of items that are done. */
  readonly done: number;
  readonly finishedAtMs?: number;
  /** Time after which the record may be deleted. Set when the job ends. */
  readonly expiresAtMs?: number;
  readonly error?: { readonly code: string; readonly message: string };
  readonly result?: JobState;
}

export type JobEvent =
  /** `done` counts the items of this piece, `found` the further items that it found. */
  | {
      readonly type: "piece.done";
      readonly state: JobState;
      readonly done: number;
      readonly found: number;
      readonly nowMs: number;
    }
  | { readonly type: "work.finished"; readonly result: JobState; readonly done: number; readonly nowMs: number }
  | {
      readonly type: "work.failed";
      readonly error: { readonly code: string; readonly message: string };
      readonly nowMs: number;
    };

export interface JobRules {
  /** Time for which the record of an ended job is kept, in milliseconds. */
  readonly keepMs: number;
}

export function createJobMachine({ keepMs }: JobRules) {
  return setup({
    types: { context: {} as JobContext, events: {} as JobEvent, input: {} as JobInput },
    actions: {
      /** Does the next piece. */
      work: effect<null>(),
      notePiece: assign(({ context, event }) => {
        if (event.type !== "piece.done") return {};
        const done = context.done + event.done;
        return { state: event.state, done, of: Math.max(context.of + event.found, done) };
      }),
      noteResult: assign(({ context, event }) => {
        if (event.type !== "work.finished") return {};
        const done = context.done + event.done;
        return { result: event.result, done, of: done };
      }),
      noteError: assign(({ event }) => (event.type === "work.failed" ? { error: event.error } : {})),
      noteEnd: assign(({ event }) => ({ finishedAtMs: event.nowMs, expiresAtMs: event.nowMs + keepMs })),
    },
  }).createMachine({
    id: "job",
    context: ({ input: { nowMs, ...input } }) => ({ ...input, createdAtMs: nowMs, done: 0 }),
    initial: "queued",
    states: {
      queued: {
        description: "The first piece is due.",
        entry: { type: "work", params: null },
        on: {
          "piece.done": { target: "running", actions: "notePiece" },
          "work.finished": { target: "succeeded", actions: "noteResult" },
          "work.failed": { target: "failed", actions: "noteError" },
        },
      },
      running: {
        description: "At least one piece is done, and the next one is due.",
        entry: { type: "work", params: null },
        on: {
          "piece.done": { target: "running", reenter: true, actions: "notePiece" },
          "work.finished": { target: "succeeded", actions: "noteResult" },
          "work.failed": { target: "failed", actions: "noteError" },
        },
      },
      succeeded: { type: "final", entry: "noteEnd" },
      failed: { type: "final", entry: "noteEnd" },
    },
  });
}
