/** Creates runs without topic and article: the engine, its machine and a store, with scripted steps. */
import pino from "pino";
import { defaultLimits, type Limits } from "../../api/limits.ts";
import type { ApprovalType } from "../../api/schema/workflow.ts";
import type { RunInput } from "../../machines/agentRun.ts";
import { createArtifacts } from "../../server/domain/runs/engine/artifacts.ts";
import { createExecute } from "../../server/domain/runs/engine/execute.ts";
import { createRunKind } from "../../server/domain/runs/engine/runKind.ts";
import { createStepEnd } from "../../server/domain/runs/engine/stepEnd.ts";
import { createStepInput } from "../../server/domain/runs/engine/stepInput.ts";
import { decodeTimelineEntry, runLog, type TimelineEntry } from "../../server/domain/runs/engine/timelineEntry.ts";
import type { Executors, StepResult } from "../../server/domain/runs/executors/port.ts";
import type { RunKind } from "../../server/domain/runs/model/records.ts";
import { type RunRecord, runRecord } from "../../server/domain/runs/model/records.ts";
import { createDuePump } from "../../server/platform/actors/due.ts";
import { createActorRuntime } from "../../server/platform/actors/runtime.ts";
import { createIds, partitionOfId } from "../../server/platform/storage/ids.ts";
import type { Storage } from "../../server/platform/storage/port.ts";
import type { ManualTime } from "../support/manualTime.ts";

export const engineLeaseMs = 5000;
export const noUsage = { inputTokens: 0, outputTokens: 0, usd: 0, toolCalls: 0 };
export const workspaceId = "ws_01KAHX0000050123456789ABCD";

/** Returns the result of a step with this text as its only artifact. */
export function finished(text: string, usage = noUsage): StepResult {
  return { kind: "completed", artifacts: [{ kind: "research", contentType: "text/markdown", text }], usage };
}

export interface EngineOptions {
  readonly limits?: Partial<Limits>;
}

export function createEngineNode(storage: Storage, time: ManualTime, executors: Executors, options: EngineOptions = {}) {
  const limits = { ...defaultLimits, ...options.limits };
  const log = pino({ level: "silent" });
  const pump = createDuePump({ storage, log, leaseMs: engineLeaseMs, after: time.after });
  const actors = createActorRuntime({ storage, pump, log, leaseMs: engineLeaseMs, after: time.after });
  const artifacts = createArtifacts({ storage, limits });
  // No run of these tests has a topic or an article, so neither is ever read.
  const nobody = {} as never;
  const ids = createIds(storage);
  const kind: RunKind = createRunKind({
    storage,
    keepEventsMs: limits["keep.events"],
    execute: createExecute({
      storage,
      actors,
      kind: () => kind,
      rooms: nobody,
      writing: nobody,
      documents: nobody,
      executors,
      readInput: createStepInput({ storage, topics: nobody, artifacts }),
      artifacts,
      stepEnd: createStepEnd({ storage, topics: nobody, articles: nobody, startRun: nobody, ids }),
      ids,
      limits,
      log,
      after: time.after,
    }),
  });
  actors.register([kind]);
  pump.start();
  return { actors, pump, kind, artifacts, ids };
}

export type EngineNode = ReturnType<typeof createEngineNode>;

export interface ScriptedStep {
  readonly name: string;
  readonly type: RunInput["steps"][number]["type"];
  readonly approval?: ApprovalType;
}

export function toInput(steps: readonly ScriptedStep[], approvalIds: readonly string[] = [], rest: Partial<RunInput> = {}): RunInput {
  const left = [...approvalIds];
  return {
    workspaceId,
    workflowId: "scripted",
    workflowVersion: "1",
    approvalMode: "none",
    optionalApprovalMs: 900_000,
    startedBy: "ada",
    startedByAccountId: "usr_0000000000000000000000000A",
    steps: steps.map(({ approval = "none", ...step }) => {
      const approvalId = approval === "none" ? undefined : left.shift();
      return { ...step, tools: [], config: {}, approval, ...(approvalId === undefined ? {} : { approvalId }) };
    }),
    ...rest,
  } as RunInput;
}

export async function readRun(storage: Storage, runId: string): Promise<RunRecord> {
  const run = await storage.records.get(runRecord, runId);
  if (run === undefined) throw new Error("no such run");
  return run.value;
}

/** Bytes of an entry before its content: the position in the twin log. */
const prefixBytes = 8;

export async function readTimeline(storage: Storage, runId: string): Promise<readonly TimelineEntry[]> {
  const read = await storage.log.read({ partition: partitionOfId(runId), log: runLog(runId), after: 0, limit: 10_000 });
  if (read.gap) throw new Error("the timeline was trimmed");
  return read.entries.map(({ bytes }) => decodeTimelineEntry(bytes.subarray(prefixBytes)));
}
