/**
 * Defines the run as an actor kind: its machine, record, timeline entries and execution limits, and provides its effects.
 *
 * Both effects share the same concurrency limits, so a queued run stays queued until a step can be executed. After each
 * commit, the change is announced on the bus. The announcement wakes streams, and it stops an execution that the run no
 * longer needs.
 */
import type { OperationKey } from "../../../../api/contract/contract.ts";
import { agentRunMachine, type RunContext, type RunEvent, runCommands, type TimelineFact } from "../../../../machines/agentRun.ts";
import type { CommandWords, ProvidedKind, RunEffect } from "../../../platform/actors/port.ts";
import { provide } from "../../../platform/actors/provide.ts";
import type { Storage } from "../../../platform/storage/port.ts";
import { type RunKind, type RunRecord, runRecord } from "../model/records.ts";
import { announceRun } from "./roundWatch.ts";
import { encodeTimelineEntry, runLog, type TimelineEntry, timelineLog } from "./timelineEntry.ts";
import { armTrims } from "./timelineRows.ts";

export interface RunKindOptions {
  /** Time after which a run's log is trimmed (limit `keep.events`), in milliseconds. */
  readonly keepEventsMs: number;
}

/**
 * Maximum number of steps that this process executes at the same time. The limit is high because a step mostly waits
 * for its model.
 */
const maxInFlight = 128;
/** Maximum number of concurrent steps of one workspace. It is 1 while the lane of another workspace is half full. */
export const stepsOfWorkspace = 32;
/**
 * Delays before the retries of a step that threw an error. After the last retry the run fails; a user may retry the
 * run.
 */
const backoffMs: readonly number[] = [1000, 5000, 30_000];

const words: Readonly<Record<(typeof runCommands)[number], CommandWords<OperationKey>>> = {
  "approval.resolve": { asked: "decide an approval of the run", operations: ["runs.resolveApproval"] },
  "run.cancel": { asked: "cancel the run", operations: ["runs.cancel"] },
  "run.retry": { asked: "retry the run", operations: ["runs.retry"] },
};

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

export function defineRunKind({ keepEventsMs }: RunKindOptions): RunKind {
  return {
    name: "run",
    machine: agentRunMachine,
    machineVersion: 1,
    record: runRecord,
    commands: runCommands,
    words,
    effects: ["begin", "execute"],
    facts: {
      timeline(unit, { next, params, nowMs }) {
        const entries = toEntries(next, params as unknown as readonly TimelineFact[], nowMs);
        const { workspaceId } = next.context;
        unit.log({ op: "append", log: runLog(next.id), twin: timelineLog(workspaceId), entries });
        for (const write of armTrims(next.id, workspaceId, nowMs, keepEventsMs)) unit.due(write);
      },
    },
    backoffMs,
    maxInFlight,
    lane: ({ workspaceId }) => ({ name: workspaceId, max: stepsOfWorkspace, maxInCrowd: 1 }),
  };
}

export interface RunEffectsOptions {
  readonly storage: Pick<Storage, "bus">;
  readonly execute: RunEffect<RunContext, RunEvent>;
}

export function provideRunEffects(kind: RunKind, { storage, execute }: RunEffectsOptions): ProvidedKind {
  // The runtime executes an effect only when a slot is free, so the run may start.
  const begin: RunEffect<RunContext, RunEvent> = async () => ({ kind: "event", event: { type: "run.started" } });
  return provide(kind, { begin, execute }, { committed: (next) => announceRun(storage.bus, next) });
}
