/** Tests the job over all its paths, each restored from its record. */
import { expect, test } from "vitest";
import { createJobMachine, type JobContext, type JobEvent } from "../../machines/job.ts";
import { jobRecord } from "../../server/domain/jobs/records.ts";
import type { ActorKind } from "../../server/platform/actors/port.ts";
import { walkMachine } from "../support/walkMachine.ts";

const nowMs = 1_800_000_000_000;
const keepMs = 1000;
const kind: ActorKind<JobContext, JobEvent> = {
  name: "job",
  machine: createJobMachine({ keepMs }),
  machineVersion: 1,
  record: { ...jobRecord, partitionOf: () => 0 },
  effects: ["work"],
  commands: [],
};
const input = { nowMs, kind: "test.count", workspaceId: "ws_1", by: "ana", of: 3, state: { at: 0 } };
const isOver = ({ state }: { readonly state: unknown }) => state === "succeeded" || state === "failed";

test("[JB1] every path of a job leads to one end; each piece requests the next, and an ended job expires", () => {
  const walk = walkMachine<JobContext, JobEvent>({
    kind,
    inputs: [input],
    events: ({ done }) => [
      ...(done < 4 ? [{ type: "piece.done", state: { at: done + 2 }, done: 2, found: 1, nowMs } as const] : []),
      { type: "work.finished", result: { counted: done }, done: 1, nowMs },
      { type: "work.failed", error: { code: "step_failed", message: "No." }, nowMs },
    ],
    facts: ({ done }) => done,
    check({ before, event, after }) {
      expect(isOver(before)).toBe(false);
      expect(isOver(after)).toBe(event.type !== "piece.done");
      const { finishedAtMs, expiresAtMs, done, of } = after.context;
      expect([finishedAtMs, expiresAtMs]).toEqual(isOver(after) ? [nowMs, nowMs + keepMs] : [undefined, undefined]);
      expect(done).toBeLessThanOrEqual(of);
      // The effect of the piece is still pending in this walk, which settles none.
      expect(after.pending.length - before.pending.length).toBe(isOver(after) ? 0 : 1);
    },
  });
  expect(walk.unreachedStates).toEqual([]);
  expect(walk.untakenTransitions).toEqual([]);
});
