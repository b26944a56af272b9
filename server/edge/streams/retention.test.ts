/** Tests the removal of old timeline events, by age and by number, on a memory store with a manual clock. */
import { beforeEach, describe, expect, test } from "vitest";
import { encodeTimelineEntry, runLog, timelineLog } from "../../domain/runs/engine/timelineEntry.ts";
import { trimEveryMs, trimRow, trimRows } from "../../domain/runs/engine/timelineRows.ts";
import { partitionOfId } from "../../platform/storage/ids.ts";
import { createMemoryStorage } from "../../platform/storage/memoryStorage.ts";
import type { Storage } from "../../platform/storage/port.ts";
import { createTimelineRetention } from "./retention.ts";

const workspaceId = "ws_01KAHX0000050123456789ABCD";
const runId = "run_01KAHX0000050123456789ABCE";
const partition = partitionOfId(workspaceId);
const logs = { run: runLog(runId), workspace: timelineLog(workspaceId) };
const dayMs = 24 * 60 * 60 * 1000;
const keepMs = 30 * dayMs;
const keepPerLog = 1200;

let nowMs: number;
let storage: Storage;
beforeEach(() => {
  nowMs = 1_800_000_000_000;
  storage = createMemoryStorage({ now: () => nowMs });
});

async function tell(count: number): Promise<void> {
  const entry = encodeTimelineEntry({
    event: "agent.run_cancelled",
    createdAt: new Date(nowMs).toISOString(),
    workspaceId,
    runId,
    workflowId: "outline",
    workflowVersion: "1",
    actor: "ana",
    data: { by: "ana" },
  });
  const entries = Array.from({ length: count }, () => entry);
  await storage.commit({ partition, logs: [{ op: "append", log: logs.run, twin: logs.workspace, entries }] });
}

/** Returns the positions that are kept. */
async function kept(log: string): Promise<readonly [first: number, last: number] | "none"> {
  const read = await storage.log.read({ partition, log, after: 0, limit: 1 });
  const first = read.gap ? read.firstKept : read.entries[0]?.position;
  return first === undefined || first > read.tail ? "none" : [first, read.tail];
}

/** Trims the log and returns the time of the worker's next run. */
async function trim(log: string): Promise<number> {
  const worker = createTimelineRetention({ storage, limits: { "keep.events": keepMs, "keep.eventsPerLog": keepPerLog } })[trimRows.name];
  const row = { ...trimRow(log, nowMs), partition, fence: 1, leaseMs: 5000 };
  const outcome = await worker?.(row as never, {} as never);
  if (outcome?.kind !== "retry" || outcome.atMs === undefined) throw new Error("the row must stay");
  return outcome.atMs - nowMs;
}

describe("timeline retention", () => {
  test("[SE8] events over keep.events are deleted in pages, and the next pass waits for the oldest kept", async () => {
    await tell(600);
    nowMs += 10 * dayMs;
    await tell(3);
    expect(await trim(logs.run)).toBe(20 * dayMs);
    expect(await kept(logs.run)).toEqual([1, 603]);
    nowMs += 20 * dayMs;
    expect(await trim(logs.run)).toBe(10 * dayMs);
    expect(await kept(logs.run)).toEqual([601, 603]);
    // The other log has its own due row and its own state.
    expect(await kept(logs.workspace)).toEqual([1, 603]);
    expect(await trim(logs.workspace)).toBe(trimEveryMs);
    expect(await kept(logs.workspace)).toEqual([601, 603]);
  });

  test("[SE8] a log that becomes empty continues its positions", async () => {
    await tell(5);
    nowMs += keepMs;
    await trim(logs.run);
    expect(await kept(logs.run)).toBe("none");
    await tell(1);
    expect(await kept(logs.run)).toEqual([6, 6]);
    expect(await trim(logs.run)).toBe(keepMs);
    expect(await kept(logs.run)).toEqual([6, 6]);
  });

  test("[SE25] beyond keep.eventsPerLog the oldest events are deleted, however young", async () => {
    await tell(1000);
    await tell(501);
    await trim(logs.workspace);
    expect(await kept(logs.workspace)).toEqual([302, 1501]);
    // There is nothing more to remove.
    await trim(logs.workspace);
    expect(await kept(logs.workspace)).toEqual([302, 1501]);
    await tell(1);
    await trim(logs.workspace);
    expect(await kept(logs.workspace)).toEqual([303, 1502]);
  });

  test("[SE25] a workspace log whose entries were all trimmed is checked as often as any other", async () => {
    await tell(5);
    nowMs += keepMs;
    expect(await trim(logs.workspace)).toBe(trimEveryMs);
    expect(await kept(logs.workspace)).toBe("none");
  });
});
