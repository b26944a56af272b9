/**
 * The run as an actor: its machine, its record, who performs its effects, and where its timeline goes.
 *
 * Both effects share the room there is for runs, so a queued run waits until a step could be run. Whatever happens to a
 * run is announced once it stands: the streams wait for it, and the execution that it may call off.
 */
import { agentRunMachine, type RunContext, type RunEvent, runCommands, type TimelineFact } from "../../machines/agentRun.ts";
import type { RunEffect } from "../actors/port.ts";
import type { Storage } from "../storage/port.ts";
import { type RunRecord, runRecord } from "./records.ts";
import { announceRun } from "./roundWatch.ts";
import type { RunKind } from "./startRun.ts";
import { encodeTimelineEntry, runLog, type TimelineEntry, timelineLog } from "./timelineEntry.ts";
import { armTrims } from "./timelineRows.ts";

export interface RunKindOptions {
  readonly storage: Pick<Storage, "bus">;
  readonly execute: RunEffect<RunContext, RunEvent>;
  /** `keep.events`. */
  readonly keepEventsMs: number;
}

/** Steps that run at once in this process. A step mostly waits for its model: what waits in line behind it waits for nothing. */
const maxInFlight = 128;
/** The same of one workspace; while the process is crowded, one. */
export const stepsOfWorkspace = 32;
/** A step that threw is tried again so often, then the run fails and may be retried. */
const backoffMs: readonly number[] = [1000, 5000, 30_000];

function toEntries({ id, context }: RunRecord, facts: readonly TimelineFact[], nowMs: number): readonly Uint8Array[] {
  const { workspaceId, workflowId, workflowVersion, topicId, articleId } = context;
  return facts.map(({ event, data, actor }) =>
    encodeTimelineEntry({
      event,
      createdAt: new Date(nowMs).toISOString(),
      workspaceId,
      runId: id,
      workflowId,
      workflowVersion,
      ...(topicId === undefined ? {} : { topicId }),
      ...(articleId === undefined ? {} : { articleId }),
      actor,
      data,
    } as TimelineEntry),
  );
}

export function createRunKind({ storage, execute, keepEventsMs }: RunKindOptions): RunKind {
  return {
    name: "run",
    machine: agentRunMachine,
    machineVersion: 1,
    record: runRecord,
    commands: runCommands,
    effects: {
      // Being run at all means that there is room.
      begin: async () => ({ kind: "event", event: { type: "run.started" } }),
      execute,
    },
    facts: {
      timeline: ({ next, params, nowMs }) => {
        const entries = toEntries(next, params as unknown as readonly TimelineFact[], nowMs);
        const { workspaceId } = next.context;
        return {
          logs: [{ op: "append", log: runLog(next.id), twin: timelineLog(workspaceId), entries }],
          due: armTrims(next.id, workspaceId, nowMs, keepEventsMs),
        };
      },
    },
    committed: (next) => announceRun(storage.bus, next),
    backoffMs,
    maxInFlight,
    lane: ({ workspaceId }) => ({ name: workspaceId, max: stepsOfWorkspace, maxInCrowd: 1 }),
  };
}
